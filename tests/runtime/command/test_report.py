"""The lines that the command prints for all events and responses, with all or no fields set.

No line may have punctuation around an empty text, or a number in place of a name.
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

# Punctuation at the end or before punctuation, empty brackets except in a call, several spaces, and
# the number of an enum's value.
BROKEN = re.compile(r"[:,;/→+-]$|[:,;→+] *[,;)]|(?<!\w)\(\)|\( |  |(?<!unknown )77")

# The column of the name. A long name is followed by a space.
NAME = r"^(\S+ failed +|.{26})"

# Returns the value of a field for a message.
Value = Callable[[Any], Any]


def zero(field: Any) -> Any:
    return "" if field.type == field.TYPE_STRING else 0


def some(field: Any) -> Any:
    return {field.TYPE_STRING: "text", field.TYPE_BOOL: True, field.TYPE_ENUM: 1}.get(field.type, 3)


def unknown_value(field: Any) -> Any:
    """Returns a value that only a newer peer sends."""
    return 77 if field.type == field.TYPE_ENUM else some(field)


def every(kind: Any, value: Value | None, depth: int = 6) -> Iterator[Any]:
    """Yields messages of a class. Each arm of each oneof is set in at least one of them.

    If there is no value function, only message fields are set.
    """
    yield kind()
    if depth:
        oneofs = [each for each in kind.DESCRIPTOR.oneofs if not each.name.startswith("_")]
        for arms in itertools.product(*(oneof.fields for oneof in oneofs)):
            others = {field.name for oneof in oneofs for field in oneof.fields}
            others -= {arm.name for arm in arms}
            fields = [each for each in kind.DESCRIPTOR.fields if each.name not in others]
            yield from filled(kind, fields, value, depth)


def filled(kind: Any, fields: list[Any], value: Value | None, depth: int) -> Iterator[Any]:
    """Yields messages with some fields set, so that each value of each field occurs."""
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
    current = getattr(message, field.name)
    if isinstance(current, Message):
        current.SetInParent()
        current.CopyFrom(value)
    elif isinstance(current, (str, int, float)):
        setattr(message, field.name, value)
    elif field.message_type is not None and field.message_type.GetOptions().map_entry:
        if field.message_type.fields_by_name["value"].message_type is None:
            current["key"] = "text"
        else:
            current["key"].SetInParent()
    else:
        current.extend([value, value])


def lines(message: Any) -> list[str]:
    """Returns the lines for a message, without the columns of the time and the name."""
    written = io.StringIO()
    report = TextReport(Screen(written, False))
    if isinstance(message, pb.AgentSessionEvent):
        report.event(ReceivedEvent.of(message))
    else:
        report.answer(message.WhichOneof("response") or "none", message)
    return [re.sub(NAME, "", line[14:]) for line in written.getvalue().splitlines()]


@pytest.mark.parametrize("value", [None, zero, some, unknown_value])
@pytest.mark.parametrize("kind", [pb.AgentSessionEvent, pb.SessionResponse])
def test_each_line_is_complete(kind: type[Message], value: Value | None) -> None:
    arms = set()
    for message in every(kind, value):
        arms.add(message.WhichOneof(kind.DESCRIPTOR.oneofs[0].name))
        printed = lines(message)
        assert printed and not [line for line in printed if BROKEN.search(line)]
    assert len(arms) == len(kind.DESCRIPTOR.oneofs[0].fields) + 1
