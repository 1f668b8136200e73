"""A transport over the byte streams of a LiveKit room, one stream for each message.

A room reports no end of a conversation: the transport ends when the peer leaves or the room
disconnects. Importing this module does not import livekit.
"""

from __future__ import annotations

import asyncio
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from ...errors import (
    ConnectFailed,
    FrameError,
    MalformedFrame,
    SlowConsumer,
    TopicInUse,
    TransportClosed,
    TransportError,
    TruncatedFrame,
)
from ..base import M, logger
from ..buffered import BufferedTransport, State
from ..framing import UNPARSABLE
from ..limits import DEFAULT_LIMITS, StreamLimits
from ..message_format import HEADER_SIZE, MessageFormat
from ..correlation import Correlation
from .lifecycle import RoomLifecycle
from ..error_responses import START_SIZE, error_response
from .log import ParticipantLog
from .receiver import StreamReceiver, is_cut_off
from .router import Router
from .sender import StreamSender

if TYPE_CHECKING:
    from livekit import rtc

# `send` waits while more bytes than this are queued.
_SEND_HIGH_WATER: Final = 1 << 16


# The name of an empty stream after which the sender sends and answers nothing more. Peers that do not
# know it receive an empty message, which has no effect.
_END_NAME: Final = "AS_end"


class _EndFrame(bytes):
    """The frame of an empty message that is sent in a stream named `_END_NAME`."""


