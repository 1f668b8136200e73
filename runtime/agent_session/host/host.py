"""The host side of a session: forwards events, answers requests and passes console audio.

When the session closes, the host sends session_closed, holds if it has to, answers what is under
way, flushes and closes the transport.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, TypeVar

from agent_session_protocol.agent_session_pb2 import AgentSessionMessage
from agent_session_protocol.enums import close_reason_name, close_reason_to_proto
from agent_session_protocol.events import SDK_EVENTS

from ..errors import TransportError
from .audio import TransportSink
from .events import EventForwarder
from .handlers import HostRequestHandler
from .finalize_hold import FinalizeHold
from .dispatcher import RequestDispatcher
from .runs import Runs
from .adapter import ConsoleAudio, SessionAdapter
from ..transport.base import logger
from ..transport.session import SessionTransport

if TYPE_CHECKING:
    from ..livekit_agents.session import AnyAgentSession

_T = TypeVar("_T", bound="SessionHost")

# What ends a host, even under a contract that has no event to tell it.
_CLOSE: Final = SDK_EVENTS.get("session_closed", "close")

# The share of a close's time that is kept for sending what handlers have answered in the rest.
_FLUSH_SHARE: Final = 1 / 6


class SessionHost:
    """Serves one session to one driver.

    ::

        session = AgentSession(llm=...)
        async with SessionHost(session, TcpSessionTransport(host, port)):
            await session.start(agent, session_host=False)
            ...

    Started before the session, it sends all that happens; started later, what happens from then
    on. It ends by itself when the session closes or the driver leaves, and is of no use then. Only
    one host may serve a session at a time, and the SDK has one of its own: see
    `livekit_agents.session` for how that is switched off.

    Args:
        session: an `AgentSession` of livekit-agents, or any `SessionAdapter`.
        transport: the way to the driver; it belongs to the host from now on.
        console_audio: whether the driver is microphone and loudspeaker of the session.
        redact_errors: keep the texts of exceptions, which run_input and finalize_simulation
            answer, from the driver.
        max_in_flight: how many requests may be handled at the same time.
        finalize_timeout: how long a host stays, in seconds, for a finalize_simulation to arrive.
        close_timeout: how long a close takes at most, in seconds, once nothing holds it up.
    """

    def __init__(
        self,
        session: SessionAdapter | AnyAgentSession,
        transport: SessionTransport,
        *,
        console_audio: bool = False,
        redact_errors: bool = False,
        max_in_flight: int = 64,
        finalize_timeout: float = 10.0,
        close_timeout: float = 3.0,
    ) -> None:
        self._session = _hosted(session)
        self._transport = transport
        self._console_audio = console_audio
        self._finalize_timeout = finalize_timeout
        self._close_timeout = close_timeout
        self._runs = Runs(self._session)
        self._hold = FinalizeHold()
        # A type checker names here the requests that have no handler yet.
        handler = HostRequestHandler(self._session, self._runs, redact_errors=redact_errors)
        self._dispatcher = RequestDispatcher(handler, transport, self._hold, max_in_flight)
        self._events = EventForwarder(self._session, transport)
        self._audio: ConsoleAudio | None = None
        self._delivery: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._started = False
        self._close_event: Any = None
        self._closing: asyncio.Task[None] | None = None
        self._closed = asyncio.Event()
        self._told_ignored = False

    # Beginning and end.

    async def start(self) -> None:
        """Connect, tell the driver what the agent is doing, and serve from then on. May be called
        again after it failed.

        Raises:
            SdkHostRunning: the session has another host.
            ConnectFailed: the driver cannot be reached.
            TransportClosed: the host or the transport was closed.
        """
        async with self._starting:
            if not self._started:
                await self._connect()
                self._serve()

    async def _connect(self) -> None:
        self._session.attach(self)
        self._session.on(_CLOSE, self._session_closed)
        try:
            await self._transport.start()
        except BaseException:
            self._release()
            raise

    def _serve(self) -> None:
        self._started = True
        state = self._session.agent_state
        # The first bytes of a host are an event: a driver may tell by them who has connected.
        self._events.send("agent_state_changed", {"old_state": state, "new_state": state})
        self._events.start()
        self._dispatcher.start()
        if self._console_audio:
            self._audio = self._session.open_console(TransportSink(self._transport))
        self._delivery = self._transport.deliver_to(self)
        if self._close_event is not None:  # it closed while the transport connected
            self._begin_close()

    async def close(self) -> None:
        """Answer what is in flight and disconnect, within the time for a close; the session goes
        on. May be called at any time, and more than once."""
        self._hold.end()
        if self._started:
            self._begin_close()
            await self.wait_closed()
        else:
            await self._transport.close()
            self._closed.set()

    async def wait_closed(self) -> None:
        """Wait until the host has ended, for whatever reason."""
        await self._closed.wait()

    async def __aenter__(self: _T) -> _T:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # What the transport calls.

    def message_received(self, message: AgentSessionMessage) -> None:
        if message.HasField("request"):
            self._dispatcher.take(message.request)
        elif self._audio is not None and message.HasField("audio_input"):
            self._audio.heard(message.audio_input)
        elif self._audio is not None and message.HasField("audio_playback_finished"):
            self._audio.played()
        elif not self._told_ignored:
            self._told_ignored = True
            logger.warning(
                "ignoring %s of a driver", message.WhichOneof("message") or "the unknown"
            )

    def transport_ended(self, reason: TransportError | None) -> None:
        if reason is not None:
            logger.warning("the driver is gone: %s", reason)
        self._hold.end()
        self._begin_close()

    # What the session calls.

    @property
    def ending(self) -> bool:
        """Whether the session has closed, and the host is about to."""
        return self._close_event is not None and self._started and not self._closed.is_set()

    def job_shuts_down(self) -> None:
        """The job that runs the session is shut down from outside: hold nothing up."""
        self._hold.end()

    def _session_closed(self, event: Any) -> None:
        """The session has closed. Whatever else the SDK does about it comes after this."""
        self._close_event = event
        self._dispatcher.session_ended = True
        if not self._session.awaits_finalize(event):
            self._hold.end()
        if self._closing is not None:  # on the way out already, and past the place for this
            self._send_closed(event)
            self._runs.refuse_cut_off(_end_of(event))
        elif self._started:
            self._begin_close()

    # The end.

    def _begin_close(self) -> None:
        if self._closing is None:
            self._events.stop()
            self._closing = asyncio.ensure_future(self._close(self._close_event))

    async def _close(self, close_event: Any) -> None:
        """End in an order that loses nothing: what the session did, then what a simulator still
        asks, then what is being answered."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._close_timeout
        try:
            if close_event is not None:
                await self._tell_close(close_event, deadline)
                held_from = loop.time()
                await self._hold.wait(self._finalize_timeout)
                deadline += loop.time() - held_from
            await self._end(deadline)
        except Exception:
            logger.exception("a host did not end as it should")
            await self._transport.close(0)
        finally:
            self._release()
            self._closed.set()

    async def _tell_close(self, close_event: Any, deadline: float) -> None:
        """Sends the answers of finished runs, session_closed, then the refusals of other runs.

        In this order, a driver knows the outcome of the session when a run is refused.
        """
        reason = _end_of(close_event)
        try:
            await asyncio.wait_for(self._runs.end(reason), _until(deadline))
        except asyncio.TimeoutError:
            logger.warning("a finished run was not answered before the session closed")
        self._send_closed(close_event)
        self._runs.refuse_cut_off(reason)
        try:
            await asyncio.wait_for(self._transport.flush(), _until(deadline))
        except (TransportError, asyncio.TimeoutError) as error:
            logger.warning("nobody may know that the session has closed: %s", type(error).__name__)

    def _send_closed(self, close_event: Any) -> None:
        """Send session_closed; if the error in it cannot travel, without it."""
        if "session_closed" not in SDK_EVENTS:
            return
        if not self._events.send("session_closed", close_event):
            self._events.send("session_closed", {"reason": close_event.reason, "error": None})

    async def _end(self, deadline: float) -> None:
        """Answer what is in flight, and disconnect."""
        self._dispatcher.stop()
        self._runs.end_starting("the host is closing")
        if self._audio is not None:
            self._audio.end()
        await self._dispatcher.drain(_until(deadline) * (1 - _FLUSH_SHARE))
        await self._transport.close(_until(deadline))
        if self._delivery is not None:
            self._delivery.cancel()
            await asyncio.wait([self._delivery])

    def _release(self) -> None:
        self._session.off(_CLOSE, self._session_closed)
        self._session.detach()


def _end_of(close_event: Any) -> str:
    """Returns the error text of a run that the end of the session cut off."""
    reason = close_reason_name(close_reason_to_proto(close_event.reason))
    return f"the session has closed: {reason}"


def _until(deadline: float) -> float:
    """How many seconds are left."""
    return max(0.0, deadline - asyncio.get_running_loop().time())


def _hosted(session: SessionAdapter | AnyAgentSession) -> SessionAdapter:
    if isinstance(session, SessionAdapter):
        return session
    # Not before it is needed: the package works without livekit-agents.
    try:
        from ..livekit_agents.session import LiveKitSession
    except ModuleNotFoundError as error:
        need = 'serving an AgentSession needs livekit-agents: pip install "livekit-agents~=1.8.9"'
        raise ModuleNotFoundError(need, name=error.name) from error

    return LiveKitSession(session)
