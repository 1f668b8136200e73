"""A parsed TypeScript file with the names that it defines, imports and exports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tree_sitter import Node

from sessiongen.vocabulary.model import Place
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
# Imported as a name, this is the module itself.
EVERYTHING = "*"
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
    changed_names: the tables whose entries the file changes; None if they are not known yet.
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
    changed_names: set[str] | None = None

    def place(self, node: Node) -> Place:
        """Returns the line on which a node begins."""
        return Place(self.path, syntax.line(node))


def index(file: File, statement: Node) -> None:
    """Records the definitions, imports and exports of a statement of a file."""
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
    file.imports.update(_required(inner))
    file.aliases.update(_aliases(inner))
    for name, node in defined(inner):
        if name in file.imports and imported_module(node.child_by_field_name("value")):
            continue
        file.definitions.setdefault(name, []).append(node)
        if exported:
            file.exports.add(name)


def defined(node: Node) -> Iterator[tuple[str, Node]]:
    """Yields the names that a statement defines, with the nodes of their definitions."""
    if node.type in _DECLARATIONS:
        yield text(node.child_by_field_name("name")), node
    elif node.type in {"lexical_declaration", "variable_declaration"}:
        for item in node.named_children:
            if item.type == "variable_declarator":
                yield text(item.child_by_field_name("name")), item


def imported_module(node: Node | None) -> str:
    """Returns the module of `require(MODULE)` and `await import(MODULE)`, "" for other code."""
    inner = syntax.unwrapped(node) if node is not None else None
    if inner is not None and inner.type == "await_expression":
        inner = syntax.unwrapped(inner.named_children[0])
    if inner is None or inner.type != "call_expression":
        return ""
    is_import = text(inner.child_by_field_name("function")) in {"require", "import"}
    return next((syntax.constant(item) or "" for item in syntax.arguments(inner) if is_import), "")


def _required(node: Node) -> Iterator[tuple[str, Imported]]:
    """Yields the names that `require` or `import()` binds in a statement."""
    for item in node.named_children if node.type == "lexical_declaration" else ():
        name, module = item.child_by_field_name("name"), ""
        if item.type == "variable_declarator":
            module = imported_module(item.child_by_field_name("value"))
        if name is None or not module:
            continue
        if name.type == "identifier":
            yield text(name), Imported(module, EVERYTHING, False)
        for alias, path in _variable_aliases(name, ""):
            if name.type == "object_pattern":
                yield alias, Imported(module, path.removeprefix("."), False)


def _aliases(node: Node) -> Iterator[tuple[str, str]]:
    """Yields the names that a statement gives to dotted names, with these."""
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
            file.imports[text(item.named_children[0])] = Imported(source, EVERYTHING, types)
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
