"""The base of the transports over one byte stream, such as a TCP connection.

The transport is the `asyncio.Protocol` of its connection, so that an idle transport needs no task
and no stream reader. Frames sent in one iteration of the event loop are written together.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from typing import Final, NoReturn, cast

from ..errors import ConnectionLost, SlowConsumer, TransportClosed, TransportError
from .base import M, logger
from .buffered import BufferedTransport, State
from .framing import FrameDecoder, encode_frame
from .limits import DEFAULT_LIMITS, StreamLimits
from .message_format import HEADER_SIZE, MessageFormat
from .progress_waiter import ProgressWaiter
from .error_responses import error_response
from .send_buffer import SendBuffer

# The size of a write. The first write of an iteration of the event loop is small, so that the peer
# can decode it while the rest is encoded.
_BATCH: Final = 1 << 16
_FIRST_BATCH: Final = 1 << 9

# Before Python 3.12, the lookup of a member of an enumeration takes longer than a function call.
_OPEN: Final = State.OPEN

# The high and low water marks with which asyncio calls `resume_writing` when its buffer is empty.
# Not 0 and 0, since the TLS transport of asyncio then treats an empty buffer as full.
_NOTHING_BUFFERED: Final = (1, 0)

# One lock for all transports: it is held for less than a microsecond, and a lock for each would
# add to the memory of each idle transport.
_thread_lock: Final = threading.Lock()


class StreamTransport(BufferedTransport[M], asyncio.Protocol):
    """A transport that is the `asyncio.Protocol` of its connection.

    Only asyncio may call the methods of `asyncio.Protocol`, such as `connection_made`.
    """

    __slots__ = (
        "_stream",
        "_decoder",
        "_send_buffer",
        "_thread_buffer",
        "_flush_due",
        "_batch",
        "_write_paused",
        "_read_paused",
        "_peer_done",
        "_written",
        "_space_waiter",
        "_linger_timer",
    )

    # Set once connected.
    _stream: asyncio.Transport

    def __init__(
        self, message_format: MessageFormat[M], limits: StreamLimits = DEFAULT_LIMITS
    ) -> None:
        super().__init__(message_format, limits)
        self._decoder = FrameDecoder(message_format.message_class)
        self._send_buffer = self._new_send_buffer()
        self._thread_buffer: SendBuffer | None = None
        self._flush_due = False
        self._batch = _FIRST_BATCH
        self._write_paused = False
        self._read_paused = False
        self._peer_done = False
        self._written = 0
        self._space_waiter: ProgressWaiter | None = None
        self._linger_timer: asyncio.TimerHandle | None = None

    def _new_send_buffer(self) -> SendBuffer:
        return SendBuffer(self._limits.send_queue, self._format)

    @property
    def dropped_frames(self) -> int:
        return self._send_buffer.dropped

    def _resume_reading(self) -> None:
        if self._flush_due:
            self._flush()  # writes what the reader has sent, before it waits
        if self._read_paused and self._state is State.OPEN:
            self._read_paused = False
            self._stream.resume_reading()

    # Sending.

    def _encode(self, message: M) -> bytes:
        if self._state is not _OPEN:
            self._check_open()
        return encode_frame(message)

    def send_nowait(self, message: M) -> int:
        # As in the base class, without calls for a frame that only waits for a flush that is due.
        if self._state is not _OPEN:
            self._check_open()
        frame = encode_frame(message)
        buffer = self._send_buffer
        if not buffer.put(frame):
            self._overflow(frame)
        if not self._flush_due or buffer.size >= self._batch:
            self._frame_queued()
        return len(frame)

    def _put(self, frame: bytes) -> None:
        if not self._send_buffer.put(frame):
            self._overflow(frame)
        self._frame_queued()

    def _overflow(self, frame: bytes) -> NoReturn:
        """Ends the transport because a frame does not fit into the send buffer."""
        reason = SlowConsumer(self._send_buffer.size + len(frame), self._send_buffer.limit)
        self._fail(reason)
        raise TransportClosed(reason)

    def _frame_queued(self) -> None:
        """Writes queued frames if a batch is full, and otherwise in the next loop iteration."""
        if self._write_paused:
            self._log_dropped()
        elif self._send_buffer.size >= self._batch:
            self._flush()
            self._batch = _BATCH
        elif not self._flush_due:
            self._flush_due = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        """Writes queued frames until the peer stops reading."""
        self._flush_due = False
        self._batch = _FIRST_BATCH
        buffer, stream = self._send_buffer, self._stream
        while buffer.size and not self._write_paused:
            data = b"".join(buffer.take(_BATCH))
            self._written += len(data)
            stream.write(data)
        if self._write_paused:
            return
        self._end_wait(True)
        if self._state is State.CLOSING:
            self._finish_close()

    async def flush(self) -> None:
        self._check_open()
        self._put_thread_frames()
        self._flush()
        self._stream.set_write_buffer_limits(*_NOTHING_BUFFERED)
        try:
            if self._write_paused and not await self._wait_for_space():
                raise TransportClosed(self.reason)
        finally:
            if self._state is State.OPEN:
                self._stream.set_write_buffer_limits()

    def _is_congested(self) -> bool:
        return self._write_paused

    async def _wait_for_space(self) -> bool:
        if self._space_waiter is None:
            self._space_waiter = ProgressWaiter(
                self._limits.stall_timeout, self._bytes_taken, self._stalled
            )
        return await self._space_waiter.wait()

    def _end_wait(self, success: bool) -> None:
        if self._space_waiter is not None:
            self._space_waiter.finish(success)
            self._space_waiter = None

    def _bytes_taken(self) -> int:
        """Returns how many bytes the peer, or the system on its behalf, has taken."""
        return self._written - self._stream.get_write_buffer_size()

    def _bytes_unsent(self) -> int:
        return self._send_buffer.size + self._stream.get_write_buffer_size()

    def _stalled(self) -> None:
        self._fail(SlowConsumer(self._bytes_unsent(), self._send_buffer.limit))

    # Sending from other threads.

    def send_threadsafe(self, message: M) -> None:
        """Queues a message as `send_nowait` does, from any thread.

        Messages of one thread keep their order. If the transport ends before the event loop has
        queued the message, or is aborted before it is written, the loss is logged.
        """
        frame = self._encode(message)
        fits, wake = self._put_from_thread(frame)
        try:
            if not fits:
                limit = self._limits.send_queue
                reason = SlowConsumer(limit, limit)
                self._loop.call_soon_threadsafe(self._fail, reason)
                raise TransportClosed(reason)
            if wake or self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._put_thread_frames)
        except RuntimeError:  # the loop is closed
            raise TransportClosed(self.reason) from None

    def _put_from_thread(self, frame: bytes) -> tuple[bool, bool]:
        """Returns whether the frame fits, and whether the event loop must be woken."""
        with _thread_lock:
            wake = self._thread_buffer is None
            if self._thread_buffer is None:
                self._thread_buffer = self._new_send_buffer()
            return self._thread_buffer.put(frame), wake

    def _put_thread_frames(self) -> None:
        """Moves the frames of other threads to the send buffer."""
        with _thread_lock:
            buffer, self._thread_buffer = self._thread_buffer, None
        if buffer is None:
            return
        self._send_buffer.dropped += buffer.dropped
        frames = buffer.take(buffer.limit)
        for sent, frame in enumerate(frames):
            try:
                self._check_open()
                self._put(frame)
            except TransportClosed as error:
                lost = len(frames) - sent
                logger.error("%d messages of other threads were not sent: %s", lost, error)
                return

    # Closing.

    def _shut_down(self) -> None:
        if self._state is not State.OPEN:
            return
        self._put_thread_frames()
        self._state = State.CLOSING
        self._stream.set_write_buffer_limits(*_NOTHING_BUFFERED)
        if self._read_paused:
            # Reads up to the peer's EOF, since a connection closed with unread bytes is reset.
            self._read_paused = False
            self._stream.resume_reading()
        self._flush()

    def _finish_close(self) -> None:
        """Sends EOF once everything is written, and gives the peer time to close as well."""
        if self._linger_timer is not None or self._stream.is_closing():
            return
        if self._peer_done or not self._stream.can_write_eof():
            self._stream.close()
            return
        try:
            self._stream.write_eof()
        except OSError:  # the connection broke, and asyncio has not reported it yet
            self._stream.close()
            return
        self._linger_timer = self._loop.call_later(self._limits.linger, self._stream.close)

    def _abort(self) -> None:
        unsent = self._bytes_unsent()
        if unsent and self._state is not State.CLOSED:
            logger.warning("the transport is aborted with %d bytes unsent", unsent)
        self._state = State.CLOSING
        self._send_buffer.clear()
        self._stream.abort()

    def _fail(self, reason: TransportError) -> None:
        """Ends the transport at once, because of an error."""
        if self._state in (State.NEW, State.CLOSED):
            return
        self._receive_buffer.end(reason)
        self._abort()
        self._end_wait(False)

    # Called by asyncio.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._loop = asyncio.get_running_loop()
        self._stream = cast(asyncio.Transport, transport)
        if self._state is State.CLOSED:  # closed while it connected
            self._stream.abort()
        else:
            self._state = State.OPEN

    def data_received(self, data: bytes) -> None:
        if self._state is not _OPEN:
            return
        decoder = self._decoder
        messages = decoder.receive(data)
        # With this, sends do not schedule a flush: what the receiver sends is written below.
        self._flush_due = True
        self._receive_buffer.put(messages, decoder.consumed)
        if decoder.refused:
            self._refuse_malformed()
        if self._flush_due:
            self._flush()
        if decoder.error is not None:
            self._receive_buffer.end(decoder.error)
            self._begin_close(self._limits.close_timeout)
        elif self._receive_buffer.size > self._limits.receive_queue and self._state is _OPEN:
            self._read_paused = True
            self._stream.pause_reading()

    def _refuse_malformed(self) -> None:
        """Logs the frames that did not parse, and fails the requests that they concern."""
        errors, starts = self._decoder.refused[:], self._decoder.refused_starts[:]
        self._decoder.refused.clear()
        self._decoder.refused_starts.clear()
        for error, start in zip(errors, starts, strict=True):
            self._log_refused(error)
            substitute = error_response(
                self._format.message_class, self._format.correlation, start, error
            )
            if substitute is None:
                continue
            if substitute.is_response:
                self._receive_buffer.put([substitute.answer], HEADER_SIZE)
            else:
                with suppress(TransportClosed):
                    self.send_nowait(substitute.answer)

    def eof_received(self) -> bool:
        self._peer_done = True
        self._receive_buffer.end(self._decoder.receive_eof())
        if self._state is State.OPEN:
            self._begin_close(self._limits.close_timeout)
        else:
            self._flush()
        # asyncio must not close a connection while there is still something to write.
        return self._send_buffer.size > 0 and self._stream.can_write_eof()

    def pause_writing(self) -> None:
        self._write_paused = True

    def resume_writing(self) -> None:
        self._write_paused = False
        # Not flushed here: asyncio is still writing, and reports the end twice if the connection is
        # closed in this call.
        self._loop.call_soon(self._flush)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._linger_timer is not None:
            self._linger_timer.cancel()
        reason: TransportError | None = self._decoder.receive_eof()
        if exc is not None and reason is None:
            reason = ConnectionLost(str(exc) or type(exc).__name__)
            reason.__cause__ = exc
        self._state = State.CLOSED
        self._receive_buffer.end(reason)
        if self._send_buffer.size:
            logger.warning("the connection was lost, %d bytes unsent", self._send_buffer.size)
            self._send_buffer.clear()
        self._end_wait(False)
        self._set_closed()
