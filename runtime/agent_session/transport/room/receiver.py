"""Receiving from the byte streams of a room; each stream carries one message.

The messages of one participant keep the order in which it opened their streams. Participants do
not wait for each other. There are tasks only while there are streams to read.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ...errors import FrameError, FrameTooLarge, SlowReader, TransportError, TruncatedFrame

if TYPE_CHECKING:
    from livekit import rtc

# Part of the text of the error with which LiveKit ends the streams of a sender that disconnects.
_DISCONNECTED: Final = "unexpectedly disconnected"

# A sender in a room cannot be slowed down, so the number of its unread streams is bounded.
MAX_WAITING: Final = 1 << 14


class StreamReceiver:
    """Reads the byte streams of one transport.

    Args:
        max_message_size: the size limit of a message, in bytes.
        stall_timeout: after how many seconds without data a stream is abandoned.
        is_reconnecting: reports whether the room is reconnecting, so that nothing can arrive.
        received: called with a participant's identity, the bytes of its message and the name of
            the stream.
        refused: called with a participant's identity and the error of its stream.
        oversized: called instead if a message is over the size limit, also with its first bytes.
        idle: called whenever no stream is left to read.

    Attributes:
        progress: a number that grows whenever data arrives.
    """

    __slots__ = (
        "progress",
        "_max_message_size",
        "_stall_timeout",
        "_is_reconnecting",
        "_received",
        "_refused",
        "_oversized",
        "_idle",
        "_queues",
        "_tasks",
        "_stall_timers",
        "_may_read",
        "_stopped",
    )

    def __init__(
        self,
        max_message_size: int,
        stall_timeout: float,
        is_reconnecting: Callable[[], bool],
        received: Callable[[str, bytes, str], None],
        refused: Callable[[str, TransportError], None],
        oversized: Callable[[str, FrameTooLarge, bytes], None],
        idle: Callable[[], None],
    ) -> None:
        self.progress = 0
        self._max_message_size = max_message_size
        self._stall_timeout = stall_timeout
        self._is_reconnecting = is_reconnecting
        self._received = received
        self._refused = refused
        self._oversized = oversized
        self._idle = idle
        self._queues: dict[str, deque[rtc.ByteStreamReader]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._stall_timers: set[_StallTimer] = set()
        self._may_read = asyncio.Event()
        self._may_read.set()
        self._stopped = False

    @property
    def idle(self) -> bool:
        """Whether there is no stream to read."""
        return not self._tasks

    def add(self, reader: rtc.ByteStreamReader, identity: str) -> None:
        """Reads a stream, after the streams that the participant opened before it."""
        self.progress += 1
        queue = self._queues.get(identity)
        if queue is None:
            self._queues[identity] = queue = deque([reader])
            task = asyncio.ensure_future(self._read_all(identity, queue))
            self._tasks.add(task)
            task.add_done_callback(self._task_done)
        elif len(queue) < MAX_WAITING:
            queue.append(reader)
        else:
            reader.close()
            self._refused(identity, SlowReader(len(queue)))

    def pause(self) -> None:
        """Stops reading new streams until `resume`. A stream that is being read is completed."""
        self._may_read.clear()

    def resume(self) -> None:
        """Continues to read."""
        self._may_read.set()

    def reset_stall_timers(self) -> None:
        """Restarts the stall timeout of each stream."""
        for timer in self._stall_timers:
            timer.restart()

    def abandon_open_streams(self) -> None:
        """Abandons each stream that is being read, as if its stall timeout had passed."""
        for timer in self._stall_timers:
            timer.expire()

    def stop(self) -> None:
        """Abandons all streams. Nothing more is received or refused."""
        self._stopped = True
        for queue in self._queues.values():
            for reader in queue:
                reader.close()
        self.resume()

    def _task_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not self._tasks:
            self._idle()

    async def _read_all(self, identity: str, queue: deque[rtc.ByteStreamReader]) -> None:
        while queue:
            await self._may_read.wait()
            try:
                body = await self._read(queue[0])
            except _Oversized as oversized:
                if not self._stopped:
                    self._oversized(identity, oversized.error, oversized.start)
            except FrameError as error:
                if not self._stopped:
                    self._refused(identity, error)
            else:
                if not self._stopped:
                    self._received(identity, body, queue[0].info.name)
            queue.popleft()
        del self._queues[identity]

    async def _read(self, reader: rtc.ByteStreamReader) -> bytes:
        """Returns the bytes of a stream. Stops reading at the size limit."""
        announced = reader.info.size or 0
        chunks: list[bytes] = []
        size = 0
        timer = _StallTimer(reader, self._stall_timeout, self._is_reconnecting)
        self._stall_timers.add(timer)
        try:
            async for chunk in reader:
                timer.restart()
                self.progress += 1
                size += len(chunk)
                chunks.append(chunk)
                if max(size, announced) > self._max_message_size:
                    error = FrameTooLarge(max(size, announced), self._max_message_size)
                    raise _Oversized(error, chunks[0])
            if size < announced or timer.expired:
                raise TruncatedFrame(size, announced or None)
        except ConnectionError as error:  # the base class of livekit's StreamError
            raise TruncatedFrame(size, announced or None) from error
        finally:
            timer.stop()
            self._stall_timers.discard(timer)
            reader.close()
        return b"".join(chunks)


def is_cut_off(error: TransportError | None) -> bool:
    """Reports whether LiveKit ended the stream because its sender disconnected.

    LiveKit may report that before the disconnect. Only the text of its error says so.
    """
    return error is not None and _DISCONNECTED in str(error.__cause__)


class _Oversized(Exception):
    """A message is over the size limit.

    Attributes:
        error: the error to report.
        start: the first bytes of the message.
    """

    def __init__(self, error: FrameTooLarge, start: bytes) -> None:
        super().__init__(error, start)
        self.error = error
        self.start = start


class _StallTimer:
    """Closes a stream that delivers nothing for too long, since later streams wait for it."""

    __slots__ = ("expired", "_reader", "_timeout", "_is_reconnecting", "_loop", "_timer")

    def __init__(
        self, reader: rtc.ByteStreamReader, timeout: float, is_reconnecting: Callable[[], bool]
    ) -> None:
        self.expired = False
        self._reader = reader
        self._timeout = timeout
        self._is_reconnecting = is_reconnecting
        self._loop = asyncio.get_running_loop()
        self._start()

    def restart(self) -> None:
        self._timer.cancel()
        self._start()

    def stop(self) -> None:
        self._timer.cancel()

    def expire(self) -> None:
        self.expired = True
        self._reader.close()

    def _start(self) -> None:
        self._timer = self._loop.call_later(self._timeout, self._check)

    def _check(self) -> None:
        if self._is_reconnecting():
            self._start()
        else:
            self.expire()
