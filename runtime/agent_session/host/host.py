"""The host side of a session: forwards events, answers requests and passes console audio.

When the session closes, the host sends session_closed, waits for finalize_simulation if it may
arrive, answers the requests in flight, flushes and closes the transport.
"""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from agent_session_protocol import agent_session_pb2 as pb
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
from ..timeouts import check_timeouts
from ..transport.base import logger
from ..transport.session import SessionTransport

if TYPE_CHECKING:
    from ..livekit_agents.session import AnyAgentSession

_T = TypeVar("_T", bound="SessionHost")

# The SDK's event for the close of a session. A protocol without session_closed has no entry for it.
_CLOSE: Final = SDK_EVENTS.get("session_closed", "close")

# The share of the close timeout that is reserved for sending the last responses.
_FLUSH_SHARE: Final = 1 / 6


class SessionHost:
    """Serves one session to one driver.

    ::

        session = AgentSession(llm=...)
        async with SessionHost(session, TcpSessionTransport(host, port)):
            await session.start(agent, session_host=False)
            ...

    A host that starts before the session sends all events; one that starts later sends the events
    from then on. A host closes when the session closes or the driver disconnects, and cannot be
    used again. A session can have only one host at a time, and the SDK may start its own: see
    `livekit_agents.session` for how to disable that.

    Args:
        session: an `AgentSession` of livekit-agents, or any `SessionAdapter`.
        transport: the transport to the driver. The host starts and closes it.
        console_audio: whether the driver is the microphone and the loudspeaker of the session.
        redact_errors: whether to hide the texts of the session's exceptions from the driver, in
            the responses to run_input and finalize_simulation.
        max_in_flight: how many requests are handled at a time. Further ones wait.
        max_waiting_bytes: how many bytes of requests may wait, each with 512 bytes for its object.
            Beyond that, requests are refused as "busy".
        finalize_timeout: how long to wait for a finalize_simulation after the session has closed,
            in seconds.
        close_timeout: how long a close takes at most, in seconds, without the wait for
            finalize_simulation.
    """

    def __init__(
        self,
        session: SessionAdapter | AnyAgentSession,
        transport: SessionTransport,
        *,
        console_audio: bool = False,
        redact_errors: bool = False,
        max_in_flight: int = 64,
        max_waiting_bytes: int = 4 << 20,
        finalize_timeout: float = 10.0,
        close_timeout: float = 3.0,
    ) -> None:
        check_timeouts(finalize_timeout=finalize_timeout, close_timeout=close_timeout)
        self._session = _adapt(session)
        self._transport = transport
        self._console_audio = console_audio
        self._finalize_timeout = finalize_timeout
        self._close_timeout = close_timeout
        self._runs = Runs(self._session)
        self._hold = FinalizeHold()
        # Type checkers report here if a request has no handler.
        handler = HostRequestHandler(
            self._session,
            self._runs,
            redact_errors=redact_errors,
            max_message_size=transport.max_message_size,
        )
        self._dispatcher = RequestDispatcher(
            handler, transport, self._hold, max_in_flight, max_waiting_bytes
        )
        self._events = EventForwarder(self._session, transport)
        self._audio: ConsoleAudio | None = None
        self._delivery: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._started = False
        self._close_event: Any = None
        # Set when the host need not wait for the close of the session (any more).
        self._session_over = asyncio.Event()
        self._disconnecting = False
        self._job_shut_down = False
        self._closing: asyncio.Task[None] | None = None
        self._closed = asyncio.Event()
        self._logged_ignored = False

    # Start and close.

    async def start(self) -> None:
        """Connects, sends the state of the agent, and starts to serve.

        May be called again after a failure.

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
        # The first message of a host is an event, so that a driver can recognise a host by it.
        self._events.send("agent_state_changed", {"old_state": state, "new_state": state})
        self._events.start()
        self._dispatcher.start()
        if self._console_audio:
            self._audio = self._session.open_console(TransportSink(self._transport))
        self._delivery = self._transport.deliver_to(self)
        if self._close_event is not None:  # the session closed while the transport connected
            self._begin_close()

    async def close(self) -> None:
        """Answers the requests in flight, and disconnects. Does not close the session.

        If the session is closing, waits for its close, and sends session_closed. Takes at most
        `close_timeout` seconds. May be called at any time, more than once.
        """
        self._hold.end()
        if self._started:
            self._begin_close()
            await self.wait_closed()
        else:
            await self._transport.close()
            self._closed.set()

    async def wait_closed(self) -> None:
        """Waits until the host has closed, for any reason."""
        await self._closed.wait()

    async def __aenter__(self: _T) -> _T:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # Called by the transport.

    def message_received(self, message: AgentSessionMessage) -> None:
        request = message.request
        request_id = request.request_id
        # The id shows in most cases that the message is a request, and is needed in any case.
        if request_id or message.HasField("request"):
            self._dispatcher.dispatch(request, request_id)
        elif self._audio is not None and message.HasField("audio_input"):
            self._audio.push_input(message.audio_input)
        elif self._audio is not None and message.HasField("audio_playback_finished"):
            self._audio.playback_finished()
        elif not self._logged_ignored:
            self._logged_ignored = True
            arm = message.WhichOneof("message") or "an unknown message"
            logger.warning("ignored %s from the driver", arm)

    def transport_ended(self, reason: TransportError | None) -> None:
        if reason is not None:
            logger.warning("the connection to the driver was lost: %s", reason)
        self._hold.end()
        self._events.stop()
        self._dispatcher.cancel()
        self._session_over.set()
        self._begin_close()

    # Called by the session.

    @property
    def ending(self) -> bool:
        """Whether the session has closed, and the host has not closed yet."""
        return self._close_event is not None and self._started and not self._closed.is_set()

    def job_shuts_down(self) -> None:
        """Ends the finalize hold, because the job of the session is shut down from outside."""
        if self._close_event is None and not self._session.closing:
            self._job_shut_down = True
        self._hold.end()

    def _session_closed(self, event: Any) -> None:
        """Handles the close event of the session. Other listeners of the SDK run after it."""
        if self._job_shut_down:
            event = _closed_by_job(event)
        self._close_event = event
        self._dispatcher.session_ended = True
        self._session_over.set()
        if not self._session.awaits_finalize(event):
            self._hold.end()
        if self._disconnecting:
            self._send_closed(event)
            self._runs.refuse_cut_off(_cut_off_error(event))
        elif self._started:
            self._events.stop()
            self._begin_close()

    # The end.

    def _begin_close(self) -> None:
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close())

    async def _close(self) -> None:
        """Sends session_closed, waits for finalize_simulation, answers requests and disconnects."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._close_timeout
        try:
            await self._wait_session_closed(deadline)
            if self._close_event is not None:
                await self._report_close(self._close_event, deadline)
                held_from = loop.time()
                await self._hold.wait(self._finalize_timeout)
                deadline += loop.time() - held_from
            await self._end(deadline)
        except Exception:
            logger.exception("the close of a host failed")
            await self._transport.close(0)
        finally:
            self._release()
            self._closed.set()

    async def _wait_session_closed(self, deadline: float) -> None:
        """Waits for the close event of a session that is closing, unless the driver has left."""
        if not self._session.closing or self._transport.closed:
            return
        try:
            await asyncio.wait_for(self._session_over.wait(), _before_flush(deadline))
        except asyncio.TimeoutError:
            self._session_over.set()
            logger.warning("the session did not close within the close timeout of its host")

    async def _report_close(self, close_event: Any, deadline: float) -> None:
        """Sends the responses of finished runs, session_closed, then the refusals of other runs.

        In this order, a driver knows the outcome of the session when a run is refused.
        """
        reason = _cut_off_error(close_event)
        try:
            await asyncio.wait_for(self._runs.end(reason), _remaining(deadline))
        except asyncio.TimeoutError:
            logger.warning("a finished run was not answered before the session closed")
        self._send_closed(close_event)
        self._runs.refuse_cut_off(reason)
        try:
            await asyncio.wait_for(self._transport.flush(), _remaining(deadline))
        except asyncio.TimeoutError:
            logger.warning("session_closed may not have been sent: the driver does not read")
        except TransportError:
            pass  # `transport_ended` logs why, unless the driver has left by itself

    def _send_closed(self, close_event: Any) -> None:
        """Sends session_closed; without its error if the error cannot be encoded."""
        if "session_closed" not in SDK_EVENTS:
            return
        if not self._events.send("session_closed", close_event):
            self._events.send("session_closed", {"reason": close_event.reason, "error": None})

    async def _end(self, deadline: float) -> None:
        """Answers the requests in flight, and disconnects."""
        self._disconnecting = True
        self._events.stop()
        self._dispatcher.stop()
        self._runs.stop_starting("the host is closing")
        if self._audio is not None:
            self._audio.end()
        await self._dispatcher.drain(_before_flush(deadline))
        await self._wait_session_closed(deadline)  # the close may have begun in the meantime
        self._transport.send_end()
        await self._transport.close(_remaining(deadline))
        if self._delivery is not None:
            self._delivery.cancel()
            await asyncio.wait([self._delivery])

    def _release(self) -> None:
        self._session.off(_CLOSE, self._session_closed)
        self._session.detach()


