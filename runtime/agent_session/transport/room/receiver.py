"""The byte streams that come in from a room, one for each message.

Comes in: LiveKit's readers, and who sends to them. Goes out: whole messages as bytes, those of
one participant in the order in which it began them, and word of each stream that was no good.
Participants do not wait for one another. There is a task only while there is a stream to read.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ...errors import FrameError, FrameTooLarge, SlowReader, TransportError, TruncatedFrame
from ..framing import MAX_FRAME_SIZE

if TYPE_CHECKING:
    from livekit import rtc

# Nothing slows a sender down in a room, so something must bound what waits to be read.
MAX_WAITING: Final = 1 << 14


class RoomInlet:
    """The streams of one transport.

    Args:
        stall_timeout: how long a stream may bring nothing, in seconds, before it is given up.
        excused: whether the room has a reason to bring nothing now.
        received: takes a participant's identity and the bytes of its message.
        refused: takes a participant's identity and what is wrong with its stream.
        idle: told each time that there is no stream left to read.

    Attributes:
        progress: goes up with all that comes.
    """

    __slots__ = (
        "progress",
        "_stall_timeout",
        "_excused",
        "_received",
        "_refused",
        "_idle",
        "_lanes",
        "_tasks",
        "_watches",
        "_may_read",
        "_stopped",
    )

    def __init__(
        self,
        stall_timeout: float,
        excused: Callable[[], bool],
        received: Callable[[str, bytes], None],
        refused: Callable[[str, TransportError], None],
        idle: Callable[[], None],
    ) -> None:
        self.progress = 0
        self._stall_timeout = stall_timeout
        self._excused = excused
        self._received = received
        self._refused = refused
        self._idle = idle
        self._lanes: dict[str, deque[rtc.ByteStreamReader]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._watches: set[_Watch] = set()
        self._may_read = asyncio.Event()
        self._may_read.set()
        self._stopped = False

    @property
    def idle(self) -> bool:
        """Whether there is no stream to read."""
        return not self._tasks

    def add(self, reader: rtc.ByteStreamReader, identity: str) -> None:
        """Read a stream, after those that the participant has begun before."""
        self.progress += 1
        lane = self._lanes.get(identity)
        if lane is None:
            self._lanes[identity] = lane = deque([reader])
            task = asyncio.ensure_future(self._read_all(identity, lane))
            self._tasks.add(task)
            task.add_done_callback(self._done)
        elif len(lane) < MAX_WAITING:
            lane.append(reader)
        else:
            reader.close()
            self._refused(identity, SlowReader(len(lane)))

    def pause(self) -> None:
        """Read no further stream for now."""
        self._may_read.clear()

    def resume(self) -> None:
        """Read on."""
        self._may_read.set()

    def excuse(self) -> None:
        """Count from now how long each stream has brought nothing."""
        for watch in self._watches:
            watch.progress()

    def give_up(self) -> None:
        """Give up each stream that is being read, as if it had brought nothing for too long."""
        for watch in self._watches:
            watch.expire()

    def stop(self) -> None:
        """Give up all streams; nothing more is received or refused."""
        self._stopped = True
        for lane in self._lanes.values():
            for reader in lane:
                reader.close()
        self.resume()

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not self._tasks:
            self._idle()

    async def _read_all(self, identity: str, lane: deque[rtc.ByteStreamReader]) -> None:
        while lane:
            await self._may_read.wait()
            try:
                body = await self._read(lane[0])
            except FrameError as error:
                if not self._stopped:
                    self._refused(identity, error)
            else:
                if not self._stopped:
                    self._received(identity, body)
            lane.popleft()
        del self._lanes[identity]

    async def _read(self, reader: rtc.ByteStreamReader) -> bytes:
        """The bytes of a whole stream; no more of it is read than a message may have."""
        announced = reader.info.size or 0
        chunks: list[bytes] = []
        size = 0
        watch = _Watch(reader, self._stall_timeout, self._excused)
        self._watches.add(watch)
        try:
            if announced > MAX_FRAME_SIZE:
                raise FrameTooLarge(announced, MAX_FRAME_SIZE)
            async for chunk in reader:
                watch.progress()
                self.progress += 1
                size += len(chunk)
                if size > MAX_FRAME_SIZE:
                    raise FrameTooLarge(size, MAX_FRAME_SIZE)
                chunks.append(chunk)
            if size < announced or watch.expired:
                raise TruncatedFrame(size, announced or None)
        except ConnectionError as error:  # livekit's own is one
            raise TruncatedFrame(size, announced or None) from error
        finally:
            watch.stop()
            self._watches.discard(watch)
            reader.close()
        return b"".join(chunks)


class _Watch:
    """Closes a stream that brings nothing for too long: those behind it must not wait forever."""

    __slots__ = ("expired", "_reader", "_timeout", "_excused", "_loop", "_timer")

    def __init__(
        self, reader: rtc.ByteStreamReader, timeout: float, excused: Callable[[], bool]
    ) -> None:
        self.expired = False
        self._reader = reader
        self._timeout = timeout
        self._excused = excused
        self._loop = asyncio.get_running_loop()
        self._start()

    def progress(self) -> None:
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
        if self._excused():
            self._start()
        else:
            self.expire()
