"""The queue of outbound frames, without I/O.

Comes in: frames. Goes out: the same frames in order, a batch at a time. It is bounded in bytes:
when a frame does not fit, audio is dropped, oldest first, and only when there is none left does
the queue refuse the frame.
"""

from __future__ import annotations

from collections import deque

from .framing import is_audio


class SendQueue:
    """Frames that wait to be written.

    Attributes:
        size: bytes that wait.
        limit: bytes that may wait.
        dropped: audio frames dropped so far.
    """

    __slots__ = ("size", "limit", "dropped", "_frames", "_audio", "_taken")

    def __init__(self, limit: int) -> None:
        self.size = 0
        self.limit = limit
        self.dropped = 0
        # Audio stands apart, each frame with the number of other frames put before it: the
        # oldest is dropped in constant time, and nothing remains of it.
        self._frames: deque[bytes] = deque()
        self._audio: deque[tuple[int, bytes]] = deque()
        self._taken = 0

    def put(self, frame: bytes) -> bool:
        """Queue a frame; False says that it does not fit, and is not queued.

        Audio that does not fit is dropped, which is no refusal.
        """
        self.size += len(frame)
        if is_audio(frame):
            self._audio.append((self._taken + len(self._frames), frame))
        else:
            self._frames.append(frame)
        if self.size <= self.limit or self._drop_audio():
            return True
        self.size -= len(self._frames.pop())
        return False

    def take(self, most: int) -> list[bytes]:
        """Remove frames from the front: as many as `most` bytes hold, and at least one."""
        if self.size <= most and not self._audio:
            frames = list(self._frames)
            self._frames.clear()
            self._taken += len(frames)
            self.size = 0
            return frames
        frames = []
        while self.size and most > 0:
            frame = self._pop()
            frames.append(frame)
            most -= len(frame)
        return frames

    def clear(self) -> None:
        """Forget all frames."""
        self._frames.clear()
        self._audio.clear()
        self.size = 0

    def _pop(self) -> bytes:
        if self._audio and (self._audio[0][0] <= self._taken or not self._frames):
            frame = self._audio.popleft()[1]
        else:
            frame = self._frames.popleft()
            self._taken += 1
        self.size -= len(frame)
        return frame

    def _drop_audio(self) -> bool:
        """Drop the oldest audio until the rest fits; False if it does not even so."""
        while self.size > self.limit and self._audio:
            self.size -= len(self._audio.popleft()[1])
            self.dropped += 1
        return self.size <= self.limit
