"""Frames on their way into a room.

Comes in: frames. Goes out: the same frames in order, one at a time, and word of the one that
failed. There is a task only while there is something to send.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from ...errors import ConnectionLost, SlowConsumer, TransportError
from ..framing import is_audio
from ..limits import StreamLimits
from ..send_buffer import SendQueue
from ..drain_waiter import SendRoom
from ..base import logger


class RoomOutbox:
    """The frames that one transport sends.

    Args:
        limits: how much may wait, and how long for.
        transmit: sends one frame; returns when the room has taken it.
        excused: whether the room has a reason to take nothing now.
        failed: told why nothing more can be sent; it must `abort`.
        idle: told each time that there is nothing left to send.

    Attributes:
        last_sent: when the room took the last frame, in the time of the loop; 0 before that.
    """

    __slots__ = (
        "last_sent",
        "_queue",
        "_limits",
        "_transmit",
        "_excused",
        "_failed",
        "_idle",
        "_task",
        "_in_flight",
        "_put",
        "_sent",
        "_progress",
        "_waits",
        "_told_dropped",
    )

    def __init__(
        self,
        limits: StreamLimits,
        transmit: Callable[[bytes], Awaitable[None]],
        excused: Callable[[], bool],
        failed: Callable[[TransportError], None],
        idle: Callable[[], None],
    ) -> None:
        self.last_sent = 0.0
        self._queue = SendQueue(limits.send_queue)
        self._limits = limits
        self._transmit = transmit
        self._excused = excused
        self._failed = failed
        self._idle = idle
        self._task: asyncio.Task[None] | None = None
        self._in_flight = 0
        # Frames that were put and sent, audio apart: it overtakes the others where it is dropped.
        self._put = [0, 0]
        self._sent = [0, 0]
        self._progress = 0
        self._waits: list[tuple[Callable[[], bool], SendRoom]] = []
        self._told_dropped = 0

    @property
    def idle(self) -> bool:
        """Whether nothing is left to send, and nothing under way."""
        return self._task is None

    @property
    def size(self) -> int:
        """Bytes that the room has not taken yet."""
        return self._queue.size + self._in_flight

    @property
    def dropped(self) -> int:
        """Audio frames that were dropped."""
        return self._queue.dropped

    def put(self, frame: bytes) -> None:
        """Queue a frame.

        Raises:
            SlowConsumer: it does not fit, even with all audio dropped.
        """
        if not self._queue.put(frame):
            raise SlowConsumer(self.size + len(frame), self._queue.limit)
        self._put[is_audio(frame)] += 1
        self._tell_dropped()
        if self._task is None:
            self._start()

    async def wait_for_size(self, most: int) -> bool:
        """Wait until no more than `most` bytes are left; False says that they never will be."""
        return await self._wait(lambda: self.size <= most)

    async def wait_for_all(self) -> bool:
        """Wait until all is sent that is queued now; False says that it never will be."""
        others, audio = self._put
        return await self._wait(
            lambda: self._sent[0] >= others and self._sent[1] + self.dropped >= audio
        )

    def excuse(self) -> None:
        """Count from now how long the room has taken nothing."""
        self._progress += 1

    def abort(self) -> None:
        """Send nothing more."""
        if self.size:
            logger.warning("%d bytes were not sent into the room", self.size)
        self._queue.clear()
        if self._task is not None:
            self._task.cancel()
        waits, self._waits = self._waits, []
        for _, room in waits:
            room.end(False)

    def _start(self) -> None:
        self._task = asyncio.ensure_future(self._send_all())
        self._task.add_done_callback(self._done)

    async def _send_all(self) -> None:
        while frames := self._queue.take(1):
            frame = frames[0]
            self._in_flight = len(frame)
            try:
                await self._transmit(frame)
            except Exception as error:
                reason = ConnectionLost(str(error) or type(error).__name__)
                reason.__cause__ = error
                self._failed(reason)
                return
            self._in_flight = 0
            self._progress += 1
            self._sent[is_audio(frame)] += 1
            self.last_sent = asyncio.get_running_loop().time()
            self._wake()

    def _done(self, _: asyncio.Task[None]) -> None:
        self._task = None
        self._in_flight = 0
        if self._queue.size:  # put after the task had seen the end of the queue
            self._start()
        else:
            self._idle()

    async def _wait(self, reached: Callable[[], bool]) -> bool:
        if reached():
            return True
        room = SendRoom(self._limits.stall_timeout, self._taken, self._stalled)
        self._waits.append((reached, room))
        return await room.wait()

    def _wake(self) -> None:
        waits, self._waits = self._waits, []
        for reached, room in waits:
            if reached():
                room.end(True)
            else:
                self._waits.append((reached, room))

    def _taken(self) -> int:
        """How much the room has taken; goes up as well while it cannot take anything."""
        if self._excused():
            self.excuse()
        return self._progress

    def _stalled(self) -> None:
        self._failed(SlowConsumer(self.size, self._queue.limit))

    def _tell_dropped(self) -> None:
        """Log dropped audio, each time that twice as much is gone, so that no log floods."""
        if self.dropped > 2 * self._told_dropped:
            self._told_dropped = self.dropped
            logger.warning("the room is slow: %d audio frames dropped so far", self.dropped)
