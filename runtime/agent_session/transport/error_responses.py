"""Error responses in place of messages that cannot be read, so that their requests fail at once.

A message over the size limit is not read to its end, and one that nests too deep does not parse. The
first bytes of a message show which request it concerns, since protobuf writes fields in the order of
their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Generic

from google.protobuf.message import Message

from ..errors import FrameError
from .correlation import Correlation
from .message_format import M

_LENGTH_DELIMITED: Final = 2

START_SIZE: Final = 1 << 10
"""How many bytes of a message are enough to find its request id."""


@dataclass(frozen=True)
class ErrorResponse(Generic[M]):
    """The answer in place of a message that cannot be read.

    Attributes:
        answer: a response with an error.
        is_response: whether the message was a response itself, so that the answer is for this side.
    """

    answer: M
    is_response: bool


def error_response(
    message_class: type[M], correlation: Correlation | None, start: bytes, error: FrameError
) -> ErrorResponse[M] | None:
    """Returns the error response in place of a message; None if it concerns no request.

    Args:
        message_class: the class of the message.
        correlation: how responses are matched with requests; None if the protocol has neither.
        start: the first bytes of the message.
        error: why the message is refused.
    """
    if correlation is None or correlation.error is None:
        return None
    for kind in (correlation.request, correlation.response):
        request_id = _request_id(message_class, kind, correlation.request_id, start)
        if request_id:
            answer = message_class()
            response = getattr(answer, correlation.response)
            setattr(response, correlation.request_id, request_id)
            setattr(response, correlation.error, f"the {kind} was refused: {error}")
            return ErrorResponse(answer, kind == correlation.response)
    return None


def _request_id(message_class: type[Message], kind: str, name: str, start: bytes) -> str:
    """Returns the request id in the field `kind` of a message, or "" if there is none."""
    field = message_class.DESCRIPTOR.fields_by_name[kind]
    assert field.message_type is not None
    number = field.message_type.fields_by_name[name].number
    content = dict(_leading_fields(start)).get(field.number, b"")
    try:
        return dict(_leading_fields(content)).get(number, b"").decode()
    except UnicodeDecodeError:
        return ""


def _leading_fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields the fields at the start of a message up to the first one that has a fixed length.

    The content of the last field may be cut off.
    """
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        if tag & 7 != _LENGTH_DELIMITED:
            return
        size, position = _varint(data, position)
        yield tag >> 3, data[position : position + size]
        position += size


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """Returns a number and the position after it. A number that is cut off is incomplete."""
    value = shift = 0
    while position < len(data):
        byte = data[position]
        value |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            break
    return value, position
