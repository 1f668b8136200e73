"""The description of a protocol's messages that a transport needs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Generic, TypeVar

from google.protobuf.message import Message

from .correlation import Correlation

M = TypeVar("M", bound=Message)

HEADER_SIZE: Final = 4
"""The length of the header of a frame, in bytes."""

_LENGTH_DELIMITED: Final = 2


class MessageFormat(Generic[M]):
    """The messages of one protocol: their class, and which of them may be dropped.

    Args:
        message_class: the class of all messages, such as a protocol's envelope.
        correlation: how responses are matched with requests, so that the request of a message that
            cannot be read fails; None if the protocol has none.
        droppable: names of fields. A message that has one of them set may be dropped when the
            peer is too slow, such as audio. Each must be a submessage, a string or bytes, and no
            field that can be set together with it may have a lower number.

    Raises:
        ValueError: a field is missing, or is not suitable.

    Attributes:
        droppable_first_bytes: the numbers of the bytes that droppable messages begin with. Other
            messages may begin with them as well.
    """

    __slots__ = ("message_class", "correlation", "droppable_first_bytes", "_droppable_tags")

    def __init__(
        self,
        message_class: type[M],
        *,
        correlation: Correlation | None = None,
        droppable: Iterable[str] = (),
    ) -> None:
        self.message_class: Final = message_class
        self.correlation: Final = correlation
        # Protobuf writes fields in the order of their numbers, and unknown fields last. The first
        # tag of an encoded message therefore shows which field is set, without decoding it.
        self._droppable_tags: Final = tuple(_leading_tag(message_class, name) for name in droppable)
        self.droppable_first_bytes: Final = frozenset(tag[0] for tag in self._droppable_tags)

    def is_droppable(self, frame: bytes) -> bool:
        """Reports whether the message in a frame may be dropped for a peer that is too slow."""
        return frame.startswith(self._droppable_tags, HEADER_SIZE)


def _leading_tag(message_class: type[Message], name: str) -> bytes:
    """Returns the bytes that an encoded message begins with if the field is set, and only then."""
    descriptor = message_class.DESCRIPTOR
    field = descriptor.fields_by_name.get(name)
    if field is None:
        raise ValueError(f"{descriptor.full_name} has no field {name}")
    if field.type not in (field.TYPE_MESSAGE, field.TYPE_STRING, field.TYPE_BYTES):
        raise ValueError(f"{field.full_name} is neither a message nor a string nor bytes")
    for other in descriptor.fields:
        exclusive = field.containing_oneof and other.containing_oneof is field.containing_oneof
        if other.number < field.number and not exclusive:
            raise ValueError(f"{other.full_name} can be encoded before {name}")
    return _varint(field.number << 3 | _LENGTH_DELIMITED)


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])
