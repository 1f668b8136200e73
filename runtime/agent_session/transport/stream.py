"""A session over one byte stream: everything of a transport but how it is connected.

Comes in: calls of the session on one side, callbacks of an `asyncio.Transport` on the other, be
it TCP, TLS or memory. Goes out: frames in batches, messages in order, and one end. No task, no
stream reader: what an idle session costs is this object.
"""

from __future__ import annotations

import asyncio
from enum import Enum
from typing import Final, cast

from agent_session_protocol.agent_session_pb2 import AgentSessionMessage

from ..errors import ConnectionLost, NotStarted, SlowConsumer, TransportClosed, TransportError
from .framing import FrameDecoder, encode_frame, is_audio
from .receive_buffer import Inbox
from .limits import DEFAULT_LIMITS, StreamLimits
from .send_buffer import SendQueue
from .drain_waiter import SendRoom
from .thread_buffer import ThreadQueue
from .base import Receiver, SessionTransport, logger

# Bytes of a write. The first of a tick is small: the peer works on it while the rest is made.
_BATCH: Final = 1 << 16
_FIRST_BATCH: Final = 1 << 9

# High and low mark that make asyncio say when it has passed on the last byte. Not 0 and 0: its TLS
# would call an empty buffer full.
_NOTHING_BUFFERED: Final = (1, 0)


class State(Enum):
    """Where a transport stands; it only moves down the list."""

    NEW = "new"
    OPEN = "open"
    CLOSING = "closing"
    CLOSED = "closed"


