"""A session over the byte streams of a LiveKit room: one stream for each message.

Comes in: a room that is connected, and the identity of the peer in it, if that is known. Goes
out: messages both ways in order, and the end that a room does not have of itself: the peer
leaves, or the room disconnects. Importing this module does not import livekit.
"""

from __future__ import annotations

import asyncio
import uuid
from enum import Enum
from typing import TYPE_CHECKING, Final

from agent_session_protocol.agent_session_pb2 import AgentSessionMessage

from ...errors import (
    ConnectFailed,
    NotStarted,
    SlowConsumer,
    TopicInUse,
    TransportClosed,
    TransportError,
    TruncatedFrame,
)
from ..framing import HEADER_SIZE, FrameDecoder, is_audio
from ..receive_buffer import Inbox
from ..limits import DEFAULT_LIMITS, StreamLimits
from .receiver import RoomInlet
from .log import RoomLog
from .sender import RoomOutbox
from .router import Router
from .lifecycle import RoomWatch
from ..base import Receiver, SessionTransport, logger

if TYPE_CHECKING:
    from livekit import rtc

TOPIC: Final = "lk.agent.session"

# How many bytes may wait before `send` waits too.
_HIGH: Final = 1 << 16


class State(Enum):
    """Where a transport stands; it only moves down the list."""

    NEW = "new"
    OPEN = "open"
    DRAINING = "draining"  # the peer is gone, and what it sent may still be on its way
    CLOSING = "closing"  # nothing more is taken, and what was sent is on its way
    CLOSED = "closed"


