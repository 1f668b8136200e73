"""Finds what assigns a variable or changes a table."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.modules import Definition
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.syntax import FUNCTIONS, text

_CHANGING_METHODS = {"clear", "delete", "set"}


def bindings(name: str, node: Node) -> list[Node]:
    """Returns what assigns a variable in the innermost function around a node that does so.

    Each is a declarator with a value, or an assignment; none for a parameter.
    """
    for function in syntax.enclosing(node, *FUNCTIONS):
        parameters = {
            text(item.child_by_field_name("pattern")) for item in syntax.parameters(function)
        }
        if name in parameters:
            return []
        binding = [item for item in syntax.walk(function) if _binds(item, name)]
        if binding:
            return binding
    return []


def is_changed(definition: Definition) -> bool:
    """Whether the file of a table adds, replaces or removes entries."""
    file = definition.file
    if file.changed_names is None:
        file.changed_names = set(_changed_names(file))
    return definition.name in file.changed_names


def _changed_names(file: File) -> Iterator[str]:
    """Yields the names of the tables whose entries a file changes."""
    for node in syntax.walk(file.root):
        if node.type == "assignment_expression":
            target = node.child_by_field_name("left")
            owner = target.child_by_field_name("object") if target else None
            if owner is not None:
                yield text(syntax.unwrapped(owner))
        elif node.type == "call_expression":
            method = syntax.member(node.child_by_field_name("function"))
            if method is not None and method[1] in _CHANGING_METHODS:
                yield text(syntax.unwrapped(method[0]))


def _binds(node: Node, name: str) -> bool:
    if node.type == "variable_declarator":
        has_value = node.child_by_field_name("value") is not None
        return has_value and text(node.child_by_field_name("name")) == name
    return node.type == "assignment_expression" and text(node.child_by_field_name("left")) == name
