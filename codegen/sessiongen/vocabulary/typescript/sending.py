"""Reads the conditions under which TypeScript code passes messages on.

A handler of the host, a method of the driver or the branch of a request is followed to the code that
sends its message: no path should end before. Conditions on nothing but `this` in a function that all
messages of a kind go through concern the connection, not what the protocol carries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from tree_sitter import Node

from sessiongen.vocabulary.behaviours import condition_fact
from sessiongen.vocabulary.model import Behaviour, Driver, Host
from sessiongen.vocabulary.scope import Scope
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.classes import ClassView
from sessiongen.vocabulary.typescript.constructions import within
from sessiongen.vocabulary.typescript.control_flow import (
    Path,
    conditions,
    paths_without,
    statements_of,
)
from sessiongen.vocabulary.typescript.dispatch import Branch
from sessiongen.vocabulary.typescript.message_flow import Flow, flow, uses
from sessiongen.vocabulary.typescript.modules import Modules
from sessiongen.vocabulary.typescript.subscriptions import handler_of, subscriptions
from sessiongen.vocabulary.typescript.syntax import FUNCTIONS

_FIRST = "it is the first one"
_EMIT = "emit"


def host_conditions(
    modules: Modules, scope: Scope, view: ClassView, host: Host, branches: Iterable[Branch]
) -> Iterator[Behaviour]:
    """Yields the conditions of the events that a host sends, and of its responses."""
    reader = _ConditionReader(view, scope.messages.event)
    handlers = dict(view.methods)
    for item in subscriptions(modules, view):
        handler = handler_of(modules, view, item.file, item.handler)
        if handler is not None and not handler.name:
            handlers[_handler_at(host, view, item.call)] = handler.node
    calls = [item.call for item in subscriptions(modules, view)]
    # A function that subscribes does not send the events of its handlers itself.
    around = {outer.id for call in calls for outer in syntax.enclosing(call, *FUNCTIONS)}
    for forward in host.forwards:
        node = handlers.get(forward.handler)
        if node is not None and (forward.event is not None or node.id not in around):
            yield from reader.of_function(handlers[forward.handler], forward.arm)
    yield from reader.shared()
    yield from _subscription_conditions(modules, scope, view, host)
    reader = _ConditionReader(view, scope.messages.response)
    answered = {(item.arm, item.place): item.response for item in host.answers}
    for branch in branches:
        response = answered.get((branch.arm, view.place(branch.node)))
        if response is not None:
            yield from reader.of_branch(branch, response)
    yield from reader.shared()


def driver_conditions(
    scope: Scope, view: ClassView, driver: Driver, branches: Iterable[Branch]
) -> Iterator[Behaviour]:
    """Yields the conditions of the requests that a driver sends, and of the events that it emits."""
    yield from _emission_conditions(scope, view, branches)
    reader = _ConditionReader(view, scope.messages.request, raising=False)
    for sending in driver.sends:
        if sending.method in view.methods:
            yield from reader.of_function(view.methods[sending.method], sending.arm)
    yield from reader.shared()


def _emission_conditions(
    scope: Scope, view: ClassView, branches: Iterable[Branch]
) -> Iterator[Behaviour]:
    """Yields the conditions under which a driver emits the events that it receives."""
    for branch in branches:
        emissions = [
            node
            for part in branch.body
            for node in syntax.walk(part)
            if syntax.this_property(node.child_by_field_name("function")) == _EMIT
        ]
        if emissions:
            subject = f"{scope.messages.event}.{branch.arm}"
            texts = conditions(paths_without(branch.body, emissions))
            if branch.value is not None:
                # Whether a table has an entry is no condition on its entries.
                texts = [item for item in texts if not item.isidentifier()]
            place = view.place(branch.node)
            yield condition_fact(subject, within(emissions[0]), texts, place)


def _handler_at(host: Host, view: ClassView, call: Node) -> str:
    place = view.place(call)
    return next((item.handler for item in host.forwards if item.via == place), "")


def _subscription_conditions(
    modules: Modules, scope: Scope, view: ClassView, host: Host
) -> Iterator[Behaviour]:
    """Yields the conditions of subscriptions, except for those that all of them have."""
    paths: dict[int, set[Path]] = {}
    calls, wrappers = {}, dict[int, list[str]]()
    for item in subscriptions(modules, view):
        calls[item.call.id] = item.call
        handler = handler_of(modules, view, item.file, item.handler)
        if handler is not None and handler.wrapper:
            wrappers.setdefault(item.call.id, []).append(handler.wrapper)
    for call in calls.values():
        functions = syntax.enclosing(call, *FUNCTIONS)
        body = statements_of(functions[-1]) if functions else []
        paths[call.id] = set(paths_without(body, [call]))
    common = set.intersection(*paths.values()) if paths else set()
    for call in calls.values():
        # What holds for all of them is left out of the conditions of one.
        own = [
            tuple(test for test in path if (test.inverse,) not in common)
            for path in paths[call.id] - common
        ]
        member = syntax.member(call.child_by_field_name("function"))
        texts = sorted(conditions(own)) + ([_FIRST] if member and member[1] == "once" else [])
        texts += [f"{wrapper} calls it" for wrapper in wrappers.get(call.id, ())]
        place = view.place(call)
        for forward in host.forwards:
            if texts and forward.via == place:
                subject = f"{scope.messages.event}.{forward.arm}"
                yield condition_fact(subject, within(call), texts, place)


class _ConditionReader:
    """Follows the messages of one type. Functions that are given one are shared."""

    def __init__(self, view: ClassView, message: str, raising: bool = True) -> None:
        self._view = view
        self._message = message
        self._raising = raising
        self._given: dict[tuple[int, str], tuple[Node, str]] = {}
        self._arms: dict[int, set[str]] = {}

    def of_function(self, function: Node, arm: str) -> Iterator[Behaviour]:
        """Yields the conditions of an arm in a function and in those that it calls for it."""
        for part in self._view.reachable_code([function]):
            starts = self._starts([part], arm)
            if starts and part.type in FUNCTIONS:
                yield self._fact(arm, part, self._paths(part, statements_of(part), starts))

    def of_branch(self, branch: Branch, arm: str) -> Iterator[Behaviour]:
        """Yields the conditions under which a branch on a request sends its response."""
        body = [
            statement
            for part in branch.body
            for statement in (statements_of(part) if part.type in FUNCTIONS else [part])
        ]
        starts = self._starts(body, arm)
        if starts and branch.value is None:
            yield self._fact(arm, branch.function, self._paths(branch.function, body, starts))
        inner = [item for item in self._view.reachable_code(body) if item.type in FUNCTIONS]
        for function in inner:
            found = self._starts([function], arm)
            if found:
                paths = self._paths(function, statements_of(function), found)
                yield self._fact(arm, function, paths)

    def shared(self) -> Iterator[Behaviour]:
        """Yields the conditions in functions that messages are passed to."""
        seen: set[tuple[int, str]] = set()
        while pending := [key for key in self._given if key not in seen]:
            for key in pending:
                seen.add(key)
                function, name = self._given[key]
                result = flow(self._view, function, uses(function, name))
                self._follow(result)
                names = syntax.parameter_names(function)
                paths = [
                    path
                    for path in paths_without(statements_of(function), result.ends)
                    if result.ends and any(_mentions(test.text, names) for test in path)
                ]
                if paths:
                    yield self._fact("", function, paths)

    def _starts(self, body: Sequence[Node], arm: str) -> list[Node]:
        """Returns the constructions of the message, and the calls that lead to one."""
        return [
            node
            for statement in body
            for node in syntax.walk(statement)
            if self._constructs(node, arm) or self._leads(node, arm)
        ]

    def _constructs(self, node: Node, arm: str) -> bool:
        construction = self._view.construction(node)
        if construction is None or construction.message != self._message:
            return False
        return arm in construction.fields

    def _leads(self, node: Node, arm: str) -> bool:
        called = self._view.called(node) if node.type == "call_expression" else None
        if called is None:
            return False
        if called.id not in self._arms:
            constructions = self._view.constructions([called], self._message)
            self._arms[called.id] = {name for item in constructions for name in item.fields}
        return arm in self._arms[called.id]

    def _paths(self, function: Node, body: Sequence[Node], starts: list[Node]) -> list[Path]:
        """Returns the paths that do not reach a construction, or do not pass the message on."""
        paths = paths_without(body, starts, self._raising)
        result = flow(self._view, function, starts)
        self._follow(result)
        if result.ends:
            paths += paths_without(body, result.ends, self._raising)
        return paths

    def _follow(self, result: Flow) -> None:
        for function, name in result.parameters:
            self._given.setdefault((function.id, name), (function, name))

    def _fact(self, arm: str, function: Node, paths: Iterable[Path]) -> Behaviour:
        subject = f"{self._message}.{arm}" if arm else self._message
        place = self._view.place(function)
        name = within(function) or self._view.name
        own = next((key for key, node in self._view.methods.items() if node == function), "")
        where = ".".join(part for part in (name, own) if part)
        return condition_fact(subject, where, conditions(paths), place)


def _mentions(source: str, names: Iterable[str]) -> bool:
    """Whether a condition depends on one of some variables."""
    return re.search(rf"\b({'|'.join(map(re.escape, names))})\b", source) is not None
