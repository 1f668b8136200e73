"""Sending over the byte streams of a room, one frame at a time.

There is a task only while frames are queued.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from ...errors import ConnectionLost, SlowConsumer, TransportError
from ..base import logger
from ..limits import StreamLimits
from ..message_format import MessageFormat
from ..progress_waiter import ProgressWaiter
from ..send_buffer import SendBuffer


class StreamSender:
    """Sends the frames of one transport.

    Args:
        limits: the limits of the transport.
        message_format: the messages in the frames, which says which may be dropped.
        transmit: sends one frame; returns when the room has taken it.
        is_reconnecting: reports whether the room is reconnecting, so that nothing can be sent.
        failed: called with the reason when sending has failed; it must call `abort`.
        idle: called whenever nothing is left to send.

    Attributes:
        last_sent: when the room took the last frame, in event loop time; 0 before the first.
    """

    __slots__ = (
        "last_sent",
        "_buffer",
        "_limits",
        "_is_droppable",
        "_transmit",
        "_is_reconnecting",
        "_failed",
        "_idle",
        "_task",
        "_in_flight",
        "_put",
        "_sent",
        "_progress",
        "_waiters",
    )

    def __init__(
        self,
        limits: StreamLimits,
        message_format: MessageFormat[Any],
        transmit: Callable[[bytes], Awaitable[None]],
        is_reconnecting: Callable[[], bool],
        failed: Callable[[TransportError], None],
        idle: Callable[[], None],
    ) -> None:
        self.last_sent = 0.0
        self._buffer = SendBuffer(limits.send_queue + limits.room_message_size, message_format)
        self._limits = limits
        self._is_droppable = message_format.is_droppable
        self._transmit = transmit
        self._is_reconnecting = is_reconnecting
        self._failed = failed
        self._idle = idle
        self._task: asyncio.Task[None] | None = None
        self._in_flight = 0
        # The number of frames put and sent. Droppable frames are counted at index 1, other frames
        # at index 0, since frames that were dropped are never sent.
        self._put = [0, 0]
        self._sent = [0, 0]
        self._progress = 0
        self._waiters: list[tuple[Callable[[], bool], ProgressWaiter]] = []

    @property
    def idle(self) -> bool:
        """Whether nothing is queued or being sent."""
        return self._task is None

    @property
    def size(self) -> int:
        """The number of bytes that the room has not taken yet."""
        return self._buffer.size + self._in_flight

    @property
    def dropped(self) -> int:
        """The number of frames that were dropped."""
        return self._buffer.dropped

    def put(self, frame: bytes) -> None:
        """Queues a frame.

        Raises:
            SlowConsumer: the frame does not fit, even after droppable frames were dropped.
        """
        if not self._buffer.put(frame):
            raise SlowConsumer(self.size + len(frame), self._buffer.limit)
        self._put[self._is_droppable(frame)] += 1
        if self._task is None:
            self._start()

    async def wait_for_size(self, max_size: int) -> bool:
        """Waits until `size` is at most `max_size`. Returns False if sending was aborted."""
        return await self._wait(lambda: self.size <= max_size)

    async def wait_for_all(self) -> bool:
        """Waits until the frames queued now are sent. Returns False if sending was aborted."""
        others, droppable = self._put
        return await self._wait(
            lambda: self._sent[0] >= others and self._sent[1] + self.dropped >= droppable
        )

    def reset_stall_timers(self) -> None:
        """Restarts the stall timeout."""
        self._progress += 1

    def abort(self) -> None:
        """Stops sending, and drops the queued frames."""
        if self.size:
            logger.warning("%d bytes were not sent to the room", self.size)
        self._buffer.clear()
        if self._task is not None:
            self._task.cancel()
        waiters, self._waiters = self._waiters, []
        for _, waiter in waiters:
            waiter.finish(False)

    def _start(self) -> None:
        self._task = asyncio.ensure_future(self._send_all())
        self._task.add_done_callback(self._task_done)

    async def _send_all(self) -> None:
        while frames := self._buffer.take(1):
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
            self._sent[self._is_droppable(frame)] += 1
            self.last_sent = asyncio.get_running_loop().time()
            self._wake_waiters()

    def _task_done(self, _: asyncio.Task[None]) -> None:
        self._task = None
        self._in_flight = 0
        if self._buffer.size:  # added after the task had seen an empty buffer
            self._start()
        else:
            self._idle()

    async def _wait(self, reached: Callable[[], bool]) -> bool:
        if reached():
            return True
        waiter = ProgressWaiter(self._limits.stall_timeout, self._current_progress, self._stalled)
        self._waiters.append((reached, waiter))
        return await waiter.wait()

    def _wake_waiters(self) -> None:
        waiters, self._waiters = self._waiters, []
        for reached, waiter in waiters:
            if reached():
                waiter.finish(True)
            else:
                self._waiters.append((reached, waiter))

    def _current_progress(self) -> int:
        """Returns a number that grows as the room takes frames, and while it reconnects."""
        if self._is_reconnecting():
            self._progress += 1
        return self._progress

    def _stalled(self) -> None:
        self._failed(SlowConsumer(self.size, self._buffer.limit))
