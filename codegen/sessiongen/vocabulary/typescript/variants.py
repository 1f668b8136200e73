"""Reads for which kinds of values TypeScript code fills the arms of a oneof.

The code is a test of the `type` or the class of a value around the construction of a message with
one field. Cases of a `switch` without an exit fall through to the next one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tree_sitter import Node

from sessiongen.vocabulary.behaviours import VARIANT
from sessiongen.vocabulary.model import Behaviour
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.construction_builder import ConstructionBuilder
from sessiongen.vocabulary.typescript.control_flow import falls_through
from sessiongen.vocabulary.typescript.kinds import is_kind
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.syntax import FUNCTIONS, text

_EQUAL = {"==", "==="}


def variant_behaviours(
    file: File, constructions: Iterable[ConstructionBuilder]
) -> Iterator[Behaviour]:
    """Yields the kinds of values for which each message with one arm is constructed."""
    for item in constructions:
        by_arm: dict[str, list[Node]] = {}
        for arm, value in item.arms:
            by_arm.setdefault(arm, []).append(value)
        for arm, values in by_arm.items() if item.fields == set(by_arm) else ():
            # The arms of several objects are in different cases of another function.
            kinds = _kinds(item.node) if len(by_arm) == 1 else []
            kinds = kinds or [kind for value in values for kind in _kinds(value)]
            if kinds:
                named = ", ".join(sorted(set(kinds)))
                subject = f"{item.message}.{arm}"
                yield Behaviour(VARIANT, subject, item.within, named, item.place)


def _kinds(node: Node) -> list[str]:
    """Returns the kinds of the innermost test of a kind around a node."""
    inner, outer = node, node.parent
    while outer is not None and outer.type not in FUNCTIONS:
        kinds = _case_kinds(outer) if outer.type == "switch_case" else _tested(inner, outer)
        if kinds:
            return kinds
        inner, outer = outer, outer.parent
    return []


def _case_kinds(case: Node) -> list[str]:
    """Returns the kinds of a case, and of those before it that fall through to it."""
    switch = syntax.enclosing(case, "switch_statement")[0]
    if not is_kind(switch.child_by_field_name("value")):
        return []
    kinds: list[str] = []
    before: Node | None = case
    while before is not None and before.type in {"switch_case", "comment"}:
        if before.type == "switch_case":
            value = before.child_by_field_name("value")
            kinds.append(syntax.constant(value) or text(value))
        before = before.prev_named_sibling
        while before is not None and before.type == "comment":
            before = before.prev_named_sibling
        if before is not None and not falls_through(before):
            break
    return kinds


def _tested(inner: Node, outer: Node) -> list[str]:
    """Returns the kinds that a condition asks for under which a node runs."""
    if outer.type not in {"if_statement", "ternary_expression"}:
        return []
    body = outer.child_by_field_name("consequence")
    condition = outer.child_by_field_name("condition")
    if body is None or condition is None or body.id != inner.id:
        return []
    return _kinds_in(syntax.unwrapped(condition))


def _kinds_in(test: Node) -> list[str]:
    left, right = (test.child_by_field_name(name) for name in ("left", "right"))
    if test.type != "binary_expression" or left is None or right is None:
        return []
    operator = text(test.child_by_field_name("operator"))
    if operator in {"&&", "||"}:
        first, second = _kinds_in(syntax.unwrapped(left)), _kinds_in(syntax.unwrapped(right))
        if operator == "&&":
            return first or second
        return [*first, *second] if first and second else []
    if operator == "instanceof":
        return [text(right).rpartition(".")[2]]
    if operator not in _EQUAL:
        return []
    for kind, value in ((left, right), (right, left)):
        if is_kind(kind) and syntax.constant(value) is not None:
            return [syntax.constant(value) or ""]
    return []
