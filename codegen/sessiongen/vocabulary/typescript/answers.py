"""Reads what a TypeScript host answers besides response arms: error texts, and unknown requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from sessiongen.vocabulary.model import Place
from sessiongen.vocabulary.scope import Scope
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.classes import ClassView
from sessiongen.vocabulary.typescript.dispatch import Branch
from sessiongen.vocabulary.typescript.syntax import FUNCTIONS, text


def unknown_request_answer(view: ClassView, scope: Scope, cases: Sequence[Branch]) -> Place | None:
    """Returns where a function that dispatches requests answers outside of every branch."""
    for function in {case.function.id: case.function for case in cases}.values():
        for node in syntax.walk(function):
            if any(case.holds(node) for case in cases):
                continue
            if view.constructs(node, scope.messages.response):
                return view.place(node)
            if node.type == "call_expression":
                if view.constructions([node], scope.messages.response):
                    return view.place(node)
    return None


def error_texts(view: ClassView, scope: Scope, body: Sequence[Node]) -> tuple[str, ...]:
    """Returns the constant error texts of the responses that a body constructs."""
    reachable_code = list(view.reachable_code(body))
    texts: set[str] = set()
    for construction in view.constructions(body, scope.messages.response):
        value = construction.values.get(scope.messages.response_error)
        if value is not None:
            texts |= set(_texts(view, value, reachable_code))
    return tuple(sorted(texts - {""}))


def error_beside_result(view: ClassView, scope: Scope, body: Sequence[Node]) -> bool:
    """Whether a response that a body constructs has its arm and may have an error."""
    reachable_code = list(view.reachable_code(body))
    messages = scope.messages
    for construction in view.constructions(body, messages.response):
        value = construction.values.get(messages.response_error)
        arms = {
            name
            for name in construction.fields
            if f"{messages.response}.{name}" not in scope.not_arms
        }
        has_result = scope.response_oneof in construction.values or bool(arms)
        if value is not None and has_result and _may_be_filled(view, value, reachable_code):
            return True
    return False


def _may_be_filled(view: ClassView, value: Node, reachable_code: list[Node]) -> bool:
    """Whether a value is not an empty constant, nor a parameter for which nothing is passed."""
    node = syntax.unwrapped(value)
    if node.type not in {"identifier", "shorthand_property_identifier"}:
        return node.type not in {"undefined", "null"} and syntax.constant(node) != ""
    if text(node) == "undefined":
        return False
    function = next(iter(syntax.enclosing(node, *FUNCTIONS)), None)
    parameters = syntax.parameters(function) if function is not None else []
    if text(node) not in {text(item.child_by_field_name("pattern")) for item in parameters}:
        return True
    passed = _passed_arguments(view, node, reachable_code)
    return any(_may_be_filled(view, item, reachable_code) for item in passed)


def _texts(
    view: ClassView, value: Node, reachable_code: list[Node], hops: int = 3
) -> Iterator[str]:
    """Yields the constant values of an expression; variables and parameters are followed."""
    node = syntax.unwrapped(value)
    constant = syntax.constant(node)
    if constant is not None:
        yield constant
    elif node.type in {"ternary_expression", "binary_expression"}:
        for name in ("consequence", "alternative", "left", "right"):
            side = node.child_by_field_name(name)
            if side is not None:
                yield from _texts(view, side, reachable_code, hops)
    elif node.type in {"identifier", "shorthand_property_identifier"} and hops:
        for argument in (
            *_assigned(text(node), reachable_code),
            *_passed_arguments(view, node, reachable_code),
        ):
            yield from _texts(view, argument, reachable_code, hops - 1)


def _assigned(name: str, reachable_code: list[Node]) -> Iterator[Node]:
    for part in reachable_code:
        for node in syntax.walk(part):
            left = node.child_by_field_name("left") or node.child_by_field_name("name")
            value = node.child_by_field_name("right") or node.child_by_field_name("value")
            known = node.type in {"assignment_expression", "variable_declarator"}
            if known and value is not None and text(left) == name:
                yield value


def _passed_arguments(view: ClassView, node: Node, reachable_code: list[Node]) -> Iterator[Node]:
    """Yields the arguments for a parameter of a method of the class."""
    function = next(iter(syntax.enclosing(node, *FUNCTIONS)), None)
    names = (
        [text(item.child_by_field_name("pattern")) for item in syntax.parameters(function)]
        if (function is not None)
        else []
    )
    methods = [name for name, method in view.methods.items() if method == function]
    for part in reachable_code if text(node) in names and methods else ():
        for call in syntax.walk(part):
            called = syntax.this_property(call.child_by_field_name("function"))
            if call.type == "call_expression" and called == methods[0]:
                index = names.index(text(node))
                yield from syntax.arguments(call)[index : index + 1]
