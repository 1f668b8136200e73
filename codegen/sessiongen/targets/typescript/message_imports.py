"""The modules that export the messages of each .proto, and their names in generated code.

A module is imported as a namespace: `pb.Ping`. One module can have the messages of all files, which
then need different names; otherwise each file has a module, or an export of a module, of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sessiongen.diagnostics import Diagnostic, Rule, Span
from sessiongen.targets.typescript import naming
from sessiongen.targets.typescript.options import FILE, TypeScriptOptions


@dataclass(frozen=True)
class MessageImport:
    """A module of messages, or an export of one, as generated code imports it.

    name: the name under which it is imported.
    module: the module's own name.
    namespace: the export that holds the messages; None if they are exports themselves.
    """

    name: str
    module: str
    namespace: str | None

    def statement(self, type_word: str) -> str:
        """Returns the import statement. type_word: `type ` if only types are used."""
        module = naming.quoted(self.module)
        if self.namespace is None:
            return f"import {type_word}* as {self.name} from {module};"
        return f"import {type_word}{{ {self.namespace} as {self.name} }} from {module};"


def message_imports(options: TypeScriptOptions, files: Iterable[str]) -> dict[str, MessageImport]:
    """Returns the import of each .proto's messages."""
    return {file: _module(options, file) for file in files}


def _module(options: TypeScriptOptions, file: str) -> MessageImport:
    stem = file.removesuffix(".proto")
    namespace = options.namespaces.get(file, options.namespace)
    if FILE in options.module:
        name = _name(stem)
    elif file in options.namespaces:
        name = _name(options.namespaces[file])
    else:
        name = "pb"
    return MessageImport(name, options.module.replace(FILE, stem), namespace)


def _name(text: str) -> str:
    """Returns the name of an import: `left/shared` gives `leftSharedPb`."""
    words = [word for word in re.split(r"[\W_]+", text, flags=re.ASCII) if word]
    name = "".join([*words[:1], *map(naming.capital, words[1:]), "Pb"])
    return f"_{name}" if name[0].isdigit() else name[:1].lower() + name[1:]


def name_clashes(imports: dict[str, MessageImport]) -> Iterator[Diagnostic]:
    """Yields a fault for each file whose module has the name of another one."""
    first: dict[str, str] = {}
    for file, item in imports.items():
        other = first.setdefault(item.name, file)
        if imports[other] != item:
            fault = f"the messages of {other} and {file} are both imported as {item.name}"
            yield Diagnostic(Span(file), Rule.NAME_CLASH, fault, "rename one of the two files")
