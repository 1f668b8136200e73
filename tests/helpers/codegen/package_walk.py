"""Walks over every union, request and event of a generated package.

It compares what generated code does with the descriptors, which it reads with protobuf alone.
"""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
from collections.abc import Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Protocol, get_args, get_origin, get_type_hints

import filled_messages
import pytest
from google.protobuf.message import Message


class Modules(Protocol):
    """A generated package, by the names of its modules."""

    def module(self, name: str) -> ModuleType:
        """Imports a module of the package."""
        ...


@dataclass(frozen=True)
class Facts:
    """Facts about a protocol, collected by hand: the names of the fields with a role.

    pairs: request arm to response arm, for those that differ.
    """

    correlation: str | None = "request_id"
    error: str | None = None
    timestamp: str | None = None
    pairs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Union:
    """A real oneof of the package, and its handlers and function in dispatch.py."""

    message: type[Any]
    oneof: Any
    handlers: type[Any]
    dispatch: Any


def unions(package: Modules) -> list[Union]:
    """Returns the unions in dispatch.py with their oneofs."""
    module = package.module("dispatch")
    result = []
    for name, function in vars(module).items():
        if not name.startswith("dispatch_"):
            continue
        hints = get_type_hints(function)
        handlers = get_origin(hints["handlers"])
        arms = get_args(getattr(module, handlers.__name__.removesuffix("Handlers") + "Arm"))
        oneof = next(
            item
            for item in hints["message"].DESCRIPTOR.oneofs
            if tuple(arm.name for arm in item.fields) == arms
        )
        result.append(Union(hints["message"], oneof, handlers, function))
    return result


def real_oneofs(package: Modules) -> set[str]:
    """Returns the full names of the real oneofs of the protocol's messages."""
    names = set()
    todo = [item.message.DESCRIPTOR.file for item in unions(package)]
    files = {}
    while todo:
        file = todo.pop()
        if file.name not in files and not file.name.startswith("google/protobuf/"):
            files[file.name] = file
            todo += file.dependencies
    for file in files.values():
        for message in filled_messages.nested(file.message_types_by_name.values()):
            names |= {
                item.full_name for item in message.oneofs if not filled_messages.synthetic(item)
            }
    return names


def check_dispatch(package: Modules) -> int:
    """Round-trip each arm of each union through its total handler table."""
    module = package.module("dispatch")
    all_unions = unions(package)
    assert {item.oneof.full_name for item in all_unions} == real_oneofs(package)
    tables = [item for name, item in vars(module).items() if name.endswith("_ARMS")]
    assert len(tables) == len(all_unions)
    count = 0
    for union in all_unions:
        numbers = {arm.name: arm.number for arm in union.oneof.fields}
        assert numbers in [{k: v.number for k, v in item.items()} for item in tables]
        attributes = [item.name for item in dataclasses.fields(union.handlers)]
        for index, arm in enumerate(union.oneof.fields):
            _check_arm(union, arm, attributes, index)
            count += 1
        _check_unknown_dispatch(package, union, attributes)
    return count


def _check_arm(union: Union, arm: Any, attributes: list[str], index: int) -> None:
    message = filled_messages.filled(union.message, arm)
    message = union.message.FromString(message.SerializeToString())
    calls: list[tuple[str, Any]] = []

    def recorder(attribute: str) -> Any:
        def record(payload: Any) -> str:
            calls.append((attribute, payload))
            return attribute

        return record

    handlers = union.handlers(**{name: recorder(name) for name in attributes})
    assert union.dispatch(message, handlers) == attributes[index]
    assert calls == [(attributes[index], getattr(message, arm.name))]
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(handlers, attributes[0], None)


def _check_unknown_dispatch(package: Modules, union: Union, attributes: list[str]) -> None:
    errors = package.module("errors")
    handlers = union.handlers(**{name: pytest.fail for name in attributes})
    for message, number in unknown_messages(union.message, union.oneof):
        with pytest.raises(errors.UnknownArmError) as caught:
            union.dispatch(message, handlers)
        assert caught.value.number == number
        assert caught.value.oneof == union.oneof.full_name


def unknown_messages(class_: type[Any], oneof: Any) -> Iterator[tuple[Message, int | None]]:
    """Yields a message without an arm of a oneof, and messages with unknown arms."""
    plain = filled_messages.filled(class_, None, oneof)
    yield plain, None
    number = filled_messages.free_number(class_)
    for payload in (b"\x0a\x01x", b""):
        data = plain.SerializeToString() + filled_messages.delimited(number, payload)
        yield class_.FromString(data), number
    data = (
        plain.SerializeToString() + filled_messages.varint(number << 3) + filled_messages.varint(7)
    )
    yield class_.FromString(data), number


# ---------------------------------------------------------------------------------------
# Requests.


def run(awaited: Coroutine[Any, Any, Any]) -> Any:
    """Runs a coroutine and returns its result.

    The result is not the task's own: asyncio shows tasks by reprlib, which takes a message
    of a class named `str` for a str.
    """
    results = []

    async def store_result() -> None:
        results.append(await awaited)

    asyncio.run(store_result())
    return results[0]


