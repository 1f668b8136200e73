"""No line that the command prints is broken: not for any arm, with much in it or with nothing.

Comes in: each event and each response, with each arm of each oneof inside. Goes out: lines that
have no punctuation around nothing, and no bare number where a word belongs.
"""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from agent_session.command.report import TextReport
from agent_session.command.screen import Screen
from agent_session.driver.events import ReceivedEvent
from agent_session_protocol import agent_session_pb2 as pb
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

# Nothing at the end, nothing between, brackets around nothing unless something is called, and the
# number of an enum's value.
BROKEN = re.compile(r"[:,;/→+-]$|[:,;→+] *[,;)]|(?<!\w)\(\)|\( |  |(?<!unknown )77")

# The name of what a line tells, in its column; one that is long has a space behind it.
NAME = r"^(\S+ failed +|.{26})"

# A field's value, as a message of the test holds it.
Value = Callable[[Any], Any]


def zero(field: Any) -> Any:
    return "" if field.type == field.TYPE_STRING else 0


def some(field: Any) -> Any:
    return {field.TYPE_STRING: "text", field.TYPE_BOOL: True, field.TYPE_ENUM: 1}.get(field.type, 3)


def strange(field: Any) -> Any:
    """What only a newer peer can mean."""
    return 77 if field.type == field.TYPE_ENUM else some(field)


def every(kind: Any, value: Value | None, depth: int = 6) -> Iterator[Any]:
    """Messages of a kind with whatever they can hold, and none of its fields if there is no value:
    each arm of each oneof in it is in one of them."""
    yield kind()
    if depth:
        oneofs = [each for each in kind.DESCRIPTOR.oneofs if not each.name.startswith("_")]
        for arms in itertools.product(*(oneof.fields for oneof in oneofs)):
            others = {field.name for oneof in oneofs for field in oneof.fields}
            others -= {arm.name for arm in arms}
            fields = [each for each in kind.DESCRIPTOR.fields if each.name not in others]
            yield from filled(kind, fields, value, depth)


def filled(kind: Any, fields: list[Any], value: Value | None, depth: int) -> Iterator[Any]:
    """Messages with these fields set: as many as any of the fields has values."""
    columns = [(field, values(field, value, depth)) for field in fields]
    for number in range(max((len(column) for _, column in columns), default=0)):
        message = kind()
        for field, column in columns:
            if column:
                put(message, field, column[number % len(column)])
        yield message


def values(field: Any, value: Value | None, depth: int) -> list[Any]:
    if field.message_type is not None and not field.message_type.GetOptions().map_entry:
        return list(every(GetMessageClass(field.message_type), value, depth - 1))
    if value is None:
        return []
    return [value(field)]


def put(message: Any, field: Any, value: Any) -> None:
    held = getattr(message, field.name)
    if isinstance(held, Message):
        held.SetInParent()
        held.CopyFrom(value)
    elif isinstance(held, (str, int, float)):
        setattr(message, field.name, value)
    elif field.message_type is not None and field.message_type.GetOptions().map_entry:
        if field.message_type.fields_by_name["value"].message_type is None:
            held["key"] = "text"
        else:
            held["key"].SetInParent()
    else:
        held.extend([value, value])


def lines(message: Any) -> list[str]:
    """What is printed of a message, without the times, the names and the padding behind them."""
    written = io.StringIO()
    report = TextReport(Screen(written, False))
    if isinstance(message, pb.AgentSessionEvent):
        report.event(ReceivedEvent.of(message))
    else:
        report.answer(message.WhichOneof("response") or "none", message)
    return [re.sub(NAME, "", line[14:]) for line in written.getvalue().splitlines()]


@pytest.mark.parametrize("value", [None, zero, some, strange])
@pytest.mark.parametrize("kind", [pb.AgentSessionEvent, pb.SessionResponse])
def test_each_line_is_complete(kind: type[Message], value: Value | None) -> None:
    arms = set()
    for message in every(kind, value):
        arms.add(message.WhichOneof(kind.DESCRIPTOR.oneofs[0].name))
        told = lines(message)
        assert told and not [line for line in told if BROKEN.search(line)]
    assert len(arms) == len(kind.DESCRIPTOR.oneofs[0].fields) + 1
