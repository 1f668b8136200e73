"""Frames that other threads send, on their way to the event loop.

Comes in: frames, from any thread. Goes out: all of them, on the event loop's thread. The queue is
bounded, and drops, as a `SendQueue` does.
"""

from __future__ import annotations

import threading
from typing import Final

from .send_buffer import SendQueue

# One lock for all transports: it is held for less than a microsecond, and one lock each would be
# paid for by every idle session.
_lock: Final = threading.Lock()


class ThreadQueue:
    """The frames of one transport."""

    __slots__ = ("_queue", "_limit")

    def __init__(self, limit: int) -> None:
        self._queue: SendQueue | None = None
        self._limit = limit

    def put(self, frame: bytes) -> tuple[bool, bool]:
        """Queue a frame. Returns whether it fits, and whether the loop is to be woken for it."""
        with _lock:
            wake = self._queue is None
            if self._queue is None:
                self._queue = SendQueue(self._limit)
            return self._queue.put(frame), wake

    def take(self) -> tuple[list[bytes], int]:
        """Remove everything. Returns the frames, and how many audio frames were dropped."""
        with _lock:
            queue, self._queue = self._queue, None
        if queue is None:
            return [], 0
        return queue.take(queue.limit), queue.dropped