class Calls:
    """A handler and a client of a package that exchange bytes in memory."""

    def __init__(self, package: Modules, facts: Facts) -> None:
        self.facts = facts
        self.requests = package.module("requests")
        self.client_module = package.module("client")
        self.errors = package.module("errors")
        hints = get_type_hints(self.requests.answer)
        self.handler, self.request, self.response = (
            hints["handler"],
            hints["request"],
            hints["return"],
        )
        self.arms = list(filled_messages.union(self.request).fields)
        abstract = [n for n, f in vars(self.handler).items() if _abstract(f)]
        self.methods = dict(zip([arm.name for arm in self.arms], abstract, strict=True))
        self.client_class = _only(self.client_module, "Client")
        named = [n for n, f in vars(self.client_class).items() if inspect.iscoroutinefunction(f)]
        named = [name for name in named if name != "send"]
        self.client_methods = dict(zip(self.methods, named, strict=True))

    def answer_arm(self, arm: str) -> Any:
        """Returns the response arm that answers a request arm."""
        name = self.facts.pairs.get(arm, arm)
        return filled_messages.union(self.response).containing_type.fields_by_name[name]

    def recording(self, calls: list[tuple[str, Any]], result: Any) -> Any:
        """Returns a handler that records each call and returns `result(arm)`."""

        def method(arm: str) -> Any:
            async def handle(_: Any, payload: Any) -> Any:
                calls.append((arm, payload))
                return result(arm)

            return handle

        body = {name: method(arm) for arm, name in self.methods.items()}
        return type("Recording", (self.handler,), body)()

    def result(self, arm: str) -> Any:
        """Returns the payload that a handler answers an arm with."""
        response_arm = self.answer_arm(arm)
        return getattr(filled_messages.filled(self.response, response_arm), response_arm.name)

    def arguments(self, method: Any, request: Any, arm: Any) -> dict[str, Any]:
        """Returns the arguments with which a client's method sends a request."""
        special = {self.facts.correlation} - {None}
        return filled_messages.arguments(method, request, arm, special, frozenset({"timeout"}))

    def client(self, handler: Any, sent: list[Any]) -> Any:
        """Returns a client whose `send` passes the request, as bytes, to a handler."""

        async def send(_: Any, request: Any, timeout: float | None = None) -> Any:
            assert timeout == 2.5
            if self.facts.correlation is not None:
                correlation = filled_messages.value_of(request.DESCRIPTOR, self.facts.correlation)
                setattr(request, self.facts.correlation, correlation)
            sent.append(self.request.FromString(request.SerializeToString()))
            response = await self.requests.answer(handler, sent[-1])
            return self.response.FromString(response.SerializeToString())

        return type("Client", (self.client_class,), {"send": send})()


def check_requests(package: Modules, facts: Facts) -> None:
    """Answers each request, and sends it through the client."""
    calls = Calls(package, facts)
    for arm in calls.arms:
        _check_answer(calls, arm)
        _check_uncorrelated(calls, arm)
        _check_client(calls, arm)
        _check_refusal(calls, arm)
    _check_unknown_request(calls)
    _check_unknown_response(calls)


def _check_answer(calls: Calls, arm: Any) -> None:
    seen: list[tuple[str, Any]] = []
    handler = calls.recording(seen, calls.result)
    request = filled_messages.filled(calls.request, arm)
    response = run(calls.requests.answer(handler, request))
    response = calls.response.FromString(response.SerializeToString())
    answer_arm = calls.answer_arm(arm.name)
    expected = filled_messages.filled(calls.response, answer_arm)
    for outer in calls.response.DESCRIPTOR.fields:
        is_arm = outer.containing_oneof == answer_arm.containing_oneof
        if not is_arm and outer.name != calls.facts.correlation:
            expected.ClearField(outer.name)
    if calls.facts.correlation is not None:
        name = calls.facts.correlation
        setattr(expected, name, getattr(request, name))
    assert seen == [(arm.name, getattr(request, arm.name))]
    assert response == expected


def _check_uncorrelated(calls: Calls, arm: Any) -> None:
    """Checks that the response to a request without a correlation id has none."""
    name = calls.facts.correlation
    if name is None:
        return
    request, response = filled_messages.filled(calls.request, arm), calls.response()
    request.ClearField(name)
    handler = calls.recording([], calls.result)
    assert run(calls.requests.answer(handler, request, response)) is response
    assert response.WhichOneof(filled_messages.union(calls.response).name) is not None
    request_field, response_field = (
        item.DESCRIPTOR.fields_by_name[name] for item in (request, response)
    )
    assert getattr(response, name) == getattr(request, name)
    if request_field.has_presence and response_field.has_presence:
        assert not response.HasField(name)


