"""Writes the imports of rendered TypeScript modules.

A module imports what its body uses of the layers that it needs and of the protobuf library; the
names that can be imported are the exports of the bodies.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from sessiongen.targets.typescript.bindings import Binding, Exports
from sessiongen.targets.typescript.layout import imports
from sessiongen.targets.typescript.message_imports import MessageImport
from sessiongen.targets.typescript.options import LAYERS

_EXPORT = re.compile(r"^export (?:async )?(function|class|const|type|interface) (\w+)", re.M)
_NO_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"", re.S)
_NAME = re.compile(r"(?<![\w.$#])[A-Za-z_$][\w$]*")
# A declaration, which uses no other module: a property, or a method of a class or interface.
_DECLARED = re.compile(r"^  [\w$]+(?=\()|(?:^ +|[{(,] |\breadonly )[A-Za-z_$][\w$]*(?=\??:)", re.M)


def with_imports(
    bodies: Mapping[str, str],
    messages: Iterable[MessageImport],
    binding: Binding,
    extra: Mapping[str, str],
) -> dict[str, str]:
    """Returns the texts of modules with the import statements that each needs.

    messages: the imports of messages. extra: modules that are imported as a namespace, by its
    name.
    """
    namespaces = {item.name: item for item in messages}
    namespaces |= {name: MessageImport(name, module, None) for name, module in extra.items()}
    exported = {
        name: (layer, kind in ("type", "interface"))
        for layer, body in bodies.items()
        for kind, name in _EXPORT.findall(body)
    }
    return {
        layer: "\n".join(filter(None, [_imports(layer, body, exported, namespaces, binding), body]))
        for layer, body in bodies.items()
    }


def _imports(
    layer: str,
    body: str,
    exported: Mapping[str, tuple[str, bool]],
    namespaces: Mapping[str, MessageImport],
    binding: Binding,
) -> str:
    code = _code(body)
    used = set(_NAME.findall(code))
    by_module: dict[str, list[str]] = {}
    for name, (module, is_type) in exported.items():
        if module in LAYERS[layer].needs and name in used:
            by_module.setdefault(f"./{module}.js", []).append(f"type {name}" if is_type else name)
    statements = [(module, imports(module, names)) for module, names in by_module.items()]
    for library, exports in binding.library.items():
        names = _library_imports(code, used, exports)
        if names:
            statements.append((library, imports(library, names)))
    for name, item in namespaces.items():
        if name in used:
            statements.append((item.module, item.statement(_type_word(code, name))))
    text = "\n".join(statement for _, statement in sorted(statements, key=_order))
    return f"{text}\n" if text else ""


def used_names(body: str) -> set[str]:
    """Returns the names in a module's code, other than those of properties and methods."""
    return set(_NAME.findall(_code(body)))


def _code(body: str) -> str:
    """Returns a module without comments, the texts of strings, and names of properties."""
    return _DECLARED.sub("", _NO_CODE.sub("''", body))


def _library_imports(code: str, used: set[str], exports: Exports) -> list[str]:
    names = [f"type {name}" for name in exports.types if name in used]
    for name in exports.values:
        if name in used:
            as_value = re.search(
                rf"(new|instanceof) {name}\b|(?<![\w.]){name}[.(]|\({name}, ", code
            )
            names.append(name if as_value else f"type {name}")
    return names


def _type_word(code: str, name: str) -> str:
    """Returns `type ` if a namespace is used in types alone."""
    as_value = re.search(rf"\b{name}\.[\w$]+\.|(?<!typeof ){name}\.\w+\(", code)
    as_value = as_value or re.search(
        rf", {name}\.\w+\)|\b(new |instanceof |create\(){name}\.", code
    )
    return "" if as_value else "type "


def _order(statement: tuple[str, str]) -> tuple[bool, str, str]:
    """Returns the key that sorts packages before relative modules, and those of one by text."""
    module, text = statement
    return (module.startswith("."), module, text)
