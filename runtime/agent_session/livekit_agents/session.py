"""A session of livekit-agents, as a host serves it. Written for 1.8.9.

`LiveKitSession` adapts an `AgentSession` to the `SessionAdapter` that a host serves. The modules of
this package are imported only when a host needs them, since they import the SDK. Only
`compatibility` uses private names of the SDK.

**The SDK's own host.** `AgentSession.start` starts a host of the SDK, the `SessionHost` of
`livekit.agents.voice.remote_session`, in two cases:

- A `room` is given, and the session is the first of its job or has no job. The host uses the byte
  streams of the room. `AgentSession.start(..., session_host=False)` disables it.
- The process was started by the SDK's console command, which connects to a console over TCP. This
  host cannot be disabled, so do not use a `SessionHost` of this package there.

Otherwise the SDK starts no host. The session refers to its host in `_session_host`: the SDK's
detectors call its methods with their predictions, and a close waits for it. `attach` sets that
attribute, and sets it again during `start()`, which clears it. If the SDK's host is already set,
`attach` raises `SdkHostRunning`. If it is set by a later start, an error is logged; predictions are
then not sent to the driver, and a close does not wait for finalize_simulation.

**The close.** `AgentSession` emits `close`, waits for its host, then leaves the room. Two other
consequences of `close` could disconnect the host early: `RoomIO` deletes the room in a listener of
`close`, and the SDK's tool for hanging up shuts the job down in another. `job` delays the first and
recognises the second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from agent_session_protocol import responses
from agent_session_protocol.errors import RequestError
from google.protobuf.json_format import MessageToDict
from livekit import rtc
from livekit.agents import Agent, AgentSession, CloseReason, get_job_context
from livekit.agents import __version__ as sdk_version
from livekit.agents.llm import Tool, Toolset
from livekit.agents.llm.chat_context import Instructions
from livekit.agents.voice.run_result import RunResult

from . import compatibility, job
from ..host.adapter import (
    AudioSink,
    ConsoleAudio,
    HostedRun,
    HostHandle,
    SdkHostRunning,
    SessionAdapter,
)
from .audio import LiveKitConsole
from .job import JobMonitor
from ..transport.base import logger
from ..transport.session import SESSION_TOPIC

AnyAgentSession: TypeAlias = AgentSession[Any]

# The options of the SDK that get_session_state returns.
_OPTIONS: Final = (
    "endpointing",
    "interruption",
    "max_tool_steps",
    "user_away_timeout",
    "transcription_timeout",
    "preemptive_generation",
    "min_consecutive_speech_delay",
    "use_tts_aligned_transcript",
    "ivr_detection",
)

# The reasons of closes that the agent cannot have caused. Other reasons are ambiguous: a shutdown
# of the job can have the same ones, and ends the finalize hold itself.
_FROM_OUTSIDE: Final = (CloseReason.JOB_SHUTDOWN, CloseReason.PARTICIPANT_DISCONNECTED)


class LiveKitSession(SessionAdapter):
    """Adapts an `AgentSession` of livekit-agents."""

    host: HostHandle  # set by `attach`

    def __init__(self, session: AnyAgentSession) -> None:
        self._session = session
        self._job = get_job_context(required=False)
        self._job_monitor: JobMonitor | None = None
        self._listeners: dict[str, Callable[[Any], None]] = {}
        self._started = asyncio.Event()
        # `Any`, since it has only those methods of the SDK's host that the SDK calls.
        self._host_stub: Any = _HostStub(self)

    # Events.

    def on(self, event: Any, callback: Any) -> Any:
        self._listeners[event] = callback
        return self._session.on(event, callback)

    def off(self, event: Any, callback: Any) -> Any:
        self._listeners.pop(event, None)
        self._session.off(event, callback)

    def report(self, event: str, source: Any) -> None:
        """Passes on an event that the SDK reports only to its host."""
        listener = self._listeners.get(event)
        if listener is not None:
            listener(source)

    # Start and close.

    def attach(self, host: HostHandle) -> None:
        session = self._session
        if compatibility.get_session_host(session) is not None:
            raise SdkHostRunning(
                "the session already has a host; start the session with session_host=False, "
                "and use one host at a time"
            )
        self.host = host
        self._job = self._job or get_job_context(required=False)
        if self._job is not None:
            self._job_monitor = JobMonitor.of(self._job)
            self._job_monitor.add(self)
        session.on("agent_state_changed", self._install_host_stub)
        session.on("agent_state_changed", self._check_started)
        setattr(session, "emit", self._emit)
        setattr(session, "aclose", self._aclose)
        setattr(session, "start", self._start)
        self._install_host_stub()
        self._check_started()

    def detach(self) -> None:
        session = self._session
        session.off("agent_state_changed", self._install_host_stub)
        session.off("agent_state_changed", self._check_started)
        session.__dict__.pop("emit", None)
        session.__dict__.pop("aclose", None)
        session.__dict__.pop("start", None)
        if compatibility.get_session_host(session) is self._host_stub:
            compatibility.set_session_host(session, None)
        if self._job_monitor is not None:
            self._job_monitor.remove(self)

    def emits_close(self) -> bool:
        """Reports whether the close event is being emitted and has not reached the host yet."""
        return compatibility.is_emitting_close(self._session) and not self.host.ending

    def awaits_finalize(self, close: Any) -> bool:
        if self._job is None or self._job.simulation_context() is None:
            return False
        return close.reason not in _FROM_OUTSIDE

    def _install_host_stub(self, _: object = None) -> None:
        """Sets the stub as the session's host.

        Called again when the state of the agent changes, since the start of a session clears its
        host and then changes the state.
        """
        host = compatibility.get_session_host(self._session)
        if host is None:
            compatibility.set_session_host(self._session, self._host_stub)
        elif host is not self._host_stub:
            logger.error(
                "the session was started with the SDK's own host and has two hosts now; "
                "pass session_host=False to AgentSession.start"
            )
            self._session.off("agent_state_changed", self._install_host_stub)

    def _check_started(self, _: object = None) -> None:
        """Records the start of the session: the state changes after the agent became active."""
        if compatibility.has_activity(self._session):
            self._started.set()

    def _emit(self, event: Any, *args: Any) -> None:
        emit = partial(type(self._session).emit, self._session, event, *args)
        if event == "close":
            job.run_in_close(self, emit)
        else:
            emit()

    def _start(self, *args: Any, **kwargs: Any) -> Coroutine[Any, Any, Any]:
        """Replaces `AgentSession.start`, which fails halfway if the room has a host already."""
        room = kwargs.get("room")
        starts_host = kwargs.get("session_host") is not False and self._is_primary()
        if starts_host and isinstance(room, rtc.Room) and _has_host(room):
            raise SdkHostRunning(
                "AgentSession.start would start the SDK's own host in a room that has a host of the "
                "session already; pass session_host=False"
            )
        return type(self._session).start(self._session, *args, **kwargs)

    def _is_primary(self) -> bool:
        """Reports whether the SDK starts a host for the session, as it does for one in each job."""
        try:
            return self._job is None or self._job.primary_session is self._session
        except RuntimeError:  # no session of the job has started
            return True

    def _aclose(self) -> Coroutine[Any, Any, None]:
        """Replaces `AgentSession.aclose`, which waits for the host.

        The callback for the end of a simulation must not wait, since the host waits for it.
        """
        if job.is_finalizing() and self.host.ending:
            return _do_nothing()
        if self._job_monitor is not None:
            self._job_monitor.session_closes()
        return type(self._session).aclose(self._session)

    # Queries.

    @property
    def agent_state(self) -> str:
        return self._session.agent_state

    @property
    def closing(self) -> bool:
        return compatibility.is_close_pending(self._session)

    def chat_items(self) -> Sequence[Any]:
        return self._session.history.items

    def agent_info(self) -> responses.GetAgentInfoResponse:
        agent = self._agent()
        instructions = agent.instructions
        if isinstance(instructions, Instructions):
            instructions = instructions.render(modality="audio")
        return responses.GetAgentInfoResponse(
            id=agent.id,
            instructions=instructions,
            tools=list(_tool_names(agent.tools)),
            chat_ctx=agent.chat_ctx.items,
        )

    def session_state(self) -> responses.GetSessionStateResponse:
        session = self._session
        return responses.GetSessionStateResponse(
            agent_state=session.agent_state,
            user_state=session.user_state,
            agent_id=self._agent().id,
            options={name: _option_text(getattr(session.options, name)) for name in _OPTIONS},
            created_at=compatibility.started_at(session),
        )

    def usage(self) -> Any:
        return self._session.usage

    def framework_info(self) -> responses.GetFrameworkInfoResponse:
        return responses.GetFrameworkInfoResponse(sdk="python", sdk_version=sdk_version)

    async def rtc_stats(self) -> responses.GetRTCStatsResponse:
        room_io = compatibility.room_io(self._session)
        if room_io is None:
            return responses.GetRTCStatsResponse(publisher_stats=(), subscriber_stats=())
        stats = await room_io.room.get_rtc_stats()
        return responses.GetRTCStatsResponse(
            publisher_stats=[MessageToDict(each) for each in stats.publisher_stats],
            subscriber_stats=[MessageToDict(each) for each in stats.subscriber_stats],
        )

    def _agent(self) -> Agent:
        try:
            return self._session.current_agent
        except RuntimeError:
            raise RequestError("the session has not started, and has no agent yet") from None

    # Actions.

    def switch(self, side: str, name: str, on: bool) -> None:
        getattr(getattr(self._session, side), f"set_{name}")(on)

    async def wait_started(self) -> None:
        await self._started.wait()

    async def wait_agent_ready(self) -> None:
        while (update := compatibility.agent_update(self._session)) is not None:
            await asyncio.wait([update])

    async def interrupt(self) -> None:
        await self._session.interrupt(force=True)

    def run(self, text: str) -> HostedRun:
        # Otherwise the SDK would start a run that never ends.
        if not compatibility.has_activity(self._session):
            raise RequestError("the session is not running")
        if not compatibility.can_generate(self._session):
            logger.error("run_input needs a model: give AgentSession or its agent an llm")
            raise RequestError("the session has no LLM and cannot answer")
        return LiveKitRun(self._session.run(user_input=text))

    async def finalize(self, success: bool, reason: str) -> None:
        if self._job is not None:
            await job.finalize(self._job, success, reason)

    def user_verdict(self) -> Any | None:
        simulation = None if self._job is None else self._job.simulation_context()
        return None if simulation is None else simulation.user_verdict

    def open_console(self, sink: AudioSink) -> ConsoleAudio:
        return LiveKitConsole(self._session, sink)


class _HostStub:
    """Takes the place of the SDK's own host in a session."""

    def __init__(self, session: LiveKitSession) -> None:
        self._session = session

    def __getattr__(self, name: str) -> Callable[[Any], None]:
        """Returns the method for an event that the SDK reports only to its host.

        The SDK calls methods such as `_on_eot_prediction`.
        """
        prefix = compatibility.HOST_METHOD_PREFIX
        if not name.startswith(prefix):
            raise AttributeError(name)
        return partial(self._session.report, name.removeprefix(prefix))

    async def start(self) -> None:
        """Does nothing, since the host is started by the application."""

    async def aclose(self) -> None:
        """Waits for the host. The SDK awaits this before it leaves the room."""
        if self._session.host.ending and not job.is_finalizing():
            await self._session.host.wait_closed()


class LiveKitRun(HostedRun):
    def __init__(self, result: RunResult[Any]) -> None:
        self._result = result

    def done(self) -> bool:
        return self._result.done()

    async def wait(self) -> Sequence[Any]:
        await self._result
        return [event.item for event in self._result.events]


def _tool_names(tools: Iterable[Tool | Toolset]) -> Iterator[str]:
    for tool in tools:
        if isinstance(tool, Toolset):
            yield from _tool_names(tool.tools)
        else:
            yield tool.id


def _option_text(option: object) -> str:
    return str(dict(option) if isinstance(option, Mapping) else option)


def _has_host(room: rtc.Room) -> bool:
    """Reports whether the session messages of a room have a reader in this process."""
    try:
        room.register_byte_stream_handler(SESSION_TOPIC, lambda reader, identity: None)
    except ValueError:
        return True
    room.unregister_byte_stream_handler(SESSION_TOPIC)
    return False


async def _do_nothing() -> None:
    """Returns at once, in place of a close."""
