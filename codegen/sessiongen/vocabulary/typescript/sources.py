"""Finds what TypeScript code fills the fields of messages from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tree_sitter import Node

from sessiongen.vocabulary.model import FieldSource
from sessiongen.vocabulary.source_text import SourceText, chosen, only
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.constructions import ConstructionBuilder
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.syntax import FUNCTIONS, text

_MAX_DEPTH = 12
_CONSTANTS = {"true", "false", "number", "string"}
_NAMES = {"identifier", "shorthand_property_identifier", "this"}


def field_sources(
    file: File, constructions: Iterable[ConstructionBuilder]
) -> Iterator[FieldSource]:
    """Yields the source of each field that a file fills, where it can be described."""
    for construction in constructions:
        for name, value in construction.assigned:
            source = _describe(value, _MAX_DEPTH)
            if source is not None and (source.path or source.constant):
                yield FieldSource(
                    construction.message,
                    name,
                    construction.within,
                    file.place(value),
                    ".".join(source.path),
                    source.constant,
                    source.factor,
                    source.condition,
                )


def _describe(node: Node, depth: int) -> SourceText | None:
    """Returns the source of an expression, None if it has none that can be described."""
    node = syntax.unwrapped(node)
    if depth == 0:
        return None
    if node.type in _CONSTANTS:
        return SourceText(constant=text(node)) if syntax.constant(node) != "" else None
    if node.type in _NAMES:
        return _name(node, depth - 1)
    member = syntax.member(node)
    # The name of a class says nothing of a source.
    if member is not None and not member[1][:1].isupper():
        owner = _describe(member[0], depth - 1)
        return owner.member(member[1]) if owner is not None and not owner.constant else None
    return _operation(node, depth - 1)


def _name(node: Node, depth: int) -> SourceText | None:
    values = _values(node) if node.type != "this" else []
    if not values:
        return SourceText()
    return _describe(values[0], depth) if len(values) == 1 else None


def _values(node: Node) -> list[Node]:
    """Returns the values of a variable in the function around a node."""
    functions = syntax.enclosing(node, *FUNCTIONS)
    name, values = text(node), []
    for item in syntax.walk(functions[-1]) if functions else ():
        if item.type == "variable_declarator" and text(item.child_by_field_name("name")) == name:
            values.append(item.child_by_field_name("value"))
        elif item.type == "assignment_expression":
            if text(item.child_by_field_name("left")) == name:
                values.append(item.child_by_field_name("right"))
    return [value for value in values if value is not None]


def _operation(node: Node, depth: int) -> SourceText | None:
    if node.type in {"call_expression", "new_expression"}:
        return _call(node, depth)
    if node.type == "subscript_expression":
        table = text(node.child_by_field_name("object")).isupper()
        inner = node.child_by_field_name("index" if table else "object")
        return _describe(inner, depth) if inner is not None else None
    if node.type == "binary_expression":
        return _binary(node, depth)
    if node.type == "ternary_expression":
        parts = (node.child_by_field_name(name) for name in ("consequence", "alternative"))
        first, second = (_describe(part, depth) if part else None for part in parts)
        return chosen(text(node.child_by_field_name("condition")), first, second)
    if node.type == "await_expression":
        return _describe(node.named_children[0], depth)
    return None


def _call(node: Node, depth: int) -> SourceText | None:
    arguments = [_describe(item, depth) for item in syntax.arguments(node)]
    member = syntax.member(node.child_by_field_name("function"))
    if member is not None and member[1] == "get" and arguments:
        return arguments[0]
    if member is not None:
        owner = _describe(member[0], depth)
        if owner is not None and owner.path and only(arguments) is None:
            return owner
    argument = only(arguments)
    function = node.child_by_field_name("function")
    name = member[1] if member is not None else text(function)
    return argument.through(name) if argument is not None else None


def _binary(node: Node, depth: int) -> SourceText | None:
    left, right = (node.child_by_field_name(name) for name in ("left", "right"))
    operator = text(node.child_by_field_name("operator"))
    source = _describe(left, depth) if left is not None else None
    if operator in {"??", "||"}:
        return source
    number = _number(right)
    if source is None or not source.path or not number or operator not in {"*", "/"}:
        return None
    return source.times(number if operator == "*" else 1 / number)


def _number(node: Node | None) -> float:
    """Returns the value of a constant number, 0 for any other expression."""
    try:
        return float(text(node).replace("_", ""))
    except ValueError:
        return 0.0
