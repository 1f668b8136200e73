"""Follows expressions to the arrays, objects and maps that are written in the code."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.calls import values_of
from sessiongen.vocabulary.typescript.modules import Modules
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.syntax import CLASSES, FUNCTIONS, text

_MAX_STEPS = 6
# What a table goes through unchanged.
_SAME = {"Object.freeze", "Object.entries", "Array.from"}
_METHODS = {"entries"}

# The nodes of a key and of its value.
Entry = tuple[Node, Node]


def written(modules: Modules, file: File, node: Node, steps: int = _MAX_STEPS) -> tuple[File, Node]:
    """Returns the expression that a name stands for, with its file; others stand for themselves."""
    node = syntax.unwrapped(node)
    target = _target(modules, file, node) if steps else None
    return written(modules, *target, steps - 1) if target is not None else (file, node)


def _target(modules: Modules, file: File, node: Node) -> tuple[File, Node] | None:
    """Returns the only value of a variable, of a constant, or of a field of a class."""
    if node.type == "identifier":
        values = list(values_of(node))
        if values:
            return (file, values[0]) if len(values) == 1 else None
        definition = modules.resolve(file, text(node))
        value = definition.node.child_by_field_name("value") if definition is not None else None
        return (definition.file, value) if definition is not None and value is not None else None
    member = syntax.member(node)
    name = syntax.this_property(node)
    owner = next(iter(syntax.enclosing(node, *CLASSES)), None) if name else None
    if member is not None and not name:
        definition = modules.resolve(file, text(member[0]))
        owner = definition.of(*CLASSES) if definition is not None else None
        file = definition.file if definition is not None else file
    value = _class_field(owner, member[1]) if owner is not None and member is not None else None
    return (file, value) if value is not None and value.type not in FUNCTIONS else None


def _class_field(node: Node, name: str) -> Node | None:
    body = node.child_by_field_name("body")
    for item in body.named_children if body is not None else ():
        if item.type == "public_field_definition":
            if text(item.child_by_field_name("name")) == name:
                return item.child_by_field_name("value")
    return None


def entries(modules: Modules, file: File, node: Node) -> tuple[File, list[Entry]] | None:
    """Returns the keys and values of an object or a map, None if they cannot be read."""
    file, node = written(modules, file, node)
    if node.type == "object":
        pairs = [_pair(item) for item in node.named_children if item.type != "comment"]
        return (file, [item for item in pairs if item]) if None not in pairs else None
    if node.type == "call_expression" and text(node.child_by_field_name("function")) in _SAME:
        arguments = syntax.arguments(node)
        return entries(modules, file, arguments[0]) if arguments else None
    if node.type == "new_expression" and text(node.child_by_field_name("constructor")) == "Map":
        arguments = syntax.arguments(node)
        return entries(modules, file, arguments[0]) if arguments else (file, [])
    if node.type != "array":
        return None
    rows = [syntax.unwrapped(item) for item in node.named_children if item.type != "comment"]
    if any(item.type != "array" or len(item.named_children) != 2 for item in rows):
        return None
    return file, [(item.named_children[0], item.named_children[1]) for item in rows]


def _pair(item: Node) -> Entry | None:
    if item.type == "shorthand_property_identifier":
        return item, item
    if item.type == "method_definition" and (name := item.child_by_field_name("name")) is not None:
        return _key(name), item
    key, value = item.child_by_field_name("key"), item.child_by_field_name("value")
    return (_key(key), value) if key is not None and value is not None else None


def _key(node: Node) -> Node:
    return node.named_children[0] if node.type == "computed_property_name" else node


def loop_rows(modules: Modules, file: File, node: Node) -> Iterator[tuple[File, dict[str, Node]]]:
    """Yields, for each turn of the loop around a node, the expressions that its variables stand for.

    Without a loop over a table in the code, there is one turn without variables.
    """
    for outer in syntax.enclosing(node, "for_in_statement", *FUNCTIONS):
        pattern, items = _loop(outer)
        rows = _rows(modules, file, items) if items is not None else None
        if pattern is not None and rows is not None:
            owner, values = rows
            yield from ((owner, dict(_bound(pattern, row))) for row in values)
            return
    yield file, {}


def _loop(node: Node) -> tuple[Node | None, Node | None]:
    """Returns the variables of a loop or of a function for `forEach`, and what it iterates."""
    if node.type == "for_in_statement":
        return node.child_by_field_name("left"), node.child_by_field_name("right")
    call = node.parent.parent if node.parent is not None else None
    called = call.child_by_field_name("function") if call is not None else None
    member = syntax.member(called)
    parameters = syntax.parameters(node)
    pattern = parameters[0].child_by_field_name("pattern") if parameters else None
    pattern = pattern or node.child_by_field_name("parameter")
    if member is None or member[1] != "forEach":
        return None, None
    return pattern, member[0]


def _rows(modules: Modules, file: File, node: Node) -> tuple[File, list[list[Node]]] | None:
    file, node = written(modules, file, node)
    member = syntax.member(node.child_by_field_name("function"))
    if member is not None and member[1] in _METHODS and text(member[0]) != "Object":
        return _rows(modules, file, member[0])
    if node.type == "array":
        items = [syntax.unwrapped(item) for item in node.named_children if item.type != "comment"]
        return file, [[item] for item in items]
    table = entries(modules, file, node)
    return (table[0], [[key, value] for key, value in table[1]]) if table is not None else None


def _bound(pattern: Node, row: list[Node]) -> Iterator[tuple[str, Node]]:
    """Yields the variables of a pattern, each with the expression that it stands for."""
    if pattern.type == "identifier" and len(row) == 1:
        yield text(pattern), row[0]
    elif pattern.type == "array_pattern":
        inner = row[0].named_children if len(row) == 1 and row[0].type == "array" else row
        for variable, value in zip(pattern.named_children, inner):
            yield text(variable), value
    elif pattern.type == "object_pattern" and len(row) == 1 and row[0].type == "object":
        values = {text(pair[0]): pair[1] for pair in map(_pair, row[0].named_children) if pair}
        for item in pattern.named_children:
            name = text(item.child_by_field_name("key") or item)
            if name in values:
                yield text(item.child_by_field_name("value") or item), values[name]
