"""Parses the files of a TypeScript package and resolves names to definitions.

Imports and re-exports are followed within the package. Source files are read if the package
ships them, the declaration files of its build otherwise.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tree_sitter import Node

from sessiongen.diagnostics import Diagnostic, Rule, Severity, Span
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import Place
from sessiongen.vocabulary.package import SOURCE_SUFFIXES, Package
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.syntax import text

_DECLARATIONS = {
    "abstract_class_declaration",
    "class_declaration",
    "enum_declaration",
    "function_declaration",
    "function_signature",
    "interface_declaration",
    "type_alias_declaration",
}
_MAX_STEPS = 20
_EVERYTHING = "*"


@dataclass(frozen=True)
class Imported:
    """A name bound by an import. name: `*` where the module itself is bound.

    types: imported with `import type`.
    """

    module: str
    name: str
    types: bool


@dataclass
class File:
    """A parsed file.

    exports: the names that are defined and exported. reexports: names exported from other
    modules. stars: modules of which everything is exported.
    """

    path: str
    root: Node
    lines: list[bytes]
    definitions: dict[str, list[Node]] = field(default_factory=dict)
    exports: set[str] = field(default_factory=set)
    imports: dict[str, Imported] = field(default_factory=dict)
    reexports: dict[str, Imported] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)

    def place(self, node: Node) -> Place:
        """Return the line on which a node begins."""
        return Place(self.path, syntax.line(node))


@dataclass(frozen=True)
class Definition:
    """The definition of a name; a type and a constant may share it."""

    file: File
    name: str
    nodes: tuple[Node, ...]

    @property
    def path(self) -> str:
        """The path of its file in the package."""
        return self.file.path

    @property
    def key(self) -> tuple[str, str]:
        """The identity of the definition."""
        return self.file.path, self.name

    @property
    def node(self) -> Node:
        """The first of its statements."""
        return self.nodes[0]

    def of(self, *types: str) -> Node | None:
        """Return its statement of one of these types."""
        return next((node for node in self.nodes if node.type in types), None)


class Modules:
    """Parses each file of a package once, when it is first requested."""

    def __init__(self, package: Package, faults: Faults) -> None:
        self.package = package
        self.faults = faults
        sources = [path for path in package.files if path.startswith("src/") and _is_source(path)]
        declarations = [
            path for path in package.files if path.startswith("dist/") and path.endswith(".d.ts")
        ]
        self.paths = sorted(sources or declarations)
        self._known = set(self.paths)
        self._cache: dict[str, File | None] = {}
        self._parser = syntax.parser()

    def definition_span(self, definition: Definition) -> Span:
        """Return the position of a definition."""
        return self.span(definition.file, definition.node)

    def span(self, file: File, node: Node) -> Span:
        """Return the position of a node for diagnostics."""
        row, column = node.start_point
        before = file.lines[row][:column] if row < len(file.lines) else b""
        return self.package.span(file.path, row + 1, len(before.decode(errors="replace")) + 1)

    def parsed(self, path: str) -> File | None:
        """Return the file at a path, None if it cannot be parsed, which is reported once."""
        if path not in self._cache:
            self._cache[path] = self._parse(path)
        return self._cache[path]

    def locate(self, name: str) -> list[Definition]:
        """Return every top-level definition of a name in the package."""
        pattern = re.compile(rf"\b(class|interface|enum|type|const)\s+{name}\b".encode())
        definitions = []
        for path in self.paths:
            if pattern.search(self.package.files[path]):
                file = self.parsed(path)
                if file is not None and name in file.definitions:
                    definitions.append(Definition(file, name, tuple(file.definitions[name])))
        return definitions

    def mentioning(self, needle: str) -> Iterator[File]:
        """Yield the files whose text contains a string, in order of their paths."""
        for path in self.paths:
            file = self.parsed(path) if needle.encode() in self.package.files[path] else None
            if file is not None:
                yield file

    def resolve(self, file: File, dotted: str) -> Definition | None:
        """Return the definition of a name such as `module.Name` in a file."""
        head, _, rest = dotted.partition(".")
        imported = file.imports.get(head)
        if rest and imported is not None and imported.name == _EVERYTHING:
            target = self._target(file, imported.module)
            return self._exported(target, rest, _MAX_STEPS) if target else None
        if rest:
            return None
        if head in file.definitions:
            return Definition(file, head, tuple(file.definitions[head]))
        return self._imported(file, imported, _MAX_STEPS) if imported else None

    def proto_path(
        self, file: File, name: str, protobuf: tuple[str, str]
    ) -> tuple[str, ...] | None:
        """Return the path of a name inside the messages, None for any other name."""
        head, *rest = name.split(".")
        path = self._external(file, file.imports.get(head), _MAX_STEPS)
        if path is None:
            return None
        module, *names = (*path, *rest)
        if module != protobuf[0] or names[:1] != [protobuf[1]]:
            return None
        return tuple(names[1:])

    def _external(
        self, file: File, imported: Imported | None, steps: int
    ) -> tuple[str, ...] | None:
        """Return the module of another package and the name in it that an import leads to."""
        if imported is None or steps == 0:
            return None
        target = self._target(file, imported.module)
        if target is None:
            own = imported.module.startswith(".")
            names = () if imported.name == _EVERYTHING else (imported.name,)
            return None if own else (imported.module, *names)
        again = target.reexports.get(imported.name) or target.imports.get(imported.name)
        if again is not None and imported.name not in target.definitions:
            return self._external(target, again, steps - 1)
        for star in target.stars:
            path = self._external(target, Imported(star, imported.name, False), steps - 1)
            if path is not None:
                return path
        return None

    def _imported(self, file: File, imported: Imported, steps: int) -> Definition | None:
        target = self._target(file, imported.module)
        return self._exported(target, imported.name, steps) if target else None

    def _exported(self, file: File, name: str, steps: int) -> Definition | None:
        if steps == 0:
            return None
        if name in file.definitions:
            return Definition(file, name, tuple(file.definitions[name]))
        if name in file.reexports:
            return self._imported(file, file.reexports[name], steps - 1)
        for star in file.stars:
            target = self._target(file, star)
            definition = self._exported(target, name, steps - 1) if target else None
            if definition is not None:
                return definition
        return None

    def _target(self, file: File, module: str) -> File | None:
        if not module.startswith("."):
            return None
        stem = posixpath.normpath(posixpath.join(posixpath.dirname(file.path), module))
        stem = re.sub(r"\.[cm]?js$", "", stem)
        ends = (*SOURCE_SUFFIXES, ".d.ts")
        for path in (*(stem + end for end in ends), *(f"{stem}/index{end}" for end in ends)):
            if path in self._known:
                return self.parsed(path)
        return None

    def _parse(self, path: str) -> File | None:
        data = self.package.files[path]
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as error:
            span = self.package.span(path, data.count(b"\n", 0, error.start) + 1)
            self.faults.unreadable(span, Rule.SDK_SOURCE, "the file is not UTF-8")
            return None
        file = File(path, self._parser.parse(data).root_node, data.split(b"\n"))
        if file.root.has_error:
            self._report_syntax_error(file)
        for statement in file.root.named_children:
            _index(file, statement)
        return file

    def _report_syntax_error(self, file: File) -> None:
        """Report the first syntax error of a file.

        It is only a warning in a declaration file, which may use syntax that the parser does
        not support, such as `import("x").Y`, in definitions that are not read.
        """
        node = next(item for item in syntax.walk(file.root) if item.is_error or item.is_missing)
        severity = Severity.WARNING if file.path.endswith(".d.ts") else Severity.ERROR
        message = "the file cannot be parsed here; definitions nearby may be missing"
        help_ = "read the published package"
        self.faults.items.append(
            Diagnostic(self.span(file, node), Rule.SDK_SOURCE, message, help_, severity)
        )


def _is_source(path: str) -> bool:
    return path.endswith(SOURCE_SUFFIXES) and not path.endswith((".test.ts", ".spec.ts", ".d.ts"))


def _index(file: File, statement: Node) -> None:
    if statement.type == "import_statement":
        _import(file, statement)
        return
    inner, exported = statement, False
    if statement.type == "export_statement":
        declaration = statement.child_by_field_name("declaration")
        if declaration is None:
            _reexport(file, statement)
            return
        inner, exported = declaration, True
    if inner.type == "ambient_declaration":
        inner = syntax.child(inner, "lexical_declaration", *_DECLARATIONS) or inner
    for name, node in _defined(inner):
        file.definitions.setdefault(name, []).append(node)
        if exported:
            file.exports.add(name)


def _defined(node: Node) -> Iterator[tuple[str, Node]]:
    if node.type in _DECLARATIONS:
        yield text(node.child_by_field_name("name")), node
    elif node.type in {"lexical_declaration", "variable_declaration"}:
        for item in node.named_children:
            if item.type == "variable_declarator":
                yield text(item.child_by_field_name("name")), item


def _import(file: File, node: Node) -> None:
    source = syntax.constant(node.child_by_field_name("source")) or ""
    types = any(item.type == "type" for item in node.children)
    clause = syntax.child(node, "import_clause")
    for item in clause.named_children if clause else ():
        if item.type == "identifier":
            file.imports[text(item)] = Imported(source, "default", types)
        elif item.type == "namespace_import":
            file.imports[text(item.named_children[0])] = Imported(source, _EVERYTHING, types)
        for name, alias, one in _specifiers(item):
            file.imports[alias] = Imported(source, name, types or one)


def _reexport(file: File, node: Node) -> None:
    source = syntax.constant(node.child_by_field_name("source"))
    clause = syntax.child(node, "export_clause")
    if clause is None:
        if source is not None and any(item.type == "*" for item in node.children):
            file.stars.append(source)
        return
    for name, alias, types in _specifiers(clause):
        if source is not None:
            file.reexports[alias] = Imported(source, name, types)
        elif name in file.imports:
            file.reexports[alias] = file.imports[name]
        else:
            file.exports.add(name)


def _specifiers(clause: Node) -> Iterator[tuple[str, str, bool]]:
    for item in clause.named_children:
        if item.type in {"import_specifier", "export_specifier"}:
            name = text(item.child_by_field_name("name"))
            alias = text(item.child_by_field_name("alias")) or name
            yield name, alias, any(part.type == "type" for part in item.children)
