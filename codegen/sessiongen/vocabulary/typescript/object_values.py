"""Finds the objects that an expression can be, for the fields of a message."""

from __future__ import annotations

from tree_sitter import Node

from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.syntax import FUNCTIONS, text

_NOTHING = {"null", "undefined", "false"}


def object_values(node: Node) -> list[Node] | None:
    """Returns the objects that an expression can be, None if they are not all known.

    It is an object, one by a condition, or a constant of the function that holds one.
    """
    inner = syntax.unwrapped(node)
    if inner.type == "object":
        return [inner]
    if inner.type in _NOTHING:
        return []
    if inner.type == "ternary_expression":
        names = ("consequence", "alternative")
        parts = [object_values(part) for it in names if (part := inner.child_by_field_name(it))]
        return None if None in parts else [item for part in parts for item in part or ()]
    if inner.type == "binary_expression":
        right = inner.child_by_field_name("right")
        is_and = text(inner.child_by_field_name("operator")) == "&&"
        return object_values(right) if is_and and right is not None else None
    return _of_variable(inner) if inner.type == "identifier" else None


def _of_variable(node: Node) -> list[Node] | None:
    """Returns the object that a variable is declared with, if nothing changes it."""
    functions = syntax.enclosing(node, *FUNCTIONS)
    name, values = text(node), []
    for item in syntax.walk(functions[-1]) if functions else ():
        if item.type == "variable_declarator" and text(item.child_by_field_name("name")) == name:
            values.append(item.child_by_field_name("value"))
        elif item.type == "assignment_expression":
            left = item.child_by_field_name("left")
            if left is not None and name in {text(part) for part in syntax.walk(left)}:
                return None
    value = values[0] if len(values) == 1 else None
    inner = syntax.unwrapped(value) if value is not None else None
    return [inner] if inner is not None and inner.type == "object" else None
