"""Reads the driver of a Python SDK: the events it receives and the requests it sends."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary.model import Driver, Place, Reception, Sending
from sessiongen.vocabulary.python.classes import Role
from sessiongen.vocabulary.python.dispatch import Oneof, is_arm_name
from sessiongen.vocabulary.python.generated import GeneratedUse, generated_api
from sessiongen.vocabulary.python.emitters import declared_events
from sessiongen.vocabulary.python.literals import last, self_attribute

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def read_driver(role: Role) -> Driver:
    """Returns what the driver emits and sends."""
    by_arm_name: Place | None = None
    payload_only: Place | None = None
    receives = []
    oneof = Oneof(role.scope.messages.event, role.scope.messages.event_arm)
    event_branches = role.branches(oneof)
    for call, function in _emit_calls(role):
        enclosing = [branch for branch in event_branches if branch.holds(call)]
        event = role.constant(call.args[0])
        if enclosing and event is not None:
            receives += [Reception(item.arm, event, role.place(call)) for item in enclosing]
        elif is_arm_name(function, call.args[0]):
            by_arm_name = by_arm_name or role.place(call)
        else:
            message = "the name or arm of an event of the driver is not a constant"
            role.fault(call, Rule.SDK_EVENT, message)
        if not any(_is_event(role, item, function) for item in call.args[1:]):
            payload_only = payload_only or role.place(call)
    generated = GeneratedUse(role, generated_api(role.modules, role.scope.messages))
    by_arm_name = by_arm_name or generated.emits_by_arm_name()
    sends = [*_sends(role), *generated.sends()]
    role.expect(bool(by_arm_name or receives), "emits no event")
    role.expect(bool(sends), "sends no request")
    events = declared_events(role.modules, role.view.definitions, role.faults)
    name, place = role.view.definition.name, role.place(role.view.node)
    return Driver(name, place, by_arm_name, payload_only, events, tuple(receives), tuple(sends))


def _emit_calls(role: Role) -> Iterator[tuple[ast.Call, _Function]]:
    for method in role.view.methods.values():
        for node in ast.walk(method):
            if isinstance(node, ast.Call) and self_attribute(node.func) == "emit" and node.args:
                yield node, method


def _is_event(role: Role, node: ast.expr, function: _Function) -> bool:
    """Whether an expression is the whole event: `x.event`, or a parameter of its type."""
    if isinstance(node, ast.Name):
        typed = {item.arg: item.annotation for item in function.args.args if item.annotation}
        return node.id in typed and last(typed[node.id]) == role.scope.messages.event
    return last(node) == role.scope.messages.event_arm


def _sends(role: Role) -> Iterator[Sending]:
    for name, method in role.view.methods.items():
        role.require_arms(method, role.scope.messages.request)
        view = role.view.limited_to(method)
        for arm, construction in role.arms([method], role.scope.messages.request, view):
            yield Sending(arm, name, construction.place)
