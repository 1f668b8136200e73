"""The bounded buffer of frames to be sent, without I/O."""

from __future__ import annotations

from collections import deque
from typing import Any

from .message_format import HEADER_SIZE, MessageFormat


class SendBuffer:
    """Holds frames until they are written, in order.

    When a frame does not fit, the oldest droppable frames are dropped. If that does not make
    enough space, the frame is refused.

    Args:
        limit: how many bytes the buffer may hold.
        message_format: the messages in the frames, which says which may be dropped.

    Attributes:
        size: the number of bytes in the buffer.
        limit: the largest size.
        dropped: the number of frames that were dropped.
    """

    __slots__ = (
        "size",
        "limit",
        "dropped",
        "_format",
        "_droppable_first_bytes",
        "_frames",
        "_droppable",
        "_removed",
    )

    def __init__(self, limit: int, message_format: MessageFormat[Any]) -> None:
        self.size = 0
        self.limit = limit
        self.dropped = 0
        self._format = message_format
        self._droppable_first_bytes = message_format.droppable_first_bytes
        # Droppable frames have a separate queue, each with the number of other frames put before it,
        # so that the oldest can be dropped in constant time.
        self._frames: deque[bytes] = deque()
        # It is made for the first one, since there can be thousands of idle transports.
        self._droppable: deque[tuple[int, bytes]] | None = None
        self._removed = 0

    def put(self, frame: bytes) -> bool:
        """Adds a frame. Returns False if the frame does not fit and was not added.

        If a droppable frame does not fit, it is dropped, and True is returned.
        """
        self.size += (size := len(frame))
        # The first byte decides for most frames, without a call of `is_droppable`.
        if (
            size > HEADER_SIZE
            and frame[HEADER_SIZE] in self._droppable_first_bytes
            and self._format.is_droppable(frame)
        ):
            if self._droppable is None:
                self._droppable = deque()
            self._droppable.append((self._removed + len(self._frames), frame))
        else:
            self._frames.append(frame)
        if self.size <= self.limit or self._drop():
            return True
        self.size -= len(self._frames.pop())
        return False

    def take(self, max_bytes: int) -> list[bytes]:
        """Removes and returns frames from the front until `max_bytes` are reached or exceeded.

        Returns at least one frame, or an empty list if the buffer is empty.
        """
        if self.size <= max_bytes and not self._droppable:
            frames = list(self._frames)
            self._frames.clear()
            self._removed += len(frames)
            self.size = 0
            return frames
        frames = []
        while self.size and max_bytes > 0:
            frame = self._pop()
            frames.append(frame)
            max_bytes -= len(frame)
        return frames

    def clear(self) -> None:
        """Removes all frames."""
        self._frames.clear()
        self._droppable = None
        self.size = 0

    def _pop(self) -> bytes:
        if self._droppable and (self._droppable[0][0] <= self._removed or not self._frames):
            frame = self._droppable.popleft()[1]
        else:
            frame = self._frames.popleft()
            self._removed += 1
        self.size -= len(frame)
        return frame

    def _drop(self) -> bool:
        """Drops the oldest droppable frames until the rest fits. Returns False if it does not."""
        while self.size > self.limit and self._droppable:
            self.size -= len(self._droppable.popleft()[1])
            self.dropped += 1
        return self.size <= self.limit
