"""Reads the host of a Python SDK: the events it sends and the requests it answers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary.model import Answer, Forward, Host, Place
from sessiongen.vocabulary.python.answers import (
    error_beside_result,
    error_texts,
    unknown_request_answer,
)
from sessiongen.vocabulary.python.classes import Role
from sessiongen.vocabulary.python.dispatch import Branch, Oneof
from sessiongen.vocabulary.python.events import event_use
from sessiongen.vocabulary.python.pairs import constant_pairs
from sessiongen.vocabulary.python.generated import GeneratedUse, generated_api
from sessiongen.vocabulary.python.modules import Modules
from sessiongen.vocabulary.python.reads import read_fields
from sessiongen.vocabulary.python.literals import dotted, self_attribute

_FUNCTIONS = (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef)
_SUBSCRIBE = {"on", "once"}


def read_host(role: Role) -> Host:
    """Returns what the host forwards and answers."""
    forwards = list(_subscribed_events(role))
    forwards += _called_directly(role, {item.handler for item in forwards})
    union = Oneof(role.scope.messages.request, role.scope.messages.request_arm)
    cases = role.branches(union)
    answers = [_answer(role, branch) for branch in cases]
    api = generated_api(role.modules, role.scope.messages)
    generated = GeneratedUse(role, api, _subscribed_methods(role))
    forwards += generated.forwards()
    answers += generated.answers()
    role.expect(bool(forwards), "forwards no event")
    role.expect(bool(answers), "answers no request")
    return Host(
        role.view.definition.name,
        role.place(role.view.node),
        unknown_request_answer(role, cases) or generated.unknown_request(),
        tuple(forwards),
        tuple(answers),
    )


def _answer(role: Role, branch: Branch) -> Answer:
    replies = role.arms(branch.body, role.scope.messages.response)
    return Answer(
        branch.arm,
        replies[0][0] if replies else None,
        read_fields(branch.arm, branch.body),
        error_texts(role, branch.body),
        role.place(branch.node),
        error_beside_result(role, branch.body),
    )


def _subscribed_methods(role: Role) -> dict[str, tuple[str, Place]]:
    """Returns the event and the subscription of each method that handles an event."""
    subscriptions = [item for _, node in role.view.classes for item in _subscriptions(node)]
    return {
        self_attribute(handler): (name, role.place(call))
        for call, event, handler in subscriptions
        if (name := role.constant(event)) is not None and self_attribute(handler)
    }


def _subscribed_events(role: Role) -> Iterator[Forward]:
    """Yields the arms sent by the handlers in `session.on(event, handler)`."""
    subscriptions = [item for _, node in role.view.classes for item in _subscriptions(node)]
    for call, event, handler in subscriptions:
        name = self_attribute(handler)
        node = handler if isinstance(handler, _FUNCTIONS) else role.view.methods.get(name)
        event_name = role.constant(event)
        if event_name is None:
            message = "the event name of a subscription of the host is not a constant"
            role.fault(event, Rule.SDK_EVENT, message)
        elif node is None:
            message = f"the handler of {event_name!r} is neither a method nor a lambda"
            role.fault(handler, Rule.SDK_EVENT, message)
        else:
            role.require_arms(node, role.scope.messages.event)
            yield from _forwards(role, node, event_name, name, role.place(call))


def _forwards(
    role: Role, node: ast.AST, event: str | None, handler: str, via: Place | None
) -> Iterator[Forward]:
    use = event_use(role.view, node)
    reads = tuple(sorted(use.reads))
    for arm, construction in role.arms([node], role.scope.messages.event):
        yield Forward(arm, event, handler, construction.place, via, use.type, reads, use.whole)


def _subscriptions(node: ast.ClassDef) -> Iterator[tuple[ast.Call, ast.expr, ast.AST]]:
    """Yields each call of `on` with its event and handler, a decorated function included."""
    decorated = {
        id(decorator): function
        for function in ast.walk(node)
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        for decorator in function.decorator_list
    }
    loops = dict(_loops(node))
    for call in ast.walk(node):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
            continue
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        if call.func.attr not in _SUBSCRIBE or not arguments:
            continue
        if len(arguments) > 1:
            pairs = loops.get((_name(arguments[0]), _name(arguments[1])), [])
            for event, handler in pairs or [(arguments[0], arguments[1])]:
                yield call, event, handler
        else:
            yield call, arguments[0], decorated.get(id(call), call)


def _loops(node: ast.ClassDef) -> Iterator[tuple[tuple[str, str], list[tuple[ast.expr, ast.expr]]]]:
    """Yields the two variables of each loop over constant pairs, with the pairs."""
    for method in node.body:
        for loop in ast.walk(method):
            if isinstance(loop, ast.For) and isinstance(loop.target, ast.Tuple):
                names = tuple(map(_name, loop.target.elts))
                pairs = constant_pairs(loop.iter, node, method)
                if len(names) == 2 and pairs:
                    yield (names[0], names[1]), pairs


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _called_directly(role: Role, handled: set[str]) -> Iterator[Forward]:
    """Yields the arms sent by methods that other code of the SDK calls directly."""
    methods = role.view.methods
    called = {name for method in methods.values() for name in role.view.called_methods(method)}
    for name, method in sorted(methods.items()):
        if name not in handled | called and role.arms([method], role.scope.messages.event):
            yield from _forwards(role, method, None, name, _call_place(role.modules, name))


def _call_place(modules: Modules, name: str) -> Place | None:
    for module in modules.mentioning(f".{name}("):
        for node in ast.walk(module.tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            if node.func.attr == name and dotted(node.func.value) != "self":
                return module.place(node)
    return None