class RoomTransport(BufferedTransport[M]):
    """A transport over a room. `close` does not disconnect the room.

    With a remote identity, the transport is bound to that participant: messages go to it alone,
    and those of others are ignored. The participant may join after the transport starts. The
    transport ends when the participant leaves, or has called `send_end`. It also ends when the
    connection of the participant is replaced, as in a full reconnect, since messages may be lost.

    Without a remote identity, the transport is open to all participants: a response goes to the
    sender of the request, and other messages go to everyone. It ends when the room disconnects. If
    it sends requests, it also ends when all participants that sent other messages than requests
    have called `send_end`, since nobody answers then.

    LiveKit does not report the disconnect of a participant that is hidden, or that left before the
    server had reported that it joined, which can take three seconds. A peer that has sent a message
    and is not listed in the room after `stall_timeout` is therefore taken for one that left. One
    whose connection is replaced before it was listed is not noticed. LiveKit does not report which
    messages have arrived either: a full reconnect may lose some.

    A message over `room_message_size` is refused. If it is a response, the request fails with an
    error; if it is a request, it is answered with an error. A peer that sends much faster than this
    side reads ends a bound transport with a `SlowReader`. An open transport refuses the message
    instead, so that no participant can end the sessions of others.

    The `stall_timeout` of the limits applies to whole messages, since a room does not report how
    much of a message it has taken. It also applies to a received stream that delivers nothing; its
    message is refused. The time that the room takes to reconnect is not counted.

    Call the methods only on the thread of the event loop.

    Args:
        message_format: the messages that the transport carries.
        room: the room. Connect it before `start`.
        remote_identity: the identity of the peer; None for all participants.
        topic: the topic of the byte streams.
        correlation: how responses are matched with requests, to route them without a remote
            identity; None for that of the message format. Without one, all messages go to everyone.
        limits: the limits of the transport. `linger` is how long `close` waits after the last
            message, since a room that is disconnected at once drops it. It is also how long the
            transport waits for messages that arrive after the peer's disconnect.
    """

    __slots__ = (
        "_room",
        "_remote_identity",
        "_topic",
        "_lifecycle",
        "_receiver",
        "_sender",
        "_router",
        "_correlation",
        "_fault",
        "_truncated",
        "_linger_timer",
        "_participants",
        "_received_count",
    )

    def __init__(
        self,
        message_format: MessageFormat[M],
        room: rtc.Room,
        remote_identity: str | None = None,
        *,
        topic: str,
        correlation: Correlation | None = None,
        limits: StreamLimits = DEFAULT_LIMITS,
    ) -> None:
        if remote_identity == "":
            raise ValueError("the remote identity is empty")
        super().__init__(message_format, limits)
        self._room = room
        self._remote_identity = remote_identity
        self._topic = topic
        self._correlation = correlation or message_format.correlation
        self._router = Router[M](remote_identity, self._correlation)
        self._lifecycle = RoomLifecycle(
            room,
            remote_identity,
            limits.stall_timeout,
            self._drain,
            self._reconnected,
            self._router.left,
        )
        self._receiver = StreamReceiver(
            limits.room_message_size,
            limits.stall_timeout,
            self._lifecycle.is_reconnecting,
            self._message_received,
            self._message_refused,
            self._refuse_message,
            self._settle,
        )
        self._sender = StreamSender(
            limits,
            message_format,
            self._transmit,
            self._lifecycle.is_reconnecting,
            self._send_failed,
            self._settle,
        )
        self._fault: TransportError | None = None
        # The error of a truncated message, if it is the last that was received.
        self._truncated: TransportError | None = None
        self._linger_timer: asyncio.TimerHandle | None = None
        self._participants = ParticipantLog()
        self._received_count = 0

    @property
    def dropped_frames(self) -> int:
        return self._sender.dropped

    @property
    def max_message_size(self) -> int:
        return self._limits.room_message_size

    async def start(self) -> None:
        """Starts to listen in the room. May be called again after a failure.

        Raises:
            ConnectFailed: the room is not connected.
            TopicInUse: another handler in this process is registered for the topic of the room.
            TransportClosed: the transport was closed.
        """
        if self._state is State.OPEN:
            return
        if self._state is not State.NEW:
            raise TransportClosed(self.reason)
        if not self._room.isconnected():
            raise ConnectFailed("the room is not connected")
        try:
            self._room.register_byte_stream_handler(self._topic, self._stream_opened)
        except ValueError as error:
            raise TopicInUse(self._topic) from error
        self._lifecycle.start()
        self._loop = asyncio.get_running_loop()
        self._state = State.OPEN

    # Receiving.

    def _resume_reading(self) -> None:
        self._receiver.resume()

    def _stream_opened(self, reader: rtc.ByteStreamReader, identity: str) -> None:
        if self._remote_identity is None:
            self._receiver.add(reader, identity)
        elif self._remote_identity == identity:
            self._lifecycle.peer_sent()
            self._receiver.add(reader, identity)
        else:
            reader.close()
            self._participants.log_ignored(identity)

    def _message_received(self, identity: str, body: bytes, name: str) -> None:
        self._truncated = None
        self._received_count += 1
        if not body:
            if name == _END_NAME:
                self._router.ended(identity)
                if self._remote_identity is not None or self._router.unanswered:
                    self._drain(None)
            return
        try:
            message = self._format.message_class.FromString(body)
        except UNPARSABLE:
            error = MalformedFrame(self._received_count - 1, len(body))
            self._refuse_message(identity, error, body[:START_SIZE])
            return
        self._router.received(message, identity)
        self._receive_buffer.put([message], HEADER_SIZE + len(body))
        if self._receive_buffer.size > self._limits.receive_queue and self._state is State.OPEN:
            self._receiver.pause()

    def _message_refused(self, identity: str, error: TransportError) -> None:
        self._log_refused(error, f" of {identity!r}")
        if self._remote_identity is None:
            return
        if isinstance(error, TruncatedFrame):
            self._truncated = error
        else:
            self._begin_close(self._limits.close_timeout)
            self._receive_buffer.end(error)

    def _refuse_message(self, identity: str, error: FrameError, start: bytes) -> None:
        """Refuses a message that cannot be read, and fails the request that it concerns.

        Args:
            identity: the participant that sent the message.
            error: why the message is refused.
            start: the first bytes of the message.
        """
        self._log_refused(error, f" of {identity!r}")
        substitute = error_response(self._format.message_class, self._correlation, start, error)
        if substitute is None:
            return
        if substitute.is_response:
            self._receive_buffer.put([substitute.answer], HEADER_SIZE)
        elif self._state is State.OPEN:
            self._router.expect_response(substitute.answer, identity)
            with suppress(TransportClosed):
                self.send_nowait(substitute.answer)

    # Sending.

    def awaits_response(self, request_id: str) -> bool:
        identity = self._router.left_after(request_id)
        # A participant whose connection was replaced is in the room again.
        return identity is None or identity in self._room.remote_participants

    def send_end(self) -> None:
        if self._state is State.OPEN:
            with suppress(TransportClosed):
                self._put(_EndFrame(HEADER_SIZE))

    async def flush(self) -> None:
        """Waits until the room has taken all messages. LiveKit does not report their arrival."""
        self._check_open()
        if not await self._sender.wait_for_all():
            raise TransportClosed(self._end_reason())

    def _encode(self, message: M) -> bytes | None:
        self._check_open()
        frame = self._router.encode(message, self._limits.room_message_size)
        if self._router.unanswered:
            self._drain(None)
            self._check_open()
        return frame

    def _put(self, frame: bytes) -> None:
        try:
            self._sender.put(frame)
        except SlowConsumer as reason:
            self._fail(reason)
            raise TransportClosed(reason) from None
        self._log_dropped()

    def _is_congested(self) -> bool:
        return self._sender.size > _SEND_HIGH_WATER

    async def _wait_for_space(self) -> bool:
        return await self._sender.wait_for_size(_SEND_HIGH_WATER)

    async def _transmit(self, frame: bytes) -> None:
        recipient = self._router.recipient(frame)
        if self._remote_identity is not None and self._state is State.OPEN:
            self._lifecycle.sent_to_peer()
        is_end = isinstance(frame, _EndFrame)
        await self._room.local_participant.send_bytes(
            frame[HEADER_SIZE:],
            name=_END_NAME if is_end else f"AS_{uuid.uuid4().hex[:12]}",
            topic=self._topic,
            destination_identities=None if recipient is None else [recipient],
        )

    def _send_failed(self, reason: TransportError) -> None:
        if self._state is State.OPEN and not isinstance(reason, SlowConsumer):
            self._drain(reason)  # the room may be about to report a more precise reason
        else:
            self._fail(reason)

    # Ends caused by the peer or the room.

    def _end_reason(self) -> TransportError | None:
        return self.reason or self._fault

    def _reconnected(self) -> None:
        """Restarts the stall timeouts, which do not include the time of the reconnect."""
        self._sender.reset_stall_timers()
        self._receiver.reset_stall_timers()

    def _drain(self, fault: TransportError | None) -> None:
        """Refuses sends, and receives messages that may still arrive.

        If it is called again, the new fault replaces the earlier one.
        """
        self._fault = fault
        if self._state is State.OPEN:
            self._state = State.DRAINING
            self._close_deadline = self._loop.time() + self._limits.close_timeout
            if not is_cut_off(self._truncated):
                self._truncated = None
            self._sender.abort()
            self._receiver.resume()
            self._linger(-1)
        self._settle()

    def _linger(self, last_progress: int) -> None:
        """Ends the transport when no data arrives any more, after abandoning stalled streams."""
        quiet = self._receiver.progress == last_progress
        if (quiet and self._receiver.idle) or self._loop.time() >= self._close_deadline:
            self._end()
            return
        if quiet:
            self._receiver.abandon_open_streams()
        self._linger_timer = self._loop.call_later(
            self._limits.linger, self._linger, self._receiver.progress
        )

    def _end(self) -> None:
        if not self._receiver.idle:
            logger.warning("the peer left; its messages that still arrive are discarded")
        self._leave()
        self._receive_buffer.end(self._truncated or self._fault)

    def _fail(self, reason: TransportError) -> None:
        """Ends the transport at once, because of an error."""
        self._leave()
        self._receive_buffer.end(reason)
        self._abort()

    # Closing.

    def _shut_down(self) -> None:
        self._leave()
        self._settle()

    def _leave(self) -> None:
        """Stops receiving from the room."""
        if self._state not in (State.OPEN, State.DRAINING):
            return
        self._state = State.CLOSING
        if self._linger_timer is not None:
            self._linger_timer.cancel()
        self._room.unregister_byte_stream_handler(self._topic)
        self._lifecycle.stop()
        self._receiver.stop()

    def _abort(self) -> None:
        self._sender.abort()
        self._settle()

    def _settle(self) -> None:
        """Moves to the next state if the current one is complete."""
        if self._state is State.DRAINING and self._lifecycle.disconnected and self._receiver.idle:
            self._end()
        if self._state is not State.CLOSING or not (self._sender.idle and self._receiver.idle):
            return
        earliest = min(self._sender.last_sent + self._limits.linger, self._close_deadline)
        if self._linger_timer is not None:
            self._linger_timer.cancel()
        if self._loop.time() < earliest:
            self._linger_timer = self._loop.call_at(earliest, self._settle)
        else:
            self._set_closed()
