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
_NAMES = {"identifier", "member_expression"}


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
    modules. stars: modules of which everything is exported. aliases: other names of dotted names.
    """

    path: str
    root: Node
    lines: list[bytes]
    definitions: dict[str, list[Node]] = field(default_factory=dict)
    exports: set[str] = field(default_factory=set)
    imports: dict[str, Imported] = field(default_factory=dict)
    reexports: dict[str, Imported] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)

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

    def with_bases(self, definition: Definition, steps: int = _MAX_STEPS) -> list[Definition]:
        """Return a class and its base classes in the package, those of a class after it."""
        classes, node = [definition], definition.of(*syntax.CLASSES)
        base = syntax.extended(node) if node is not None and steps else None
        target = self.resolve(definition.file, text(base)) if base is not None else None
        if target is not None and target.of(*syntax.CLASSES) is not None:
            classes += self.with_bases(target, steps - 1)
        return list({item.key: item for item in classes}.values())

    def using(self, protobuf: tuple[str, str]) -> list[File]:
        """Return the files that use the messages, also through other files of the package."""
        used: dict[str, File] = {}
        texts = [protobuf[0]]
        while texts:
            files = [
                item
                for needle in texts
                for item in self.mentioning(needle)
                if item.path not in used and self.uses(item, protobuf)
            ]
            used.update((item.path, item) for item in files)
            texts = [f"/{posixpath.basename(item.path).split('.')[0]}" for item in files]
        return [used[path] for path in sorted(used)]

    def uses(self, file: File, protobuf: tuple[str, str]) -> bool:
        """Whether a file imports the messages, or something in or above them."""
        if protobuf[0] in file.stars or any(
            (item.module, item.name) == protobuf for item in file.reexports.values()
        ):
            return True
        for name in file.imports:
            path = self._external(file, name, _MAX_STEPS)
            if path is not None and path[:2] == protobuf:
                return True
            if path == protobuf[:1] and f"{name}.{protobuf[1]}".encode() in b"\n".join(file.lines):
                return True
        return False

    def proto_path(
        self, file: File, name: str, protobuf: tuple[str, str]
    ) -> tuple[str, ...] | None:
        """Return the path of a dotted name inside the messages, None for any other name."""
        path = self._external(file, name, _MAX_STEPS)
        inside = path is not None and path[:2] == protobuf
        return path[2:] if path is not None and inside else None

    def _external(self, file: File, name: str, steps: int) -> tuple[str, ...] | None:
        """Return the module of another package and the path in it that a dotted name leads to."""
        head, *rest = name.split(".")
        if steps == 0:
            return None
        if head in file.aliases:
            return self._external(file, ".".join((file.aliases[head], *rest)), steps - 1)
        imported = None if head in file.definitions else file.imports.get(head)
        return self._external_import(file, imported, rest, steps) if imported else None

    def _external_import(
        self, file: File, imported: Imported, rest: list[str], steps: int
    ) -> tuple[str, ...] | None:
        target = self._target(file, imported.module)
        names = rest if imported.name == _EVERYTHING else [imported.name, *rest]
        if target is None:
            return None if imported.module.startswith(".") else (imported.module, *names)
        if not names:
            return None
        head = names[0]
        if head in target.definitions or head in target.aliases:
            return self._external(target, ".".join(names), steps - 1)
        if head in target.reexports:
            return self._external_import(target, target.reexports[head], names[1:], steps - 1)
        for star in target.stars:
            everything = Imported(star, _EVERYTHING, False)
            if self._target(target, star) is not None:
                path = self._external_import(target, everything, names, steps - 1)
                if path is not None:
                    return path
        external = [star for star in target.stars if not star.startswith(".")]
        return (external[0], *names) if external else None

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
    file.aliases.update(_aliases(inner))
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


def _aliases(node: Node) -> Iterator[tuple[str, str]]:
    """Yield the names that a statement gives to dotted names, with these."""
    if node.type == "import_alias":
        yield text(node.named_children[0]), text(node.named_children[-1])
    elif node.type == "type_alias_declaration":
        value = node.child_by_field_name("value")
        if value is not None and value.type == "nested_type_identifier":
            yield text(node.child_by_field_name("name")), text(value)
    elif node.type in {"lexical_declaration", "variable_declaration"}:
        for item in node.named_children:
            name, value = item.child_by_field_name("name"), item.child_by_field_name("value")
            if name is not None and value is not None and value.type in _NAMES:
                yield from _variable_aliases(name, text(value))


def _variable_aliases(name: Node, value: str) -> Iterator[tuple[str, str]]:
    if name.type == "identifier":
        yield text(name), value
    for item in name.named_children if name.type == "object_pattern" else ():
        if item.type == "shorthand_property_identifier_pattern":
            yield text(item), f"{value}.{text(item)}"
        elif item.type == "pair_pattern":
            key, alias = item.child_by_field_name("key"), item.child_by_field_name("value")
            yield text(alias), f"{value}.{text(key)}"


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