class RoomSessionTransport(SessionTransport):
    """A `SessionTransport` over a room, which stays the caller's: `close` does not disconnect it.

    With a remote identity the transport is bound to that participant: messages go to it alone,
    those of others are ignored, and its leaving ends the transport. So does a connection of it
    that is replaced, as in a full reconnect, since messages may be lost then. The participant may
    join later than the transport starts. Without one the transport is open to all in the room:
    events go to everybody, and a response to whoever sent the request; only the disconnect of
    the room ends it.

    A room does not tell everything. Nothing is heard of the leaving of a participant that is
    hidden, or that left before the server had told of its joining, which can take three seconds.
    Nor is it known what has arrived: a full reconnect of this side's room may lose messages.

    A message over 1 MiB ends a transport that is bound, with a `FrameTooLarge`, and so does a
    peer that sends much faster than is read, with a `SlowReader`. A transport that is open to all
    refuses the message instead, as no participant may end the session of the others.

    `stall_timeout` of the limits counts by the message, since a room does not tell how much of
    one it has taken. The same time is given to a stream that begins and brings nothing; its
    message is refused then. The time that the room needs to reconnect does not count.

    The methods are for the event loop's thread alone.

    Args:
        room: the room. Connect it before `start`.
        remote_identity: the identity of the peer; None for all in the room.
        limits: what the transport may take. `linger` is how long `close` waits after the last
            message was sent, for a room that is disconnected at once drops it, and how long the
            transport waits for messages that the news of the peer's leaving overtook.
    """

    __slots__ = (
        "_room",
        "_remote_identity",
        "_limits",
        "_state",
        "_loop",
        "_decoder",
        "_inbox",
        "_watch",
        "_inlet",
        "_outbox",
        "_router",
        "_fault",
        "_cut",
        "_timer",
        "_close_timer",
        "_deadline",
        "_gone",
        "_log",
    )

    # Set once started.
    _loop: asyncio.AbstractEventLoop
    _gone: asyncio.Future[None]

    def __init__(
        self,
        room: rtc.Room,
        remote_identity: str | None = None,
        *,
        limits: StreamLimits = DEFAULT_LIMITS,
    ) -> None:
        if remote_identity == "":
            raise ValueError("an empty identity is nobody's")
        self._room = room
        self._remote_identity = remote_identity
        self._limits = limits
        self._state = State.NEW
        self._decoder = FrameDecoder()
        self._inbox = Inbox()
        self._watch = RoomWatch(room, remote_identity, self._drain, self._excuse)
        excused = self._watch.reconnecting
        self._inlet = RoomInlet(
            limits.stall_timeout, excused, self._received, self._refuse, self._settle
        )
        self._outbox = RoomOutbox(limits, self._transmit, excused, self._send_failed, self._settle)
        self._router = Router(remote_identity)
        self._fault: TransportError | None = None
        self._cut: TransportError | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._close_timer: asyncio.TimerHandle | None = None
        self._deadline = 0.0
        self._log = RoomLog()

    # What a session asks.

    @property
    def closed(self) -> bool:
        return self._state not in (State.NEW, State.OPEN)

    @property
    def reason(self) -> TransportError | None:
        return self._inbox.reason

    @property
    def refused_frames(self) -> int:
        """Messages that did not parse, did not arrive whole, were too long or too many."""
        return self._log.refused

    @property
    def dropped_audio(self) -> int:
        """Audio frames that were dropped because the room was too slow."""
        return self._outbox.dropped

    async def start(self) -> None:
        """Begin to listen in the room. May be called again after it failed.

        Raises:
            ConnectFailed: the room is not connected.
            TopicInUse: something else in this process reads the session messages of the room.
            TransportClosed: the transport was closed.
        """
        if self._state is State.OPEN:
            return
        if self._state is not State.NEW:
            raise TransportClosed(self.reason)
        if not self._room.isconnected():
            raise ConnectFailed("the room is not connected")
        try:
            self._room.register_byte_stream_handler(TOPIC, self._stream_opened)
        except ValueError as error:
            raise TopicInUse(TOPIC) from error
        self._watch.start()
        self._loop = asyncio.get_running_loop()
        self._gone = self._loop.create_future()
        self._state = State.OPEN

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
        self._inbox.size = 0
        self._inlet.resume()

    def _stream_opened(self, reader: rtc.ByteStreamReader, identity: str) -> None:
        if self._remote_identity in (None, identity):
            self._inlet.add(reader, identity)
            return
        reader.close()
        self._log.tell_stranger(identity)

    def _received(self, identity: str, body: bytes) -> None:
        """Take the bytes of a message, as the frame that they would be on a stream."""
        self._cut = None
        messages = self._decoder.receive(len(body).to_bytes(HEADER_SIZE, "big") + body)
        for error in self._decoder.refused:
            self._log.tell_refused(identity, error)
        self._decoder.refused.clear()
        for message in messages:
            self._router.note(message, identity)
        self._inbox.put(messages, self._decoder.taken)
        if self._inbox.size > self._limits.receive_queue and self._state is State.OPEN:
            self._inlet.pause()

    def _refuse(self, identity: str, error: TransportError) -> None:
        self._log.tell_refused(identity, error)
        if self._remote_identity is None:
            return
        if isinstance(error, TruncatedFrame):
            self._cut = error
        else:
            self._begin_close(self._limits.close_timeout)
            self._inbox.end(error)

    # Sending.

    async def send(self, message: AgentSessionMessage) -> None:
        self._check_open()
        frame = self._router.frame(message)
        if frame is None:
            return
        self._put(frame)
        if self._outbox.size <= _HIGH:
            return
        if is_audio(frame):
            await asyncio.sleep(0)  # never waits for the peer, but must not starve the loop
        elif not await self._outbox.wait_for_size(_HIGH):
            raise TransportClosed(self._why())

    def send_nowait(self, message: AgentSessionMessage) -> int:
        self._check_open()
        frame = self._router.frame(message)
        if frame is None:
            return 0
        self._put(frame)
        return len(frame)

    async def flush(self) -> None:
        """Wait until the room has taken what was sent; LiveKit does not tell what arrived."""
        self._check_open()
        if not await self._outbox.wait_for_all():
            raise TransportClosed(self._why())

    def _check_open(self) -> None:
        if self._state is State.NEW:
            raise NotStarted
        if self._state is not State.OPEN:
            raise TransportClosed(self._why())

    def _why(self) -> TransportError | None:
        return self.reason or self._fault

    def _put(self, frame: bytes) -> None:
        try:
            self._outbox.put(frame)
        except SlowConsumer as reason:
            self._fail(reason)
            raise TransportClosed(reason) from None

    async def _transmit(self, frame: bytes) -> None:
        recipient = self._router.recipient(frame)
        if recipient is not None and recipient not in self._room.remote_participants:
            self._log.tell_absent(recipient)
        await self._room.local_participant.send_bytes(
            frame[HEADER_SIZE:],
            name=f"AS_{uuid.uuid4().hex[:12]}",
            topic=TOPIC,
            destination_identities=None if recipient is None else [recipient],
        )

    def _send_failed(self, reason: TransportError) -> None:
        if self._state is State.OPEN and not isinstance(reason, SlowConsumer):
            self._drain(reason)  # the room may be about to tell what happened to it
        else:
            self._fail(reason)

    # The end that the peer or the room makes.

    def _excuse(self) -> None:
        """The room has reconnected: nothing in it has been slow."""
        self._outbox.excuse()
        self._inlet.excuse()

    def _drain(self, fault: TransportError | None) -> None:
        """Refuse sends, and take what is still to come. What the room tells last is the fault."""
        self._fault = fault
        if self._state is State.OPEN:
            self._state = State.DRAINING
            self._deadline = self._loop.time() + self._limits.close_timeout
            self._cut = None
            self._outbox.abort()
            self._inlet.resume()
            self._linger(-1)
        self._settle()

    def _linger(self, seen: int) -> None:
        """End when nothing comes any more. A stream that brings nothing is given up before."""
        quiet = self._inlet.progress == seen
        if (quiet and self._inlet.idle) or self._loop.time() >= self._deadline:
            self._end()
            return
        if quiet:
            self._inlet.give_up()
        self._timer = self._loop.call_later(self._limits.linger, self._linger, self._inlet.progress)

    def _end(self) -> None:
        if not self._inlet.idle:
            logger.warning("messages still come from a peer that left; they are not read")
        self._leave()
        self._inbox.end(self._cut or self._fault)

    def _fail(self, reason: TransportError) -> None:
        """End at once, for a reason of this side."""
        self._leave()
        self._inbox.end(reason)
        self._abort()

    # Closing.

    async def close(self, timeout: float | None = None) -> None:
        self._inbox.discard()
        if self._state is State.NEW:
            self._state = State.CLOSED
        self._inbox.end(None)
        if self._state is not State.CLOSED:
            self._begin_close(self._limits.close_timeout if timeout is None else timeout)
            await asyncio.shield(self._gone)

    def _begin_close(self, timeout: float) -> None:
        """Send what is queued, then settle. The deadline holds even if nobody waits."""
        deadline = self._loop.time() + timeout
        if self._close_timer is None or deadline < self._deadline:
            if self._close_timer is not None:
                self._close_timer.cancel()
            self._deadline = deadline
            self._close_timer = self._loop.call_at(deadline, self._abort)
        self._leave()
        self._settle()

    def _leave(self) -> None:
        """Take nothing more out of the room."""
        if self._state not in (State.OPEN, State.DRAINING):
            return
        self._state = State.CLOSING
        if self._timer is not None:
            self._timer.cancel()
        self._room.unregister_byte_stream_handler(TOPIC)
        self._watch.stop()
        self._inlet.stop()

    def _abort(self) -> None:
        self._outbox.abort()
        self._settle()

    def _settle(self) -> None:
        """Go a step further to the end, if nothing is left to do before it."""
        if self._state is State.DRAINING and self._watch.room_gone and self._inlet.idle:
            self._end()
        if self._state is not State.CLOSING or not (self._outbox.idle and self._inlet.idle):
            return
        rest = self._outbox.last_sent + self._limits.linger
        if self._loop.time() < min(rest, self._deadline):
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self._loop.call_at(min(rest, self._deadline), self._settle)
            return
        self._state = State.CLOSED
        for timer in (self._timer, self._close_timer):
            if timer is not None:
                timer.cancel()
        self._gone.set_result(None)
