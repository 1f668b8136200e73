"""The root of the package's errors, and the errors of transports.

The text of an error contains sizes, limits and addresses, never the bytes of a message, so it can
be logged. The `reason` of a transport that has ended is one of these errors. A later send raises
`TransportClosed` with that reason.
"""

from __future__ import annotations


class AgentSessionError(Exception):
    """The root of all errors that this package defines."""


class TransportError(AgentSessionError):
    """The root of all errors of a transport."""


class NotStarted(TransportError):
    """The transport is not connected yet. Call `start` first."""

    def __init__(self) -> None:
        super().__init__("the transport is not started")


class TransportClosed(TransportError):
    """The transport has ended, and the message was not sent.

    Attributes:
        reason: why the transport ended; None if it was closed on this side or after a clean EOF.
    """

    def __init__(self, reason: TransportError | None = None) -> None:
        why = "" if reason is None else f": {reason}"
        super().__init__(f"the transport is closed{why}")
        self.reason = reason


class ConnectFailed(TransportError):
    """The peer could not be reached. The cause is the system's error. `start` may be retried."""


class TopicInUse(ConnectFailed):
    """Another reader in this process is registered for the session messages of the room."""

    def __init__(self, topic: str) -> None:
        super().__init__(f"the room already has a reader for the topic {topic}")


class ConnectionLost(TransportError):
    """The connection broke without an EOF. The cause is the system's error."""


class SlowConsumer(TransportError):
    """The transport was closed because the peer did not read what was sent to it.

    Attributes:
        queued: the number of bytes in the send queue.
        limit: the largest number of bytes that the send queue may hold.
    """

    def __init__(self, queued: int, limit: int) -> None:
        super().__init__(f"the peer does not read: {queued} bytes are queued, the limit is {limit}")
        self.queued = queued
        self.limit = limit


class SlowReader(TransportError):
    """A participant of a room sent messages faster than this side read them.

    Rooms have no flow control, so the transport is closed.

    Attributes:
        waiting: the number of messages in the receive buffer.
    """

    def __init__(self, waiting: int) -> None:
        super().__init__(f"{waiting} messages are waiting to be read, which is the limit")
        self.waiting = waiting


class ListenerClosed(TransportError):
    """The listener is closed and accepts no more agents."""

    def __init__(self) -> None:
        super().__init__("the listener is closed")


class RemoteAddressRefused(TransportError, ValueError):
    """An address other than loopback was given without `allow_remote=True`.

    Attributes:
        address: the address.
    """

    def __init__(self, address: str) -> None:
        super().__init__(
            f"{address} can be reached from other machines, and a session has no authentication; "
            "pass allow_remote=True to listen there"
        )
        self.address = address


class FrameError(TransportError):
    """The root of errors about one frame."""


class FrameTooLarge(FrameError):
    """A frame exceeds the size limit.

    A received frame of that size ends a transport over a stream. A room transport refuses it, and
    so does every transport a message to be sent: both stay open.

    Attributes:
        size: the length of the message in bytes, as announced by the peer or as encoded here.
        limit: the largest length that is allowed.
    """

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(f"a frame of {size} bytes exceeds the limit of {limit} bytes")
        self.size = size
        self.limit = limit


class MalformedFrame(FrameError):
    """The bytes of a frame are not a valid message. The frame is dropped; the stream continues.

    Attributes:
        index: the number of frames before it on the stream.
        size: its length in bytes.
    """

    def __init__(self, index: int, size: int) -> None:
        super().__init__(f"frame {index} of {size} bytes cannot be parsed")
        self.index = index
        self.size = size


class TruncatedFrame(FrameError):
    """The stream ended in the middle of a frame.

    Attributes:
        received: the number of bytes of the frame that arrived, including its header.
        expected: the length of the whole frame in bytes; None if its header is incomplete.
    """

    def __init__(self, received: int, expected: int | None) -> None:
        of = "" if expected is None else f" of {expected}"
        super().__init__(f"the stream ended in a frame, after {received}{of} bytes")
        self.received = received
        self.expected = expected


class UnencodableMessage(FrameError):
    """A message to be sent cannot be encoded. The cause is the error of protobuf."""

    def __init__(self) -> None:
        super().__init__("the message cannot be encoded")