def _cut_off_error(close_event: Any) -> str:
    """Returns the error text for a run that the end of the session has cut off."""
    reason = close_reason_name(close_reason_to_proto(close_event.reason))
    return f"the session has closed: {reason}"


def _closed_by_job(close_event: Any) -> Any:
    """Returns the close event of a session whose job was shut down from outside.

    The SDK closes the session with the reason of a deliberate hang-up then.
    """
    if close_reason_to_proto(close_event.reason) != pb.CR_USER_INITIATED:
        return close_event
    return SimpleNamespace(
        reason="job_shutdown", error=close_event.error, created_at=close_event.created_at
    )


def _before_flush(deadline: float) -> float:
    """Returns the number of seconds until the last responses have to be sent."""
    return _remaining(deadline) * (1 - _FLUSH_SHARE)


def _remaining(deadline: float) -> float:
    """Returns the number of seconds until a deadline."""
    return max(0.0, deadline - asyncio.get_running_loop().time())


def _adapt(session: SessionAdapter | AnyAgentSession) -> SessionAdapter:
    if isinstance(session, SessionAdapter):
        return session
    # Imported here, since the package works without livekit-agents.
    try:
        from ..livekit_agents.session import LiveKitSession
    except ModuleNotFoundError as error:
        need = 'serving an AgentSession needs livekit-agents: pip install "livekit-agents~=1.8.9"'
        raise ModuleNotFoundError(need, name=error.name) from error

    return LiveKitSession(session)