class StreamTransport(SessionTransport, asyncio.Protocol):
    """A `SessionTransport` that is the `asyncio.Protocol` of its connection.

    The methods that asyncio calls (`connection_made` and the like) are not for others.
    """

    __slots__ = (
        "_limits",
        "_state",
        "_loop",
        "_stream",
        "_decoder",
        "_inbox",
        "_queue",
        "_from_threads",
        "_flush_due",
        "_batch",
        "_write_paused",
        "_read_paused",
        "_peer_done",
        "_written",
        "_room",
        "_lost",
        "_close_timer",
        "_linger_timer",
        "_deadline",
        "_refused",
        "_told_dropped",
    )

    # Set once connected.
    _loop: asyncio.AbstractEventLoop
    _stream: asyncio.Transport

    def __init__(self, limits: StreamLimits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._state = State.NEW
        self._decoder = FrameDecoder()
        self._inbox = Inbox()
        self._queue = SendQueue(limits.send_queue)
        self._from_threads = ThreadQueue(limits.send_queue)
        self._flush_due = False
        self._batch = _FIRST_BATCH
        self._write_paused = False
        self._read_paused = False
        self._peer_done = False
        self._written = 0
        self._room: SendRoom | None = None
        self._lost: asyncio.Future[None] | None = None
        self._close_timer: asyncio.TimerHandle | None = None
        self._linger_timer: asyncio.TimerHandle | None = None
        self._deadline = 0.0
        self._refused = 0
        self._told_dropped = 0

    # What a session asks.

    @property
    def closed(self) -> bool:
        return self._state in (State.CLOSING, State.CLOSED)

    @property
    def reason(self) -> TransportError | None:
        return self._inbox.reason

    @property
    def refused_frames(self) -> int:
        """Frames of the peer that did not parse."""
        return self._refused

    @property
    def dropped_audio(self) -> int:
        """Audio frames that were dropped because the peer was too slow."""
        return self._queue.dropped

    # Receiving.

    async def __anext__(self) -> AgentSessionMessage:
        inbox = self._inbox
        while True:
            message = inbox.take()
            if message is not None:
                return message
            if inbox.ended:
                raise StopAsyncIteration
            self._all_read()
            await inbox.wait()

    def deliver_to(self, receiver: Receiver) -> None:
        self._inbox.deliver_to(receiver)
        self._all_read()

    def _all_read(self) -> None:
        """The reader has everything: send at once what it sent, and let the peer go on."""
        self._inbox.size = 0
        if self._flush_due:
            self._flush()
        if self._read_paused and self._state is State.OPEN:
            self._read_paused = False
            self._stream.resume_reading()

    # Sending.

    async def send(self, message: AgentSessionMessage) -> None:
        frame = self._encode(message)
        self._put(frame)
        if not self._write_paused:
            return
        if is_audio(frame):
            await asyncio.sleep(0)  # never waits for the peer, but must not starve the loop
        else:
            await self._wait_for_room()

    def send_nowait(self, message: AgentSessionMessage) -> int:
        frame = self._encode(message)
        self._put(frame)
        return len(frame)

    async def flush(self) -> None:
        self._check_open()
        self._take_from_threads()
        self._flush()
        self._stream.set_write_buffer_limits(*_NOTHING_BUFFERED)
        try:
            if self._write_paused:
                await self._wait_for_room()
        finally:
            if self._state is State.OPEN:
                self._stream.set_write_buffer_limits()

    def send_threadsafe(self, message: AgentSessionMessage) -> None:
        """`send_nowait` from any thread. Messages of one thread keep their order.

        A message that the transport can no longer deliver when the event loop comes to it is
        told in the log, and so is one that is queued at an abort.
        """
        frame = self._encode(message)
        fits, wake = self._from_threads.put(frame)
        try:
            if not fits:
                limit = self._limits.send_queue
                reason = SlowConsumer(limit, limit)
                self._loop.call_soon_threadsafe(self._fail, reason)
                raise TransportClosed(reason)
            if wake or self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._take_from_threads)
        except RuntimeError:  # the loop is closed
            raise TransportClosed(self.reason) from None

    def _encode(self, message: AgentSessionMessage) -> bytes:
        if self._state is not State.OPEN:
            self._check_open()
        return encode_frame(message)

    def _check_open(self) -> None:
        if self._state is State.NEW:
            raise NotStarted
        if self._state is not State.OPEN:
            raise TransportClosed(self.reason)

    def _put(self, frame: bytes) -> None:
        """Queue a frame. What one tick of the loop sends is written together, but for its start."""
        if not self._queue.put(frame):
            reason = SlowConsumer(self._queue.size + len(frame), self._queue.limit)
            self._fail(reason)
            raise TransportClosed(reason)
        if self._write_paused:
            self._tell_dropped()
        elif self._queue.size >= self._batch:
            self._flush()
            self._batch = _BATCH
        elif not self._flush_due:
            self._flush_due = True
            self._loop.call_soon(self._flush)

    def _take_from_threads(self) -> None:
        frames, dropped = self._from_threads.take()
        self._queue.dropped += dropped
        for sent, frame in enumerate(frames):
            try:
                self._check_open()
                self._put(frame)
            except TransportClosed as error:
                logger.error("%d messages of other threads are lost: %s", len(frames) - sent, error)
                return

    def _flush(self) -> None:
        """Write what is queued, as far as the peer takes it."""
        self._flush_due = False
        self._batch = _FIRST_BATCH
        queue, stream = self._queue, self._stream
        while queue.size and not self._write_paused:
            data = b"".join(queue.take(_BATCH))
            self._written += len(data)
            stream.write(data)
        if self._write_paused:
            return
        self._make_room(True)
        if self._state is State.CLOSING:
            self._finish()

    async def _wait_for_room(self) -> None:
        if self._room is None:
            self._room = SendRoom(self._limits.stall_timeout, self._progress, self._stalled)
        if not await self._room.wait():
            raise TransportClosed(self.reason)

    def _make_room(self, room: bool) -> None:
        """Wake the senders that wait, to go on or to learn that it is over."""
        if self._room is not None:
            self._room.end(room)
            self._room = None

    def _progress(self) -> int:
        """How many bytes the peer, or the system on its behalf, has taken."""
        return self._written - self._stream.get_write_buffer_size()

    def _stalled(self) -> None:
        queued = self._queue.size + self._stream.get_write_buffer_size()
        self._fail(SlowConsumer(queued, self._queue.limit))

    def _tell_dropped(self) -> None:
        """Log dropped audio, each time that twice as much is gone, so that no log floods."""
        if self._queue.dropped > 2 * self._told_dropped:
            self._told_dropped = self._queue.dropped
            logger.warning("the peer is slow: %d audio frames dropped so far", self._told_dropped)

    # Closing.

    async def close(self, timeout: float | None = None) -> None:
        self._inbox.discard()
        if self._state is State.NEW:
            self._state = State.CLOSED
        self._inbox.end(None)
        if self._state is State.CLOSED:
            return
        self._begin_close(self._limits.close_timeout if timeout is None else timeout)
        if self._lost is None:
            self._lost = self._loop.create_future()
        await asyncio.shield(self._lost)

    def _begin_close(self, timeout: float) -> None:
        """Refuse sends, flush, disconnect. The timer holds even if nobody waits for the close."""
        deadline = self._loop.time() + timeout
        if self._close_timer is None or deadline < self._deadline:
            if self._close_timer is not None:
                self._close_timer.cancel()
            self._deadline = deadline
            self._close_timer = self._loop.call_at(deadline, self._abort)
        if self._state is not State.OPEN:
            return
        self._take_from_threads()
        self._state = State.CLOSING
        self._stream.set_write_buffer_limits(*_NOTHING_BUFFERED)
        if self._read_paused:
            # Read on, to the peer's EOF: unread bytes turn a disconnect into a reset.
            self._read_paused = False
            self._stream.resume_reading()
        self._flush()

    def _finish(self) -> None:
        """All is written: say so, and give the peer a moment to close as well."""
        if self._linger_timer is not None or self._stream.is_closing():
            return
        if self._peer_done or not self._stream.can_write_eof():
            self._stream.close()
            return
        try:
            self._stream.write_eof()
        except OSError:  # the connection broke, and asyncio has not noticed yet
            self._stream.close()
            return
        self._linger_timer = self._loop.call_later(self._limits.linger, self._stream.close)

    def _abort(self) -> None:
        unsent = self._queue.size + self._stream.get_write_buffer_size()
        if unsent and self._state is not State.CLOSED:
            logger.warning("the transport is aborted with %d bytes unsent", unsent)
        self._state = State.CLOSING
        self._queue.clear()
        self._stream.abort()

    def _fail(self, reason: TransportError) -> None:
        """End at once, for a reason other than the peer's EOF."""
        if self._state in (State.NEW, State.CLOSED):
            return
        self._inbox.end(reason)
        self._abort()
        self._make_room(False)

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._loop = asyncio.get_running_loop()
        self._stream = cast(asyncio.Transport, transport)
        if self._state is State.CLOSED:  # closed while it connected
            self._stream.abort()
        else:
            self._state = State.OPEN

    def data_received(self, data: bytes) -> None:
        if self._state is not State.OPEN:
            return
        decoder = self._decoder
        messages = decoder.receive(data)
        # What the receiver sends while it takes the messages is flushed here, not a tick later.
        self._flush_due = True
        self._inbox.put(messages, decoder.taken)
        if decoder.refused:
            self._tell_refused()
        if self._flush_due:
            self._flush()
        if decoder.error is not None:
            self._inbox.end(decoder.error)
            self._begin_close(self._limits.close_timeout)
        elif self._inbox.size > self._limits.receive_queue and self._state is State.OPEN:
            self._read_paused = True
            self._stream.pause_reading()

    def _tell_refused(self) -> None:
        """Log refused frames: the first few each, later ones when their number has doubled."""
        for error in self._decoder.refused:
            self._refused += 1
            if self._refused <= 8 or self._refused & (self._refused - 1) == 0:
                logger.warning("%s; refused, %d so far", error, self._refused)
        self._decoder.refused.clear()

    def eof_received(self) -> bool:
        self._peer_done = True
        self._inbox.end(self._decoder.receive_eof())
        if self._state is State.OPEN:
            self._begin_close(self._limits.close_timeout)
        else:
            self._flush()
        # asyncio must not close a connection on which there is still something to write.
        return self._queue.size > 0 and self._stream.can_write_eof()

    def pause_writing(self) -> None:
        self._write_paused = True

    def resume_writing(self) -> None:
        self._write_paused = False
        # Not here: asyncio is still writing, and would end a connection twice that is closed now.
        self._loop.call_soon(self._flush)

    def connection_lost(self, exc: Exception | None) -> None:
        self._state = State.CLOSED
        for timer in (self._close_timer, self._linger_timer):
            if timer is not None:
                timer.cancel()
        reason: TransportError | None = self._decoder.receive_eof()
        if exc is not None and reason is None:
            reason = ConnectionLost(str(exc) or type(exc).__name__)
            reason.__cause__ = exc
        self._inbox.end(reason)
        if self._queue.size:
            logger.warning("the connection is gone, with %d bytes unsent", self._queue.size)
            self._queue.clear()
        self._make_room(False)
        if self._lost is not None:
            self._lost.set_result(None)
