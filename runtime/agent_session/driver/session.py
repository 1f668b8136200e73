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
from .requests import REQUEST_NAMES, SessionRequests
from .readiness import wait_for_ready
from .console import Console
from .events import DEFAULT_EVENT_QUEUE, EventStream, ReceivedEvent
from .request_queue import RequestQueue
from .errors import DriverClosed, RequestTimedOut, SessionEnded, SessionLost
from ..transport.base import logger
from ..transport.session import SessionTransport

if TYPE_CHECKING:
    # Type checkers know the short names of the requests by inheritance. At run time
    # `RemoteSession.__getattr__` finds them, after the methods of the session.
    _ShortNames = SessionRequestClient
else:

    class _ShortNames:
        """Empty at run time."""


_T = TypeVar("_T", bound="RemoteSession")


class RemoteSession(_ShortNames, AgentSessionEventListeners):
    """Drives the session of an agent, over any transport.

    `requests` has a method for each request. Each is also a method of the session, unless the
    session has a method of that name itself. There is an `on_` method for each event, and
    iteration yields all events::

        session = RemoteSession(transport)
        session.on_error(lambda error, event: print(error.message))
        async with session:
            print(await session.run_input(text="hello"))
            print(await session.wait_ended())

    Besides what `SessionRequestClient` names, each request raises:
    - RequestTimedOut: no response came within `timeout`.
    - SessionLost: the connection is gone; its `reason` is the transport's own error.
    - SessionEnded: it is a run, and the host has said that the session is over.
    - DriverClosed: this side closed the session.
    - NotStarted: it is not started yet.
    - FrameTooLarge, UnencodableMessage: it cannot be sent.

    A listener is called on the event loop, which it must not block. One that is added before the
    start misses nothing. Without a console, speech counts as played as soon as it is complete.

    Args:
        transport: the way to the host; it belongs to the session from now on.
        timeout: how long a request waits for its response unless it says otherwise, in seconds.
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
        self.requests: SessionRequestClient = SessionRequests(self)
        self._transport = transport
        self._timeout = timeout
        self._console = console
        self._request_queue = RequestQueue(transport)
        self._streams = weakref.WeakSet[EventStream]()
        self._starting = asyncio.Lock()
        self._started = False
        self._closed = False
        self._delivery: asyncio.Task[None] | None = None
        self._outcome: Outcome | None = None
        self._over = asyncio.Event()
        # Why nothing can be sent; and whether anything can, so that a request asks only once.
        self._refusal: Callable[[], Exception] | None = NotStarted
        self._talking = False
        self._told: set[str] = set()

    if not TYPE_CHECKING:  # would tell type checkers that every name exists

        def __getattr__(self, name):
            """Return the method of a request, for a name that the session does not define."""
            if name in REQUEST_NAMES:
                return getattr(self.requests, name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

        def __dir__(self):
            return sorted(REQUEST_NAMES.union(super().__dir__()))

    # Beginning and end.

    async def start(self) -> None:
        """Connect, and take the host's messages. May be called again after it failed.

        Raises:
            ConnectFailed: the host cannot be reached.
            TransportClosed: the transport has ended already. What came before its end is told
                all the same, and where that is the end of the session, nothing is raised.
            DriverClosed: the session was closed.
        """
        async with self._starting:
            if self._closed:
                raise DriverClosed
            if not self._started:
                await self._connect()

    async def _connect(self) -> None:
        too_late: TransportClosed | None = None
        try:
            await self._transport.start()
        except TransportClosed as error:
            too_late = error
        if self._closed:
            raise DriverClosed
        self._begin()
        if too_late is not None and not isinstance(self._outcome, Ended):
            raise too_late

    def _begin(self) -> None:
        self._pending = PendingRequests(self._timeout)
        self._started = self._talking = True
        self._refusal = None
        self._delivery = self._transport.deliver_to(self)
        if self._delivery is not None:
            self._delivery.add_done_callback(self._delivered)

    async def close(self, timeout: float | None = None) -> None:
        """End what waits, and close the transport. May be called at any time, more than once.

        Args:
            timeout: how long the transport may take, in seconds; None leaves it to the transport.
        """
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

    # How the session is.

    @property
    def outcome(self) -> Outcome | None:
        """How the session came to its end; None while it goes on."""
        return self._outcome

    async def wait_ended(self) -> Outcome:
        """Wait for the end, and return it.

        The session has ended as soon as the host says so. It is still connected then: a host may
        wait a while for requests such as finalize_simulation, until the driver closes.
        """
        while self._outcome is None:
            await self._over.wait()
        return self._outcome

    async def probe(self, timeout: float = 5.0) -> Status:
        """Find out how the session is, with a ping unless it is known to be over.

        Args:
            timeout: how long the host may take to answer, in seconds.

        Raises:
            NotStarted: the session is not started yet.
        """
        if self._outcome is not None:
            return self._outcome
        loop = asyncio.get_running_loop()
        began = loop.time()
        found: Status
        try:
            await self._ping(timeout)
            found = Alive(loop.time() - began)
        except RequestTimedOut:
            found = Stalled(timeout)
        except (SessionLost, DriverClosed):
            return await self.wait_ended()
        return self._outcome or found

    async def wait_for_ready(self, timeout: float = 30.0) -> None:
        """Start, as often as it takes, and ping until the host answers.

        Args:
            timeout: how long all of it may take, in seconds.

        Raises:
            ConnectFailed: the host could not be reached in time; or another of the transport's
                own errors, if that is what the last try met.
            NotReady: it is connected, and nobody answered.
            SessionLost: the connection was made and is gone.
            DriverClosed: this side closed the session.
        """
        await wait_for_ready(self.start, self._ping, timeout)

    async def _ping(self, timeout: float) -> None:
        """Ping. An answer that is no pong shows as well that somebody is there."""
        try:
            await self.requests.ping(timeout=timeout)
        except (RequestError, UnexpectedArmError) as error:
            logger.debug("a ping was answered with %s", type(error).__name__)

    # What the driver sends.

    async def send(
        self, request: pb.SessionRequest, timeout: float | None = None
    ) -> pb.SessionResponse:
        """Send a request, with an id of its own, and return its response.

        Being cancelled ends the wait; the host may still be at work on the request.
        """
        if not self._talking:
            self._check(request)
        message = pb.AgentSessionMessage()
        # A copy, with an id of its own. Naming it to the constructor takes half as long again.
        sent = message.request
        sent.CopyFrom(request)
        future = self._pending.add(sent, timeout)
        try:
            self._request_queue.put(message, future)
            return await future
        except BaseException as error:
            self._pending.remove(sent)
            if future.done() and not future.cancelled():
                future.exception()  # sending it was what ended the transport: nobody awaits this
            if isinstance(error, TransportClosed):
                raise SessionLost(error.reason) from error
            raise

    def send_audio_input(self, frame: pb.AgentSessionMessage.ConsoleIO.AudioFrame) -> None:
        """Send what the microphone heard. A host that reads too slowly misses the oldest audio.

        Raises:
            SessionLost, DriverClosed, NotStarted, FrameTooLarge: as a request does.
        """
        self._send(pb.AgentSessionMessage(audio_input=frame))

    def send_audio_playback_finished(self) -> None:
        """Tell that all audio before the last flush was played. Raises as `send_audio_input`."""
        message = pb.AgentSessionMessage()
        message.audio_playback_finished.SetInParent()
        self._send(message)

    def _send(self, message: pb.AgentSessionMessage) -> None:
        if self._refusal is not None:
            raise self._refusal()
        try:
            self._transport.send_nowait(message)
        except TransportClosed as error:
            raise SessionLost(error.reason) from error

    def _check(self, request: pb.SessionRequest) -> None:
        """Refuse a request that cannot be answered any more, or not yet."""
        if isinstance(self._outcome, Ended) and is_run(request):
            raise SessionEnded(self._outcome)
        if self._refusal is not None:
            raise self._refusal()

    # What the host sends. The transport calls these, and nobody else.

    def message_received(self, message: pb.AgentSessionMessage) -> None:
        """Take the host's next message."""
        if message.HasField("response"):
            if not self._pending.resolve(message.response):
                self._tell_once("a response to a request that was never made")
        elif self._closed:
            return
        elif message.HasField("event"):
            self._take_event(message.event)
        else:
            self._take_audio(message)

    def transport_ended(self, reason: TransportError | None) -> None:
        """There will be no more messages."""
        if not self._closed:
            self._end(Lost(reason), partial(SessionLost, reason))

    def _take_event(self, event: pb.AgentSessionEvent) -> None:
        if event.WhichOneof("event") == "session_closed":
            self._host_ended(event.session_closed)
        self.deliver(event)
        if self._streams:
            received = ReceivedEvent.of(event)
            for stream in tuple(self._streams):
                stream.put(received)

    def _host_ended(self, closed: pb.AgentSessionEvent.SessionClosed) -> None:
        error = closed.error if closed.HasField("error") else None
        ended = Ended(closed.reason, error)
        self._settle(ended)
        self._talking = False
        self._pending.fail_runs(partial(SessionEnded, ended))

    def _take_audio(self, message: pb.AgentSessionMessage) -> None:
        arm, console = message.WhichOneof("message"), self._console
        if arm == "audio_output":
            if console is not None:
                console.audio_output(message.audio_output)
        elif arm == "audio_playback_flush":
            if console is not None:
                console.audio_playback_flush()
            else:
                # Nobody plays anything, and the agent would wait for the end of it.
                self.send_audio_playback_finished()
        elif arm == "audio_playback_clear":
            if console is not None:
                console.audio_playback_clear()
        else:
            self._tell_once(f"a message that hosts do not send: {arm or 'one of unknown kind'}")

    def events(self, limit: int = DEFAULT_EVENT_QUEUE) -> EventStream:
        """Iterate over the events that arrive from now on, beside all listeners and iterators.

        Args:
            limit: about how many bytes of events may wait to be read. Those that find no room
                are missed, which the iteration tells.
        """
        stream = EventStream(limit)
        if self._outcome is None:
            self._streams.add(stream)
        else:
            stream.end()
        return stream

    def __aiter__(self) -> EventStream:
        return self.events()

    # The end.

    def _settle(self, outcome: Outcome) -> None:
        """Keep the first thing that is known of the end."""
        if self._outcome is None:
            self._outcome = outcome
            self._over.set()

    def _end(self, outcome: Outcome, error: Callable[[], Exception]) -> None:
        """Nothing comes any more: end all that waits for it."""
        self._settle(outcome)
        self._refusal = error
        self._talking = False
        if self._started:
            self._pending.fail_all(error)
        for stream in tuple(self._streams):
            stream.end()

    def _delivered(self, delivery: asyncio.Task[None]) -> None:
        """A transport that delivers in a task must not end unseen in it."""
        if delivery.cancelled():
            self.transport_ended(ConnectionLost("the task that delivers was cancelled"))
        elif (fault := delivery.exception()) is not None:
            logger.error("a transport failed while it delivered", exc_info=fault)
            reason = ConnectionLost(type(fault).__name__)
            reason.__cause__ = fault
            self.transport_ended(reason)

    def _tell_once(self, what: str) -> None:
        if what not in self._told:
            self._told.add(what)
            logger.warning("the host sent %s; ignored, from now on without a word", what)
