"""The driver side of a session: sends requests and receives responses, events and audio."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.client import SessionRequestClient
from agent_session_protocol.errors import RequestError, UnexpectedArmError
from agent_session_protocol.events import AgentSessionEventListeners

from ..errors import ConnectionLost, NotStarted, TransportClosed, TransportError
from .outcome import Alive, Ended, Lost, Outcome, Stalled, Status
from .pending import PendingRequests, is_run
from .requests import SessionRequests, ShortNames
from .readiness import wait_for_ready
from .console import Console
from .events import DEFAULT_EVENT_QUEUE, EventStream, ReceivedEvent
from .request_queue import RequestQueue
from .errors import DriverClosed, RequestTimedOut, SessionEnded, SessionLost
from ..timeouts import check_timeouts
from ..transport.base import logger
from ..transport.session import SessionTransport

if TYPE_CHECKING:
    _ShortNames = SessionRequestClient
else:
    _ShortNames = ShortNames


_T = TypeVar("_T", bound="RemoteSession")


# The last base, so that a request replaces no method of a session.
class RemoteSession(AgentSessionEventListeners, _ShortNames):
    """The driver side of an agent's session, over any transport.

    `requests` has a method for each request. The session itself has the same methods, except for
    requests with the name of another method of the session. There is an `on_` method for each
    event, and iteration yields all events::

        session = RemoteSession(transport)
        session.on_error(lambda error, event: print(error.message))
        async with session:
            print(await session.run_input(text="hello"))
            print(await session.wait_ended())

    Each request raises the errors that `SessionRequestClient` documents, and:
    - RequestTimedOut: no response arrived within `timeout`.
    - SessionLost: the connection was lost; `reason` is the error of the transport.
    - SessionEnded: the request is a run, and the host has sent session_closed.
    - DriverClosed: the driver closed the session.
    - NotStarted: the session is not started yet.
    - FrameTooLarge, UnencodableMessage: the request cannot be sent.

    Listeners are called on the event loop, which they must not block. A listener that is added
    before `start` receives all events. Without a console, the session reports speech as played
    as soon as it is complete.

    Args:
        transport: the transport to the host. The session starts and closes it.
        timeout: how long a request waits for its response by default, in seconds.
        console: plays the agent's speech.

    Attributes:
        requests: the client, with a method for each request of the protocol.
    """

    # Set once started.
    _pending: PendingRequests

    def __init__(
        self, transport: SessionTransport, *, timeout: float = 60.0, console: Console | None = None
    ) -> None:
        super().__init__()
        check_timeouts(timeout=timeout)
        self.requests: SessionRequestClient = SessionRequests(self)
        self._transport = transport
        self._timeout = timeout
        self._console = console
        self._request_queue = RequestQueue(transport)
        self._streams: weakref.WeakSet[EventStream] | None = None  # made when needed
        self._starting = asyncio.Lock()
        self._started = False
        self._closed = False
        self._delivery: asyncio.Task[None] | None = None
        self._outcome: Outcome | None = None
        self._outcome_known: asyncio.Event | None = None  # made when needed
        # The error of a send; None if messages can be sent.
        self._send_error: Callable[[], Exception] | None = NotStarted
        # Whether all requests can be sent, so that the usual case needs one check.
        self._accepts_requests = False
        self._logged: frozenset[str] = frozenset()

    # Start and close.

    async def start(self) -> None:
        """Connects, and starts to receive. May be called again after a failure.

        Raises:
            ConnectFailed: the host cannot be reached.
            TransportClosed: the transport has ended already. Messages that it received before are
                still delivered. Not raised if session_closed is among them.
            DriverClosed: the driver closed the session.
        """
        async with self._starting:
            if self._closed:
                raise DriverClosed
            if not self._started:
                await self._connect()

    async def _connect(self) -> None:
        transport_closed: TransportClosed | None = None
        try:
            await self._transport.start()
        except TransportClosed as error:
            transport_closed = error
        if self._closed:
            raise DriverClosed
        self._begin()
        if transport_closed is not None and not isinstance(self._outcome, Ended):
            raise transport_closed

    def _begin(self) -> None:
        self._pending = PendingRequests(self._timeout)
        self._started = self._accepts_requests = True
        self._send_error = None
        self._delivery = self._transport.deliver_to(self)
        if self._delivery is not None:
            self._delivery.add_done_callback(self._delivery_done)

    async def close(self, timeout: float | None = None) -> None:
        """Fails pending requests, and closes the transport. May be called at any time and again.

        Args:
            timeout: how long the transport may take, in seconds; None for its own timeout.
        """
        check_timeouts(timeout=timeout)
        if not self._closed:
            self._closed = True
            self._end(Lost(None, by_driver=True), DriverClosed)
        await self._request_queue.close()
        await self._transport.close(timeout)
        if self._delivery is not None:
            self._delivery.cancel()
            await asyncio.wait([self._delivery])

    async def __aenter__(self: _T) -> _T:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # State.

    @property
    def outcome(self) -> Outcome | None:
        """How the session ended; None while it runs."""
        return self._outcome

    async def wait_ended(self) -> Outcome:
        """Waits for the end of the session, and returns the outcome.

        The session ends when the host sends session_closed. The transport may still be connected
        then: a host can wait for requests such as finalize_simulation until the driver closes.
        """
        while self._outcome is None:
            self._outcome_known = self._outcome_known or asyncio.Event()
            await self._outcome_known.wait()
        return self._outcome

    async def probe(self, timeout: float = 5.0) -> Status:
        """Returns the state of the session. Sends a ping unless the session has ended.

        Args:
            timeout: how long to wait for the response, in seconds.

        Raises:
            NotStarted: the session is not started yet.
        """
        if self._outcome is not None:
            return self._outcome
        loop = asyncio.get_running_loop()
        sent_at = loop.time()
        status: Status
        try:
            await self._ping(timeout)
            status = Alive(loop.time() - sent_at)
        except RequestTimedOut:
            status = Stalled(timeout)
        except (SessionLost, DriverClosed):
            return await self.wait_ended()
        return self._outcome or status

    async def wait_for_ready(self, timeout: float = 30.0) -> None:
        """Starts the session, with retries, and sends pings until the host responds.

        Args:
            timeout: how long all attempts may take, in seconds.

        Raises:
            ConnectFailed: the host could not be reached in time. If the last attempt raised
                another error of the transport, that error is raised instead.
            NotReady: the transport connected, but the host did not respond in time.
            SessionLost: the connection was made and lost.
            DriverClosed: the driver closed the session.
        """
        check_timeouts(timeout=timeout)
        await wait_for_ready(self.start, self._ping, timeout)

    async def _ping(self, timeout: float) -> None:
        """Sends a ping. Any response, even an error, shows that the host is there."""
        try:
            await self.requests.ping(timeout=timeout)
        except (RequestError, UnexpectedArmError) as error:
            logger.debug("the response to a ping was %s", type(error).__name__)

    # Sending.

    async def send(
        self, request: pb.SessionRequest, timeout: float | None = None
    ) -> pb.SessionResponse:
        """Sends a copy of a request with a new id, and returns the response.

        A cancellation ends the wait; the host may still be handling the request.
        """
        message = pb.AgentSessionMessage()
        message.request.CopyFrom(request)  # faster than the constructor
        return await self.send_envelope(message, message.request, timeout)

    async def send_envelope(
        self,
        message: pb.AgentSessionMessage,
        request: pb.SessionRequest,
        timeout: float | None = None,
    ) -> pb.SessionResponse:
        """Sends a message as `send` does, without a copy: sets the id in its request.

        Args:
            message: a message that is used only here.
            request: the request of the message, whose lookup would cost time.
            timeout: how long to wait for the response, in seconds.
        """
        if not self._accepts_requests:
            self._check(request)
        future = self._pending.add(request, timeout)
        try:
            self._request_queue.put(message, future)
            return await future
        except BaseException as error:
            self._pending.remove(request)
            if future.done() and not future.cancelled():
                # Sending has ended the transport. Marks the exception as retrieved, since nobody
                # awaits the future.
                future.exception()
            if isinstance(error, TransportClosed):
                raise SessionLost(error.reason) from error
            raise

    def send_audio_input(self, frame: pb.AgentSessionMessage.ConsoleIO.AudioFrame) -> None:
        """Sends a frame of the microphone. If the host is too slow, the oldest frames are dropped.

        Raises:
            SessionLost, DriverClosed, NotStarted, FrameTooLarge: as a request does.
        """
        self._send(pb.AgentSessionMessage(audio_input=frame))

    def send_audio_playback_finished(self) -> None:
        """Reports that all audio before the last flush was played.

        Raises as `send_audio_input` does.
        """
        message = pb.AgentSessionMessage()
        message.audio_playback_finished.SetInParent()
        self._send(message)

    def _send(self, message: pb.AgentSessionMessage) -> None:
        if self._send_error is not None:
            raise self._send_error()
        try:
            self._transport.send_nowait(message)
        except TransportClosed as error:
            raise SessionLost(error.reason) from error

    def _check(self, request: pb.SessionRequest) -> None:
        """Raises an error if the request cannot be sent now."""
        if isinstance(self._outcome, Ended) and is_run(request):
            raise SessionEnded(self._outcome)
        if self._send_error is not None:
            raise self._send_error()

    # Receiving. Only the transport calls `message_received` and `transport_ended`.

    def message_received(self, message: pb.AgentSessionMessage) -> None:
        """Handles a message of the host."""
        if message.HasField("response"):
            if not self._pending.resolve(message.response):
                self._log_once("a response to a request that was never sent")
        elif not self._closed:
            if message.HasField("event"):
                self._event_received(message.event)
            else:
                self._audio_received(message)

    def transport_ended(self, reason: TransportError | None) -> None:
        """Handles the end of the transport."""
        if not self._closed:
            self._end(Lost(reason), partial(SessionLost, reason))

    def _event_received(self, event: pb.AgentSessionEvent) -> None:
        if event.WhichOneof("event") == "session_closed":
            self._session_closed(event.session_closed)
        self.deliver(event)
        if self._streams:
            received = ReceivedEvent.of(event)
            for stream in tuple(self._streams):
                stream.put(received)

    def _session_closed(self, closed: pb.AgentSessionEvent.SessionClosed) -> None:
        error = closed.error if closed.HasField("error") else None
        ended = Ended(closed.reason, error)
        self._set_outcome(ended)
        self._accepts_requests = False
        self._pending.fail_runs(partial(SessionEnded, ended))

    def _audio_received(self, message: pb.AgentSessionMessage) -> None:
        arm, console = message.WhichOneof("message"), self._console
        if arm == "audio_output":
            if console is not None:
                console.audio_output(message.audio_output)
        elif arm == "audio_playback_flush":
            if console is not None:
                console.audio_playback_flush()
            else:
                # Without this, the agent would wait for the end of the playback.
                self.send_audio_playback_finished()
        elif arm == "audio_playback_clear":
            if console is not None:
                console.audio_playback_clear()
        else:
            self._log_once(f"a message that is not for drivers: {arm or 'unknown'}")

    def events(self, limit: int = DEFAULT_EVENT_QUEUE) -> EventStream:
        """Returns an iterator over the events that arrive from now on.

        Each iterator and each listener receives all events.

        Args:
            limit: about how many bytes of events may wait to be read. Events over the limit are
                dropped, and the iterator raises `EventsMissed`.
        """
        stream = EventStream(limit)
        if self._outcome is None:
            self._streams = self._streams or weakref.WeakSet()
            self._streams.add(stream)
        else:
            stream.end()
        return stream

    def __aiter__(self) -> EventStream:
        return self.events()

    # The end.

    def _set_outcome(self, outcome: Outcome) -> None:
        """Sets the outcome. Only the first call has an effect."""
        if self._outcome is None:
            self._outcome = outcome
            if self._outcome_known is not None:
                self._outcome_known.set()

    def _end(self, outcome: Outcome, error: Callable[[], Exception]) -> None:
        """Fails all requests, and ends all iterators."""
        self._set_outcome(outcome)
        self._send_error = error
        self._accepts_requests = False
        if self._started:
            self._pending.fail_all(error)
        for stream in tuple(self._streams or ()):
            stream.end()

    def _delivery_done(self, delivery: asyncio.Task[None]) -> None:
        """Ends the session if the task that delivers messages was cancelled or has failed."""
        if delivery.cancelled():
            self.transport_ended(ConnectionLost("the delivery of messages was cancelled"))
        elif (error := delivery.exception()) is not None:
            logger.error("the delivery of messages failed", exc_info=error)
            reason = ConnectionLost(type(error).__name__)
            reason.__cause__ = error
            self.transport_ended(reason)

    def _log_once(self, what: str) -> None:
        if what not in self._logged:
            self._logged |= {what}
            logger.warning("ignored %s; further ones are not logged", what)
