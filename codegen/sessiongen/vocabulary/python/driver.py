"""Reads the driver of a Python SDK: the events it receives and the requests it sends."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary.model import Driver, Place, Reception, Sending
from sessiongen.vocabulary.python.classes import Role, own
from sessiongen.vocabulary.python.dispatch import Oneof, branches, named_by_union
from sessiongen.vocabulary.python.emitters import declared_events
from sessiongen.vocabulary.python.literals import constant, last

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def read_driver(role: Role) -> Driver:
    """Return what the driver emits and sends."""
    by_name: Place | None = None
    bare: Place | None = None
    receives = []
    union = Oneof(role.scope.messages.event, role.scope.messages.event_arm)
    cases = branches(role.modules, role.module, role.view.node, union, role.faults)
    for call, function in _emit_calls(role):
        around = [branch for branch in cases if branch.holds(call)]
        given = constant(call.args[0])
        if around and given is not None:
            receives += [Reception(item.arm, given, role.place(call)) for item in around]
        elif named_by_union(function, call.args[0]):
            by_name = by_name or role.place(call)
        else:
            what = "an event of the driver whose name or arm is not a constant"
            role.fault(call, Rule.SDK_EVENT, what)
        if not any(_is_event(role, item, function) for item in call.args[1:]):
            bare = bare or role.place(call)
    sends = list(_sends(role))
    role.expect(bool(by_name or receives), "emits no event")
    role.expect(bool(sends), "sends no request")
    events = declared_events(role.modules, role.view.found, role.faults)
    name, place = role.view.found.name, role.place(role.view.node)
    return Driver(name, place, by_name, bare, events, tuple(receives), tuple(sends))


def _emit_calls(role: Role) -> Iterator[tuple[ast.Call, _Function]]:
    for method in role.view.methods.values():
        for node in ast.walk(method):
            if isinstance(node, ast.Call) and own(node.func) == "emit" and node.args:
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
        view = role.view.only(method)
        for arm, made in role.arms([method], role.scope.messages.request, view):
            yield Sending(arm, name, made.place)
