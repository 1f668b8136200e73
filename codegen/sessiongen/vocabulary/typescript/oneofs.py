"""Reads oneofs in TypeScript code: their types, and objects such as `{ case, value }`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tree_sitter import Node

from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.proto_names import ProtoNames
from sessiongen.vocabulary.typescript.syntax import text


class ArmHelper(NamedTuple):
    """A method that fills an arm whose name is a parameter.

    arm, value: the names of the parameters for the arm and its value.
    """

    message: str
    arm: str
    value: str


def arm_helpers(names: ProtoNames, methods: Mapping[str, Node]) -> dict[int, ArmHelper]:
    """Returns the methods that pass `{ case: PARAMETER, value }` on for a oneof, by their ids."""
    helpers: dict[int, ArmHelper] = {}
    for method in methods.values():
        parameters = syntax.parameter_names(method)
        for call in syntax.walk(method):
            called = methods.get(syntax.this_property(call.child_by_field_name("function")))
            if call.type != "call_expression" or called is None:
                continue
            for index, argument in enumerate(syntax.arguments(call)):
                case = case_of(syntax.unwrapped(argument))
                arm = text(syntax.unwrapped(case)) if case is not None else ""
                union = (
                    union_of(names, parameter_type(called, index)) if arm in parameters else None
                )
                if union is not None and case is not None:
                    helpers[method.id] = ArmHelper(union[0], arm, text(value_of(case)))
    return helpers


def union_of(names: ProtoNames, node: Node | None) -> tuple[str, str] | None:
    """Returns message and union for the type `pb.A['union']`, None for any other type."""
    if node is None or node.type != "lookup_type" or len(node.named_children) != 2:
        return None
    message, union = names.message(node.named_children[0]), syntax.literal(node.named_children[1])
    return (message, union) if message and union else None


def parameter_type(function: Node, index: int) -> Node | None:
    """Returns the type of a parameter; for a type parameter, its constraint."""
    items = syntax.parameters(function)
    kind = syntax.annotation(items[index]) if index < len(items) else None
    generics = function.child_by_field_name("type_parameters")
    for item in generics.named_children if generics and kind else ():
        constraint = item.child_by_field_name("constraint")
        if text(item.child_by_field_name("name")) == text(kind) and constraint is not None:
            return constraint.named_children[-1]
    return kind


def case_of(node: Node) -> Node | None:
    """Returns the value of `case` in `{case: ..., value: ...}`."""
    if node.type != "object":
        return None
    for item in node.named_children:
        if item.type == "pair" and text(item.child_by_field_name("key")) == "case":
            return item.child_by_field_name("value")
        if item.type == "shorthand_property_identifier" and text(item) == "case":
            return item
    return None


def value_of(case: Node) -> Node | None:
    """Returns the value beside a `case` in `{case: ..., value: ...}`."""
    table = syntax.enclosing(case, "object")[0]
    for item in table.named_children:
        if item.type == "pair" and text(item.child_by_field_name("key")) == "value":
            return item.child_by_field_name("value")
        if item.type == "shorthand_property_identifier" and text(item) == "value":
            return item
    return None
