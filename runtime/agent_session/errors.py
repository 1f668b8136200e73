"""What can go wrong with a transport, by name.

Comes in: facts about a frame or a connection. Goes out: an error that tells them, and never a
byte of what was sent, so that it can be logged. A transport that ends gives one of them as its
reason, and a send on it raises `TransportClosed`, which carries that reason.
"""

from __future__ import annotations


class TransportError(Exception):
    """The root of all errors of a transport."""


class NotStarted(TransportError):
    """A send on a transport that is not connected yet; `start` it first."""

    def __init__(self) -> None:
        super().__init__("the transport is not started")


class TransportClosed(TransportError):
    """A send on a transport that has ended: the message was not delivered.

    Attributes:
        reason: why the transport ended; None after a clean EOF or a close of one's own.
    """

    def __init__(self, reason: TransportError | None = None) -> None:
        why = "" if reason is None else f": {reason}"
        super().__init__(f"the transport is closed{why}")
        self.reason = reason


class ConnectFailed(TransportError):
    """The peer could not be reached; the cause is the system's own error. May be tried again."""


class TopicInUse(ConnectFailed):
    """Something else in this process reads the session messages of the room."""

    def __init__(self, topic: str) -> None:
        super().__init__(f"the room already has a reader for the topic {topic}")


class ConnectionLost(TransportError):
    """The connection broke, without an EOF; the cause is the system's own error."""


class SlowConsumer(TransportError):
    """The peer did not read what it was sent, and the transport was closed for it.

    Attributes:
        queued: bytes that waited for the peer.
        limit: bytes that may wait.
    """

    def __init__(self, queued: int, limit: int) -> None:
        super().__init__(f"the peer does not read: {queued} bytes wait, {limit} may")
        self.queued = queued
        self.limit = limit


class SlowReader(TransportError):
    """A participant of a room sent much more than was read here; nothing can slow it down.

    Attributes:
        waiting: messages that waited to be read.
    """

    def __init__(self, waiting: int) -> None:
        super().__init__(f"{waiting} messages wait to be read, and no more may")
        self.waiting = waiting


class ListenerClosed(TransportError):
    """The listener was closed, and accepts no more agents."""

    def __init__(self) -> None:
        super().__init__("the listener is closed")


class RemoteAddressRefused(TransportError, ValueError):
    """A listener was to be bound beyond loopback without `allow_remote=True`.

    Attributes:
        address: the address that is not a loopback address.
    """

    def __init__(self, address: str) -> None:
        super().__init__(
            f"{address} can be reached from other machines, and a session has no authentication; "
            "say allow_remote=True if that is meant"
        )
        self.address = address


class FrameError(TransportError):
    """The root of errors about one frame."""


class FrameTooLarge(FrameError):
    """A frame over the limit. Inbound it ends the stream, outbound it is refused to the sender.

    Attributes:
        size: the message's length in bytes, as announced or as encoded.
        limit: the length that is allowed.
    """

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(f"a frame of {size} bytes, {limit} are allowed")
        self.size = size
        self.limit = limit


class MalformedFrame(FrameError):
    """A frame whose bytes are no message: this frame is refused, the stream goes on.

    Attributes:
        index: how many frames came before it on the stream.
        size: its length in bytes.
    """

    def __init__(self, index: int, size: int) -> None:
        super().__init__(f"frame {index}, of {size} bytes, does not parse")
        self.index = index
        self.size = size


class TruncatedFrame(FrameError):
    """The stream ended in the middle of a frame.

    Attributes:
        received: bytes of the frame that came, its header included.
        expected: bytes of the whole frame; None if that was not known, as in the middle of a header.
    """

    def __init__(self, received: int, expected: int | None) -> None:
        of = "unknown length" if expected is None else f"{expected}"
        super().__init__(f"the stream ended {received} bytes into a frame, of {of}")
        self.received = received
        self.expected = expected


class UnencodableMessage(FrameError):
    """An outbound message that protobuf cannot encode; the cause is its own error."""

    def __init__(self) -> None:
        super().__init__("the message cannot be encoded")
