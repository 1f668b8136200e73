"""The limits of a transport."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..timeouts import check_timeouts
from .framing import MAX_FRAME_SIZE
from .message_format import HEADER_SIZE


@dataclass(frozen=True)
class StreamLimits:
    """Limits of a transport, in bytes and in seconds.

    Attributes:
        send_queue: bytes that may wait to be sent to a slow peer.
        receive_queue: bytes that may wait for the local reader before the transport stops reading
            from the peer.
        stall_timeout: how long `send` waits for a peer that does not read.
        close_timeout: how long `close` takes at most.
        linger: how long `close` waits for the peer to close as well. If the connection is closed
            earlier, the system may discard data that the peer has not read.
        room_message_size: the size limit of a message in a room, in either direction. A message on
            a TCP connection is limited to `MAX_FRAME_SIZE` by the protocol. A room may hold one
            message of this size in addition to the send queue.
    """

    send_queue: int = 8 << 20
    receive_queue: int = 1 << 20
    stall_timeout: float = 10.0
    close_timeout: float = 3.0
    linger: float = 0.25
    room_message_size: int = 16 << 20

    def __post_init__(self) -> None:
        if self.send_queue < HEADER_SIZE + MAX_FRAME_SIZE:
            raise ValueError("the send queue must hold the largest frame")
        check_timeouts(
            stall_timeout=self.stall_timeout, close_timeout=self.close_timeout, linger=self.linger
        )


DEFAULT_LIMITS: Final = StreamLimits()
