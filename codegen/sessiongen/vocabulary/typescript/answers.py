"""What a TypeScript host answers besides response arms: error texts, and unknown requests."""

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
    """Return where a function that dispatches requests answers outside of every branch."""
    for function in {case.function.id: case.function for case in cases}.values():
        for node in syntax.walk(function):
            if any(case.holds(node) for case in cases):
                continue
            called = (
                node.child_by_field_name("function") if node.type == "call_expression" else None
            )
            method = view.methods.get(syntax.own(called))
            made = method is not None and view.made([method], scope.messages.response)
            if made or view.constructs(node, scope.messages.response):
                return view.file.place(node)
    return None


def error_texts(view: ClassView, scope: Scope, body: Sequence[Node]) -> tuple[str, ...]:
    """Return the constant error texts of the responses that a body constructs."""
    reached = list(view.reached(body))
    texts: set[str] = set()
    for made in view.made(body, scope.messages.response):
        value = made.values.get(scope.messages.response_error)
        if value is not None:
            texts |= set(_texts(view, value, reached))
    return tuple(sorted(texts - {""}))


def _texts(view: ClassView, value: Node, reached: list[Node], hops: int = 3) -> Iterator[str]:
    """Yield the constant values of an expression; variables and parameters are followed."""
    node = syntax.bare(value)
    constant = syntax.constant(node)
    if constant is not None:
        yield constant
    elif node.type in {"ternary_expression", "binary_expression"}:
        for name in ("consequence", "alternative", "left", "right"):
            side = node.child_by_field_name(name)
            if side is not None:
                yield from _texts(view, side, reached, hops)
    elif node.type in {"identifier", "shorthand_property_identifier"} and hops:
        for given in (*_assigned(text(node), reached), *_passed(view, node, reached)):
            yield from _texts(view, given, reached, hops - 1)


def _assigned(name: str, reached: list[Node]) -> Iterator[Node]:
    for part in reached:
        for node in syntax.walk(part):
            left = node.child_by_field_name("left") or node.child_by_field_name("name")
            value = node.child_by_field_name("right") or node.child_by_field_name("value")
            known = node.type in {"assignment_expression", "variable_declarator"}
            if known and value is not None and text(left) == name:
                yield value


def _passed(view: ClassView, node: Node, reached: list[Node]) -> Iterator[Node]:
    """Yield the arguments for a parameter of a method of the class."""
    function = next(iter(syntax.around(node, *FUNCTIONS)), None)
    names = (
        [text(item.child_by_field_name("pattern")) for item in syntax.parameters(function)]
        if (function is not None)
        else []
    )
    methods = [name for name, method in view.methods.items() if method == function]
    for part in reached if text(node) in names and methods else ():
        for call in syntax.walk(part):
            called = syntax.own(call.child_by_field_name("function"))
            if call.type == "call_expression" and called == methods[0]:
                at = names.index(text(node))
                yield from syntax.arguments(call)[at : at + 1]
