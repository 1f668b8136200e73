"""What a transport may take.

Comes in: figures, or none. Goes out: a frozen set of them, one object for all transports.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .framing import HEADER_SIZE, MAX_FRAME_SIZE


@dataclass(frozen=True)
class StreamLimits:
    """What a transport over a stream may take, in bytes and in seconds.

    Attributes:
        send_queue: bytes that may wait for a peer that does not read.
        receive_queue: bytes that may wait for a reader here before the peer is slowed down.
        stall_timeout: how long a `send` waits for a peer that takes nothing at all.
        close_timeout: how long a close takes at most.
        linger: how long a close waits for the peer to close too. Disconnecting sooner could make
            the system discard what the peer has not read yet.
    """

    send_queue: int = 8 << 20
    receive_queue: int = 1 << 20
    stall_timeout: float = 10.0
    close_timeout: float = 3.0
    linger: float = 0.25

    def __post_init__(self) -> None:
        if self.send_queue < HEADER_SIZE + MAX_FRAME_SIZE:
            raise ValueError("the send queue must hold the largest frame")


DEFAULT_LIMITS: Final = StreamLimits()
