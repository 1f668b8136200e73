"""Reads what a Python host answers besides response arms: error texts, and unknown requests."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from sessiongen.vocabulary.model import Place
from sessiongen.vocabulary.python.classes import Role
from sessiongen.vocabulary.python.dispatch import Branch
from sessiongen.vocabulary.python.literals import constant, self_attribute


def unknown_request_answer(role: Role, cases: Sequence[Branch]) -> Place | None:
    """Returns where a function that dispatches requests answers outside of every branch."""
    message = role.scope.messages.response
    for function in {id(case.function): case.function for case in cases}.values():
        inside = {id(node) for case in cases for part in case.body for node in ast.walk(part)}
        for node in ast.walk(function):
            if id(node) in inside:
                continue
            if role.view.constructs(node, message):
                return role.place(node)
            if isinstance(node, ast.Call) and role.view.constructions(node, message):
                return role.place(node)
    return None


def error_texts(role: Role, body: Sequence[ast.AST]) -> tuple[str, ...]:
    """Returns the constant error texts of the responses that a body constructs."""
    reachable_code = [part for node in body for part in role.view.reachable_code(node)]
    texts: set[str] = set()
    for node in body:
        for construction in role.view.constructions(node, role.scope.messages.response):
            value = construction.values.get(role.scope.messages.response_error)
            if value is not None:
                method = construction.within.rpartition(".")[2]
                texts |= set(_texts(role, value, reachable_code, method))
    return tuple(sorted(texts - {""}))


def error_beside_result(role: Role, body: Sequence[ast.AST]) -> bool:
    """Whether a response that a body constructs has its arm and may have an error."""
    messages = role.scope.messages
    return any(
        messages.response_error in item.fields
        and any(f"{messages.response}.{name}" not in role.scope.not_arms for name in item.fields)
        for node in body
        for item in role.view.constructions(node, messages.response)
    )


def _texts(
    role: Role, value: ast.expr, reachable_code: list[ast.AST], method: str, hops: int = 3
) -> Iterator[str]:
    """Yields the constant values of an expression; variables and parameters are followed."""
    text = constant(value)
    if text is not None:
        yield text
    elif isinstance(value, ast.IfExp):
        for side in (value.body, value.orelse):
            yield from _texts(role, side, reachable_code, method, hops)
    elif isinstance(value, ast.BoolOp):
        for side in value.values:
            yield from _texts(role, side, reachable_code, method, hops)
    elif isinstance(value, ast.Name) and hops:
        for argument in (
            *_assigned(value.id, reachable_code),
            *_passed_arguments(role, value.id, reachable_code, method),
        ):
            yield from _texts(role, argument, reachable_code, method, hops - 1)


def _assigned(name: str, reachable_code: Iterable[ast.AST]) -> Iterator[ast.expr]:
    for part in reachable_code:
        for node in ast.walk(part):
            targets = node.targets if isinstance(node, ast.Assign) else []
            targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
            for target in targets:
                if isinstance(target, ast.Name) and target.id == name:
                    value = getattr(node, "value", None)
                    yield from [value] if isinstance(value, ast.expr) else []


def _passed_arguments(
    role: Role, name: str, reachable_code: Iterable[ast.AST], method: str
) -> Iterator[ast.expr]:
    """Yields the arguments for a parameter of a method of the class."""
    function = role.view.methods.get(method)
    names = [item.arg for item in function.args.args[1:]] if function else []
    if name not in names:
        return
    for part in reachable_code:
        for node in ast.walk(part):
            if isinstance(node, ast.Call) and self_attribute(node.func) == method:
                yield from node.args[names.index(name) : names.index(name) + 1]
                yield from (keyword.value for keyword in node.keywords if keyword.arg == name)
