"""Reads the conditions under which Python code passes messages on.

A handler of the host, a method of the driver or the branch of a request is followed to the code that
sends its message: no path should end before. Conditions in a function that all messages of a kind go
through are stated once.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from sessiongen.vocabulary.behaviours import RETURNED, condition_fact
from sessiongen.vocabulary.model import Behaviour, Driver, Host, Place, Sending
from sessiongen.vocabulary.python.classes import Function, Role
from sessiongen.vocabulary.python.control_flow import Path, conditions, paths_without
from sessiongen.vocabulary.python.dispatch import Branch, Oneof
from sessiongen.vocabulary.python.literals import last, self_attribute
from sessiongen.vocabulary.python.message_flow import Flow, FlowReader

_MAX_STEPS = 6
# Decorators that let each call through.
_DECORATORS = {
    *("cache", "classmethod", "final", "log_exceptions", "on", "once", "override", "staticmethod"),
    *("contextmanager", "asynccontextmanager"),
}


def host_conditions(role: Role, host: Host) -> Iterator[Behaviour]:
    """Yields the conditions of the events that a host sends, and of its responses."""
    event, response = role.scope.messages.event, role.scope.messages.response
    reader = _ConditionReader(role, event)
    subscribing = {
        name
        for name, method in role.view.methods.items()
        for node in ast.walk(method)
        if isinstance(node, ast.Call) and role.place(node) in {it.via for it in host.forwards}
    }
    for forward in host.forwards:
        handler = role.view.methods.get(forward.handler)
        # A function that subscribes sends nothing itself, though its lambdas do.
        if handler is not None and forward.handler not in subscribing:
            yield from reader.of_function(handler, forward.arm)
    yield from reader.shared()
    yield from _subscription_conditions(role, host)
    reader = _ConditionReader(role, response)
    branches = role.branches(Oneof(role.scope.messages.request, role.scope.messages.request_arm))
    arms = {(item.arm, item.place): item.response for item in host.answers}
    for branch in branches:
        arm = arms.get((branch.arm, role.place(branch.node)))
        if arm is not None:
            yield from reader.of_branch(branch, arm)
    yield from reader.shared()


def driver_conditions(role: Role, driver: Driver) -> Iterator[Behaviour]:
    """Yields the conditions of the requests that a driver sends."""
    reader = _ConditionReader(role, role.scope.messages.request, raising=False)
    for sending in driver.sends:
        method = role.view.methods.get(sending.method)
        if method is not None:
            yield from reader.of_function(method, sending.arm)
            yield from _returned_arm(role, sending, method)
    yield from reader.shared()
    if driver.emits_by_arm_name is not None:
        yield from _emission_conditions(role)


def _returned_arm(role: Role, sending: Sending, method: Function) -> Iterator[Behaviour]:
    """Yields the part of a response that a method returns, if it returns one part of one."""
    values = [item.value for item in ast.walk(method) if isinstance(item, ast.Return)]
    parts = {last(item): item for item in values if isinstance(item, ast.Attribute)}
    for name, node in parts.items() if len(parts) == 1 else ():
        within = f"{role.view.definition.name}.{sending.method}"
        yield Behaviour(RETURNED, sending.arm, within, name, role.place(node))


def _emission_conditions(role: Role) -> Iterator[Behaviour]:
    """Yields the conditions under which a driver emits an event, beside those on its presence."""
    for name, method in role.view.methods.items():
        calls = {id(it) for it in ast.walk(method) if self_attribute(it) == "emit"}
        if not calls:
            continue
        names = {
            target.id
            for node in ast.walk(method)
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
            for target in node.targets
            if isinstance(target, ast.Name) and last(node.value.func) == "WhichOneof"
        }
        paths = [
            tuple(test for test in path if not _is_presence(test.text, names))
            for path in paths_without(method.body, calls, False)
            if path and not _is_presence(path[-1].text, names)
        ]
        within = f"{role.view.definition.name}.{name}"
        kept = conditions(path for path in paths if path)
        yield condition_fact(role.scope.messages.event, within, kept, role.place(method))


def _is_presence(text: str, names: Iterable[str]) -> bool:
    """Whether a condition only asks whether a message has a field. names: those of its arm."""
    rest = re.sub(r"[\w.]+\.(HasField|WhichOneof)\([^()]*\)", "", text)
    words = set(re.findall(r"\w+", rest)) - {"and", "is", "None", "not", "or", *names}
    return not words and "=" not in rest


def _subscription_conditions(role: Role, host: Host) -> Iterator[Behaviour]:
    """Yields the conditions of subscriptions, except for those that all of them have."""
    event = role.scope.messages.event
    calls = {
        role.place(node): (node, name, method)
        for name, method in role.view.methods.items()
        for node in ast.walk(method)
        if isinstance(node, ast.Call)
    }
    known: dict[str, tuple[list[str], str, Place]] = {}
    for forward in host.forwards:
        if forward.event is not None and forward.via is not None and forward.via in calls:
            call, name, method = calls[forward.via]
            texts = conditions(paths_without(method.body, {id(call)}))
            known[forward.arm] = texts, name, forward.via
    common = set.intersection(*(set(texts) for texts, _, _ in known.values())) if known else set()
    for arm, (texts, name, place) in known.items():
        own = [text for text in texts if text not in common]
        if own:
            within = f"{role.view.definition.name}.{name}"
            yield condition_fact(f"{event}.{arm}", within, own, place)


class _ConditionReader:
    """Follows the messages of one type. Functions that are given one are shared.

    raising: whether an exception loses the message, or its caller is told.
    """

    def __init__(self, role: Role, message: str, raising: bool = True) -> None:
        self._raising = raising
        self._role = role
        self._view = role.view
        self._message = message
        self._flows = FlowReader(role.view)
        self._given: dict[tuple[int, str], tuple[Function, str]] = {}
        self._leading: dict[tuple[int, str], bool] = {}
        self._names = {id(node): name for name, node in role.view.methods.items()}

    def of_function(self, function: Function, arm: str) -> Iterator[Behaviour]:
        """Yields the conditions of an arm in a function and in the methods that it calls for it."""
        for node in self._functions(function, arm):
            starts = self._starts(node.body, arm)
            if any(not self._is_transparent(item) for item in node.decorator_list):
                # The function that a decorator returns may do anything.
                yield self._fact(f"{self._message}.{arm}", node, [])._replace(value="")
                continue
            yield self._fact(f"{self._message}.{arm}", node, self._paths(node, node.body, starts))

    def _is_transparent(self, decorator: ast.expr) -> bool:
        """Whether a decorator lets each call through."""
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        return last(called) in _DECORATORS

    def of_branch(self, branch: Branch, arm: str) -> Iterator[Behaviour]:
        """Yields the conditions under which a branch on a request sends its response."""
        starts = self._starts(branch.body, "")
        if isinstance(branch.function, Function) and starts:
            paths = self._paths(branch.function, branch.body, starts)
            yield self._fact(f"{self._message}.{arm}", branch.function, paths)

    def shared(self) -> Iterator[Behaviour]:
        """Yields the conditions in functions that messages are passed to."""
        seen: set[tuple[int, str]] = set()
        while pending := [key for key in self._given if key not in seen]:
            for key in pending:
                seen.add(key)
                function, name = self._given[key]
                flow = self._flows.parameter(function, name)
                self._follow(flow, len(seen))
                ends = flow.ends
                paths = paths_without(function.body, ends, self._raising) if ends else []
                if paths:
                    yield self._fact(self._message, function, paths)

    def _functions(self, function: Function, arm: str) -> list[Function]:
        """Returns a function, and those that it calls on the way to the construction."""
        return [
            item
            for item in self._view.reachable_code(function)
            if isinstance(item, Function) and self._starts(item.body, arm)
        ]

    def _starts(self, body: Sequence[ast.stmt], arm: str) -> list[ast.AST]:
        """Returns the constructions of the message, and the calls that lead to one."""
        return [
            node
            for statement in body
            for node in ast.walk(statement)
            if self._constructs(node, arm)
            or isinstance(node, ast.Call)
            and self._leads(self._view.called(node), arm)
        ]

    def _constructs(self, node: ast.AST, arm: str) -> bool:
        construction = self._view.construction(node)
        if construction is None or construction.message != self._message:
            return False
        return not arm or arm in construction.fields

    def _leads(self, function: Function | None, arm: str) -> bool:
        if function is None:
            return False
        key = id(function), arm
        if key not in self._leading:
            self._leading[key] = any(
                self._constructs(node, arm)
                for part in self._view.reachable_code(function)
                for node in ast.walk(part)
            )
        return self._leading[key]

    def _paths(
        self, function: Function, body: Sequence[ast.stmt], starts: list[ast.AST]
    ) -> list[Path]:
        """Returns the paths that do not reach a construction, or do not pass the message on."""
        paths = paths_without(body, {id(node) for node in starts}, self._raising)
        flow = self._flows.flow(function, starts)
        self._follow(flow, 0)
        if flow.ends:
            paths += paths_without(body, flow.ends, self._raising)
        return paths

    def _follow(self, flow: Flow, steps: int) -> None:
        for function, name in flow.parameters if steps < _MAX_STEPS else ():
            self._given.setdefault((id(function), name), (function, name))

    def _fact(self, subject: str, function: Function, paths: Iterable[Path]) -> Behaviour:
        name = self._names.get(id(function))
        within = f"{self._role.view.definition.name}.{name}" if name else function.name
        return condition_fact(subject, within, conditions(paths), self._role.place(function))
