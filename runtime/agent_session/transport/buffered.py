"""The base of the transports over streams and rooms: state, buffers of both directions, close."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from enum import Enum
from typing import Final

from ..errors import NotStarted, TransportClosed, TransportError
from ..timeouts import check_timeouts
from .base import M, Receiver, Transport, logger
from .limits import StreamLimits
from .message_format import MessageFormat
from .receive_buffer import ReceiveBuffer

# This many refused frames are logged one by one; later ones each time their number has doubled.
_LOGGED_ONE_BY_ONE: Final = 8


class State(Enum):
    """The state of a transport. It only ever moves down this list."""

    NEW = "new"
    OPEN = "open"
    DRAINING = "draining"  # the peer has disconnected; messages that it sent may still arrive
    CLOSING = "closing"  # nothing more is received; what was sent is being written
    CLOSED = "closed"


class BufferedTransport(Transport[M]):
    """A transport with a receive buffer and a send queue.

    Args:
        message_format: the messages that the transport carries.
        limits: the limits of the transport.
    """

    __slots__ = (
        "_format",
        "_limits",
        "_state",
        "_loop",
        "_receive_buffer",
        "_close_timer",
        "_close_deadline",
        "_closed_waiter",
        "_refused",
        "_logged_dropped",
    )

    # Set once connected.
    _loop: asyncio.AbstractEventLoop

    def __init__(self, message_format: MessageFormat[M], limits: StreamLimits) -> None:
        self._format = message_format
        self._limits = limits
        self._state = State.NEW
        self._receive_buffer = ReceiveBuffer[M]()
        self._close_timer: asyncio.TimerHandle | None = None
        self._close_deadline = 0.0
        self._closed_waiter: asyncio.Future[None] | None = None
        self._refused = 0
        self._logged_dropped = 0

    @property
    def closed(self) -> bool:
        return self._state not in (State.NEW, State.OPEN)

    @property
    def reason(self) -> TransportError | None:
        return self._receive_buffer.reason

    @property
    def refused_frames(self) -> int:
        """The number of the peer's messages that were refused, such as those that did not parse."""
        return self._refused

    @property
    @abstractmethod
    def dropped_frames(self) -> int:
        """The number of droppable messages that were dropped because the peer was too slow."""

    # Receiving.

    async def __anext__(self) -> M:
        buffer = self._receive_buffer
        while True:
            message = buffer.take()
            if message is not None:
                return message
            if buffer.ended:
                raise StopAsyncIteration
            self._buffer_read()
            await buffer.wait()

    def deliver_to(self, receiver: Receiver[M]) -> None:
        self._receive_buffer.deliver_to(receiver)
        self._buffer_read()

    def _buffer_read(self) -> None:
        """Resets the receive buffer when the reader has read all of it, and resumes reading."""
        self._receive_buffer.size = 0
        self._resume_reading()

    @abstractmethod
    def _resume_reading(self) -> None:
        """Lets the peer's messages arrive again."""

    def _log_refused(self, error: TransportError, sender: str = "") -> None:
        """Logs a refused message, unless so many were refused that they would flood the log."""
        self._refused = count = self._refused + 1
        if count <= _LOGGED_ONE_BY_ONE or count & (count - 1) == 0:
            # The text of a livekit error is safe to log; that of a protobuf error may contain
            # parts of the message.
            cause = f" ({error.__cause__})" if isinstance(error.__cause__, ConnectionError) else ""
            logger.warning("%s%s; refused, %d so far%s", error, cause, count, sender)

    # Sending.

    async def send(self, message: M) -> None:
        frame = self._encode(message)
        if frame is None:
            return
        self._put(frame)
        if not self._is_congested():
            return
        if self._format.is_droppable(frame):
            await asyncio.sleep(0)  # does not wait for the peer, but lets other tasks run
        elif not await self._wait_for_space():
            raise TransportClosed(self._end_reason())

    def send_nowait(self, message: M) -> int:
        frame = self._encode(message)
        if frame is None:
            return 0
        self._put(frame)
        return len(frame)

    def _check_open(self) -> None:
        if self._state is State.NEW:
            raise NotStarted
        if self._state is not State.OPEN:
            raise TransportClosed(self._end_reason())

    def _end_reason(self) -> TransportError | None:
        return self.reason

    @abstractmethod
    def _encode(self, message: M) -> bytes | None:
        """Returns the frame of a message, or None if it has no recipient. Raises as `send` does."""

    @abstractmethod
    def _put(self, frame: bytes) -> None:
        """Adds a frame to the send buffer; fails the transport if the frame does not fit."""

    @abstractmethod
    def _is_congested(self) -> bool:
        """Reports whether `send` has to wait."""

    @abstractmethod
    async def _wait_for_space(self) -> bool:
        """Waits until `send` may return. Returns False if the transport ended instead."""

    def _log_dropped(self) -> None:
        """Logs dropped frames, each time that their number has doubled."""
        if self.dropped_frames > 2 * self._logged_dropped:
            self._logged_dropped = self.dropped_frames
            logger.warning("the peer is slow: %d frames dropped so far", self._logged_dropped)

    # Closing.

    async def close(self, timeout: float | None = None) -> None:
        check_timeouts(timeout=timeout)
        self._receive_buffer.discard()
        if self._state is State.NEW:
            self._state = State.CLOSED
        self._receive_buffer.end(None)
        if self._state is State.CLOSED:
            return
        if self._closed_waiter is None:
            self._closed_waiter = self._loop.create_future()
        self._begin_close(self._limits.close_timeout if timeout is None else timeout)
        await asyncio.shield(self._closed_waiter)

    def _begin_close(self, timeout: float) -> None:
        """Refuses sends, writes what is queued, and disconnects.

        The deadline holds even if nobody waits for the close. A later deadline is ignored.
        """
        deadline = self._loop.time() + timeout
        if self._close_timer is None or deadline < self._close_deadline:
            if self._close_timer is not None:
                self._close_timer.cancel()
            self._close_deadline = deadline
            self._close_timer = self._loop.call_at(deadline, self._abort)
        self._shut_down()

    @abstractmethod
    def _shut_down(self) -> None:
        """Does the work of `_begin_close`, once the deadline is set. May be called repeatedly."""

    @abstractmethod
    def _abort(self) -> None:
        """Disconnects without writing what is queued."""

    def _set_closed(self) -> None:
        """Moves to the last state, and wakes the callers of `close`."""
        self._state = State.CLOSED
        if self._close_timer is not None:
            self._close_timer.cancel()
        if self._closed_waiter is not None:
            self._closed_waiter.set_result(None)
