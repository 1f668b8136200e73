"""Finds the conditions under which the code of a TypeScript function runs."""

from __future__ import annotations

import re

from tree_sitter import Node

from sessiongen.vocabulary.source_text import mentions
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.syntax import text


def extra_conditions(node: Node, place: Node) -> list[str]:
    """Returns the conditions under which a node runs, beside those of a place, outer ones first.

    A condition on what the node itself names only says whether there is a value.
    """
    outer = _conditions(place)
    extra = [item for item in _conditions(node) if item not in outer]
    names = _names(node) if extra else []
    return [item for item in extra if not mentions(item, names)]


def _conditions(node: Node) -> list[str]:
    conditions: list[str] = []
    inner, outer = node, node.parent
    while outer is not None:
        conditions = [*_condition(inner, outer), *conditions]
        inner, outer = outer, outer.parent
    return conditions


def _condition(inner: Node, outer: Node) -> list[str]:
    """Returns the conditions under which a node inside of another one runs."""
    if outer.type in {"if_statement", "ternary_expression"}:
        condition = outer.child_by_field_name("condition")
        test = text(syntax.unwrapped(condition)) if condition is not None else ""
        if _is_field(inner, outer, "consequence") and condition is not None:
            return [text(item) for item in syntax.conjuncts(condition)]
        negated = test[1:] if re.fullmatch(r"![\w.]+", test) else f"!({test})"
        return [negated] if _is_field(inner, outer, "alternative") else []
    if outer.type == "binary_expression" and _is_field(inner, outer, "right"):
        left = outer.child_by_field_name("left")
        is_and = text(outer.child_by_field_name("operator")) == "&&"
        return [text(item) for item in syntax.conjuncts(left)] if is_and and left else []
    if outer.type == "switch_case" and not _is_field(inner, outer, "value"):
        switch = syntax.enclosing(outer, "switch_statement")[0]
        value = syntax.unwrapped(switch.child_by_field_name("value") or switch)
        return [f"{text(value)} is {text(outer.child_by_field_name('value'))}"]
    return []


def _is_field(inner: Node, outer: Node, name: str) -> bool:
    field = outer.child_by_field_name(name)
    return field is not None and field.id == inner.id


def _names(node: Node) -> list[str]:
    """Returns the dotted names in an expression, and their beginnings."""
    return [
        text(item).replace("?.", ".").replace("!", "")
        for item in syntax.walk(node)
        if item.type in {"identifier", "member_expression", "shorthand_property_identifier"}
    ]
