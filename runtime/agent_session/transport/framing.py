"""The frame codec, without I/O.

A frame is a header of 4 bytes, which holds the length of the message as a big-endian number, and
the encoded message. `encode_frame` makes the frame of a message; `FrameDecoder` splits a stream,
received in chunks of any size, into messages. The decoder never raises: it reports errors as
values.
"""

from __future__ import annotations

from struct import Struct
from typing import Final, Generic

from google.protobuf.message import DecodeError, EncodeError, Message

from ..errors import FrameError, FrameTooLarge, MalformedFrame, TruncatedFrame, UnencodableMessage
from .message_format import HEADER_SIZE, M
from .error_responses import START_SIZE

MAX_FRAME_SIZE: Final = 1 << 20
"""The size limit of a message on a stream, in bytes, in either direction."""

_HEADER: Final = Struct(">I")

# The headers of short messages: a lookup is faster than packing the length.
_SHORT: Final = 256
_SHORT_HEADERS: Final = tuple(map(_HEADER.pack, range(_SHORT)))

# The pure Python implementation of protobuf also raises errors other than DecodeError.
UNPARSABLE: Final = (DecodeError, ValueError, RecursionError)
"""The errors that protobuf raises for bytes that are not a message."""


def encode_frame(message: Message, limit: int = MAX_FRAME_SIZE) -> bytes:
    """Returns the frame of a message.

    Raises:
        FrameTooLarge: the message is longer than the limit.
        UnencodableMessage: protobuf cannot encode the message.
    """
    try:
        body = message.SerializeToString()
    except (EncodeError, ValueError, RecursionError) as error:
        raise UnencodableMessage from error
    size = len(body)
    if size > limit:
        raise FrameTooLarge(size, limit)
    if size < _SHORT:
        return _SHORT_HEADERS[size] + body
    return _HEADER.pack(size) + body


class FrameDecoder(Generic[M]):
    """Decodes the frames of one stream.

    Args:
        message_class: the class of the messages.
        limit: the size limit of a message, in bytes.

    Attributes:
        error: why decoding stopped; None while it continues, and after a clean EOF.
        refused: frames that did not parse, since the caller last cleared the list.
        refused_starts: the first bytes of the message in each of these frames.
        consumed: bytes of the frames that the last `receive` completed.
    """

    __slots__ = (
        "error",
        "refused",
        "refused_starts",
        "consumed",
        "_message_class",
        "_limit",
        "_partial",
        "_needed",
        "_index",
    )

    def __init__(self, message_class: type[M], limit: int = MAX_FRAME_SIZE) -> None:
        self.error: FrameError | None = None
        self.refused: list[MalformedFrame] = []
        self.refused_starts: list[bytes] = []
        self.consumed = 0
        self._message_class = message_class
        self._limit = limit
        # The start of an incomplete frame, and how many bytes of it the next step needs.
        self._partial = bytearray()
        self._needed = 0
        self._index = 0

    def receive(self, data: bytes) -> list[M]:
        """Decodes the next bytes of the stream, and returns the messages that they complete.

        After an error, further bytes are ignored.
        """
        self.consumed = 0
        if self.error is not None:
            return []
        if not self._partial:
            return self._decode(data)
        # Decoding waits until a header or a frame is complete, so that each byte is copied a
        # constant number of times even if the chunks are small.
        self._partial += data
        if len(self._partial) < self._needed:
            return []
        data = bytes(self._partial)
        self._partial.clear()
        return self._decode(data)

    def receive_eof(self) -> FrameError | None:
        """Marks the end of the stream. Returns the error of the stream, or None for a clean EOF."""
        if self.error is None and self._partial:
            received = len(self._partial)
            expected = self._needed if received >= HEADER_SIZE else None
            self.error = TruncatedFrame(received, expected)
            self._partial.clear()
        return self.error

    def _decode(self, data: bytes) -> list[M]:
        """Decodes all complete frames, and keeps the rest."""
        messages: list[M] = []
        add, parse, unpack = messages.append, self._message_class.FromString, _HEADER.unpack_from
        limit, available, start, needed = self._limit, len(data), 0, HEADER_SIZE
        index = self._index
        while (body := start + HEADER_SIZE) <= available:
            size: int = unpack(data, start)[0]
            if size > limit:
                self.error = FrameTooLarge(size, limit)
                return messages
            end = body + size
            if end > available:
                needed = HEADER_SIZE + size
                break
            if size:
                try:
                    add(parse(data[body:end]))
                except UNPARSABLE:
                    self.refused.append(MalformedFrame(index, size))
                    self.refused_starts.append(data[body : min(end, body + START_SIZE)])
            index += 1
            start = end
        self.consumed = start
        self._index = index
        if start < available:
            self._partial += data[start:]
            self._needed = needed
        return messages