def _check_client(calls: Calls, arm: Any) -> None:
    seen: list[tuple[str, Any]] = []
    sent: list[Any] = []
    client = calls.client(calls.recording(seen, calls.result), sent)
    request = filled_messages.filled(calls.request, arm)
    method = getattr(client, calls.client_methods[arm.name])
    arguments = calls.arguments(method, request, arm)
    result = run(method(**arguments, timeout=2.5))
    if calls.facts.correlation is not None:
        setattr(request, calls.facts.correlation, getattr(sent[0], calls.facts.correlation))
    assert sent == [request]
    assert seen == [(arm.name, getattr(request, arm.name))]
    assert result == calls.result(arm.name)


def _check_refusal(calls: Calls, arm: Any) -> None:
    """Checks that a RequestError reaches the caller with its payload."""
    payload = calls.result(arm.name)

    def refuse(_: str) -> Any:
        raise calls.errors.RequestError("not now", payload)

    client = calls.client(calls.recording([], refuse), [])
    method = getattr(client, calls.client_methods[arm.name])
    request = filled_messages.filled(calls.request, arm)
    arguments = calls.arguments(method, request, arm)
    with pytest.raises(calls.errors.RequestError) as caught:
        run(method(**arguments, timeout=2.5))
    assert caught.value.message == str(caught.value) == "not now"
    assert caught.value.payload == payload


def _check_unknown_request(calls: Calls) -> None:
    handler = calls.recording([], pytest.fail)
    for request, number in unknown_messages(calls.request, filled_messages.union(calls.request)):
        if calls.facts.error is None:
            with pytest.raises(calls.errors.UnknownArmError) as caught:
                run(calls.requests.answer(handler, request))
            assert caught.value.number == number
            continue
        response = run(calls.requests.answer(handler, request))
        reason = "no arm is set" if number is None else f"field {number}"
        assert getattr(response, calls.facts.error) == f"unimplemented request: {reason}"
        assert response.WhichOneof(filled_messages.union(calls.response).name) is None


def _check_unknown_response(calls: Calls) -> None:
    arm = calls.arms[0]
    for response, number in unknown_messages(calls.response, filled_messages.union(calls.response)):
        if calls.facts.error is not None:
            response.ClearField(calls.facts.error)

        async def send(_: Any, request: Any, timeout: Any = None, response: Any = response) -> Any:
            return response

        client = type("Client", (calls.client_class,), {"send": send})()
        method = getattr(client, calls.client_methods[arm.name])
        request = filled_messages.filled(calls.request, arm)
        arguments = calls.arguments(method, request, arm)
        with pytest.raises(calls.errors.UnexpectedArmError) as caught:
            run(method(**arguments))
        expected = calls.answer_arm(arm.name).name
        assert (caught.value.expected, caught.value.arm) == (expected, None)
        assert caught.value.number == number


# ---------------------------------------------------------------------------------------
# Events.


def check_events(package: Modules, facts: Facts) -> None:
    """Emits each event through the sink and delivers it to listeners."""
    events = package.module("events")
    sink_class, listeners_class = _only(events, "Sink"), _only(events, "Listeners")
    class_ = get_type_hints(sink_class.emit)["event"]
    arms = list(filled_messages.union(class_).fields)
    assert list(events.SDK_EVENTS) == [arm.name for arm in arms]
    emitted: list[Any] = []
    sink = type("Sink", (sink_class,), {"emit": lambda _, event: emitted.append(event)})()
    functions = [
        n
        for n, f in vars(sink_class).items()
        if inspect.isfunction(f) and n not in ("emit", "_emit")
    ]
    own = ("__init__", "on_unknown", "deliver", "_add")
    adders = [n for n, f in vars(listeners_class).items() if inspect.isfunction(f) and n not in own]
    listeners, heard = listeners_class(), list[tuple[str, Any, Any]]()
    for arm, adder in zip(arms, adders, strict=True):
        getattr(listeners, adder)(lambda p, e, name=arm.name: heard.append((name, p, e)))
    listeners.on_unknown(lambda number, event: heard.append(("", number, event)))
    for arm, name in zip(arms, functions, strict=True):
        expected = filled_messages.filled(class_, arm)
        getattr(sink, name)(**filled_messages.arguments(getattr(sink, name), expected, arm, set()))
        event = class_.FromString(emitted.pop().SerializeToString())
        assert event == expected, name
        listeners.deliver(event)
        assert heard == [(arm.name, getattr(event, arm.name), event)]
        heard.clear()
    for unknown, number in unknown_messages(class_, filled_messages.union(class_)):
        listeners.deliver(unknown)
        assert heard == [("", number, unknown)]
        heard.clear()


def _abstract(value: object) -> bool:
    return bool(getattr(value, "__isabstractmethod__", False))


def _only(module: Any, suffix: str) -> Any:
    """Returns the one class that a module defines whose name ends in `suffix`."""
    (class_,) = [
        item
        for name, item in vars(module).items()
        if inspect.isclass(item) and item.__module__ == module.__name__ and name.endswith(suffix)
    ]
    return class_
