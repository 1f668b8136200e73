"""The frame codec, without I/O.

A frame is a length, 4 bytes big-endian, and a message of that length. Comes in: the bytes of a
stream, in chunks of any size. Goes out: messages, and named errors as values; whatever the bytes
are, nothing is raised. The other way, `encode_frame` makes the frame of one message.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from agent_session_protocol.agent_session_pb2 import AgentSessionMessage
from google.protobuf.message import DecodeError, EncodeError

from ..errors import FrameError, FrameTooLarge, MalformedFrame, TruncatedFrame, UnencodableMessage

MAX_FRAME_SIZE: Final = 1 << 20
"""The length of the longest message that may travel, in bytes, in either direction."""

HEADER_SIZE: Final = 4

_HEADER: Final = Struct(">I")
_LENGTH_DELIMITED: Final = 2

# An arm is written before fields that this build does not know, so its tag is what a message
# begins with: it can be told from the frame, at any time, and without asking the message.
_AUDIO_TAGS: Final = frozenset(
    bytes([AgentSessionMessage.DESCRIPTOR.fields_by_name[arm].number << 3 | _LENGTH_DELIMITED])
    for arm in ("audio_input", "audio_output")
)

# protobuf written in Python leaks what its parser stumbles over.
_UNPARSABLE: Final = (DecodeError, ValueError, RecursionError)


def encode_frame(message: AgentSessionMessage, limit: int = MAX_FRAME_SIZE) -> bytes:
    """The frame of a message.

    Raises:
        FrameTooLarge: the message is longer than the limit.
        UnencodableMessage: protobuf cannot encode it.
    """
    try:
        body = message.SerializeToString()
    except (EncodeError, ValueError, RecursionError) as error:
        raise UnencodableMessage from error
    size = len(body)
    if size > limit:
        raise FrameTooLarge(size, limit)
    return _HEADER.pack(size) + body


def is_audio(frame: bytes) -> bool:
    """Whether a frame carries audio, which may be dropped for a peer that is too slow."""
    return frame[HEADER_SIZE : HEADER_SIZE + 1] in _AUDIO_TAGS


class FrameDecoder:
    """Cuts one stream into messages.

    Attributes:
        error: why the stream is over; None while it goes on, and after a clean EOF.
        refused: frames that did not parse, since the caller last cleared the list.
        taken: bytes of the frames that the last `receive` completed.
    """

    __slots__ = ("error", "refused", "taken", "_limit", "_partial", "_wanted", "_index")

    def __init__(self, limit: int = MAX_FRAME_SIZE) -> None:
        self.error: FrameError | None = None
        self.refused: list[MalformedFrame] = []
        self.taken = 0
        self._limit = limit
        # The beginning of a frame, and how many bytes of it are worth another look.
        self._partial = bytearray()
        self._wanted = 0
        self._index = 0

    def receive(self, data: bytes) -> list[AgentSessionMessage]:
        """Take the next bytes of the stream; return the messages that they complete.

        After an error all further bytes are ignored.
        """
        self.taken = 0
        if self.error is not None:
            return []
        if not self._partial:
            return self._decode(data)
        # Bytes gather until they complete a header or a frame: each is copied a constant number
        # of times, however small the chunks.
        self._partial += data
        if len(self._partial) < self._wanted:
            return []
        data = bytes(self._partial)
        self._partial.clear()
        return self._decode(data)

    def receive_eof(self) -> FrameError | None:
        """Take the end of the stream; return what is wrong with it, if anything."""
        if self.error is None and self._partial:
            received = len(self._partial)
            expected = self._wanted if received >= HEADER_SIZE else None
            self.error = TruncatedFrame(received, expected)
            self._partial.clear()
        return self.error

    def _decode(self, data: bytes) -> list[AgentSessionMessage]:
        """Decode all whole frames, and keep the rest."""
        messages: list[AgentSessionMessage] = []
        add, parse, unpack = messages.append, AgentSessionMessage.FromString, _HEADER.unpack_from
        limit, available, start, wanted = self._limit, len(data), 0, HEADER_SIZE
        while (body := start + HEADER_SIZE) <= available:
            size: int = unpack(data, start)[0]
            if size > limit:
                self.error = FrameTooLarge(size, limit)
                return messages
            end = body + size
            if end > available:
                wanted = HEADER_SIZE + size
                break
            if size:
                try:
                    add(parse(data[body:end]))
                except _UNPARSABLE:
                    self.refused.append(MalformedFrame(self._index, size))
            self._index += 1
            start = end
        self.taken = start
        if start < available:
            self._partial += data[start:]
            self._wanted = wanted
        return messages
