"""The bounded buffer of frames to be sent, without I/O."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable


class SendBuffer:
    """Holds frames until they are written, in order.

    When a frame does not fit, the oldest droppable frames are dropped. If that does not make
    enough space, the frame is refused.

    Args:
        limit: how many bytes the buffer holds.
        is_droppable: whether a frame may be dropped.

    Attributes:
        size: bytes in the buffer.
        limit: bytes that it may hold.
        dropped: frames dropped so far.
    """

    __slots__ = ("size", "limit", "dropped", "_is_droppable", "_frames", "_droppable", "_removed")

    def __init__(self, limit: int, is_droppable: Callable[[bytes], bool]) -> None:
        self.size = 0
        self.limit = limit
        self.dropped = 0
        self._is_droppable = is_droppable
        # Droppable frames are kept apart, each with the number of other frames put before it, so
        # that the oldest can be dropped in constant time.
        self._frames: deque[bytes] = deque()
        self._droppable: deque[tuple[int, bytes]] = deque()
        self._removed = 0

    def put(self, frame: bytes) -> bool:
        """Adds a frame. Returns False if it does not fit; it is not added then.

        A droppable frame that does not fit is dropped, and True is returned.
        """
        self.size += len(frame)
        if self._is_droppable(frame):
            self._droppable.append((self._removed + len(self._frames), frame))
        else:
            self._frames.append(frame)
        if self.size <= self.limit or self._drop():
            return True
        self.size -= len(self._frames.pop())
        return False

    def take(self, most: int) -> list[bytes]:
        """Removes frames from the front: at least one, and no more once `most` bytes are reached.

        Returns an empty list if the buffer is empty.
        """
        if self.size <= most and not self._droppable:
            frames = list(self._frames)
            self._frames.clear()
            self._removed += len(frames)
            self.size = 0
            return frames
        frames = []
        while self.size and most > 0:
            frame = self._pop()
            frames.append(frame)
            most -= len(frame)
        return frames

    def clear(self) -> None:
        """Removes all frames."""
        self._frames.clear()
        self._droppable.clear()
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
        """Drops the oldest droppable frames until the rest fits. Returns whether it does."""
        while self.size > self.limit and self._droppable:
            self.size -= len(self._droppable.popleft()[1])
            self.dropped += 1
        return self.size <= self.limit
