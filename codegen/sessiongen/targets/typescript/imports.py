"""Writes the imports of rendered TypeScript modules.

A module imports what its body uses of the layers that it needs and of the protobuf library; the
names that can be imported are the exports of the bodies.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from sessiongen.targets.typescript.bindings import Binding, Exports
from sessiongen.targets.typescript.layout import imports
from sessiongen.targets.typescript.options import LAYERS, TypeScriptOptions

_EXPORT = re.compile(r"^export (?:async )?(function|class|const|type|interface) (\w+)", re.M)
_NO_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"", re.S)
_NAME = re.compile(r"(?<![\w.$#])[A-Za-z_$][\w$]*")
# A declaration, which uses no other module: a property, or a method of a class or interface.
_DECLARED = re.compile(r"^  [\w$]+(?=\()|(?:^ +|[{(,] |\breadonly )[A-Za-z_$][\w$]*(?=\??:)", re.M)


def with_imports(
    bodies: Mapping[str, str],
    options: TypeScriptOptions,
    binding: Binding,
    extra: Mapping[str, str],
) -> dict[str, str]:
    """Returns the texts of modules with the import statements that each needs.

    extra: modules that are imported as a namespace, by its name.
    """
    exported = {
        name: (layer, kind in ("type", "interface"))
        for layer, body in bodies.items()
        for kind, name in _EXPORT.findall(body)
    }
    return {
        layer: "\n".join(
            filter(None, [_imports(layer, body, exported, options, binding, extra), body])
        )
        for layer, body in bodies.items()
    }


def _imports(
    layer: str,
    body: str,
    exported: Mapping[str, tuple[str, bool]],
    options: TypeScriptOptions,
    binding: Binding,
    extra: Mapping[str, str],
) -> str:
    code = _DECLARED.sub("", _NO_CODE.sub("''", body))
    used = set(_NAME.findall(code))
    by_module: dict[str, list[str]] = {}
    for name, (module, is_type) in exported.items():
        if module in LAYERS[layer].needs and name in used:
            by_module.setdefault(f"./{module}.js", []).append(f"type {name}" if is_type else name)
    statements = {module: imports(module, names) for module, names in by_module.items()}
    for library, exports in binding.library.items():
        names = _library_imports(code, used, exports)
        if names:
            statements[library] = imports(library, names)
    if "pb" in used:
        statements[options.module] = _messages_import(code, options)
    for name in used & set(extra):
        statements[extra[name]] = (
            f"import {_type_word(code, name)}* as {name} from '{extra[name]}';"
        )
    text = "\n".join(statements[module] for module in _sorted(statements))
    return f"{text}\n" if text else ""


def _library_imports(code: str, used: set[str], exports: Exports) -> list[str]:
    names = [f"type {name}" for name in exports.types if name in used]
    for name in exports.values:
        if name in used:
            as_value = re.search(
                rf"(new|instanceof) {name}\b|(?<![\w.]){name}[.(]|\({name}, ", code
            )
            names.append(name if as_value else f"type {name}")
    return names


def _messages_import(code: str, options: TypeScriptOptions) -> str:
    type_ = _type_word(code, "pb")
    if options.namespace is None:
        return f"import {type_}* as pb from '{options.module}';"
    return f"import {type_}{{ {options.namespace} as pb }} from '{options.module}';"


def _type_word(code: str, name: str) -> str:
    """Returns `type ` if a namespace is used in types alone."""
    as_value = re.search(rf"new {name}\.|{name}\.[\w$]+\.|(?<!typeof ){name}\.\w+\(", code)
    as_value = as_value or re.search(rf", {name}\.\w+\)|\bcreate\({name}\.", code)
    return "" if as_value else "type "


def _sorted(modules: Iterable[str]) -> list[str]:
    """Returns packages before the output's own modules."""
    return sorted(modules, key=lambda module: (module.startswith("."), module))
