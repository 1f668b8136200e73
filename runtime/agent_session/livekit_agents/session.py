"""A session of livekit-agents, as a host serves it. Written for 1.8.9.

`LiveKitSession` adapts an `AgentSession` to the `SessionAdapter` that a host serves. The modules of
this package are imported only when a host needs them, since they import the SDK. Only
`compatibility` uses private names of the SDK.

**The SDK's own host.** An `AgentSession` starts one, a `SessionHost` of
`livekit.agents.voice.remote_session`, inside of `start()`, in two cases:

- a `room` is given, and the session is its job's first, or has no job: on the room's byte streams.
  `AgentSession.start(..., session_host=False)` leaves it out;
- the process runs under the SDK's console command, which is connected to a console over TCP:
  always. Do not run a host of ours there.

Without a room and outside of the console command there is none, whatever `session_host` says. A
session has one place for a host, `_session_host`, where the SDK's detectors report what they
predict and where a close waits. `attach` takes that place, as soon as the session has started:
`start()` empties it. It raises `SdkHostRunning` when the SDK's host is there; when that is found
only after a later start, it is an error in the log, and neither predictions nor the finalize hold
reach the driver.

**The close.** `AgentSession` emits `close`, waits for its host, then lets go of the room. What else
follows from `close` can cut the host off: the deletion of the room, which `RoomIO` orders in a
listener of `close`, and a shutdown of the job, which the SDK's tool for hanging up asks for in
another. `job` stands before both.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from agent_session_protocol import responses
from agent_session_protocol.errors import RequestError
from google.protobuf.json_format import MessageToDict
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
from .audio import Console
from .job import JobWatch
from ..transport.base import logger

AnyAgentSession: TypeAlias = AgentSession[Any]

# The options that are told, by the SDK's names.
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

# Closes that never are the agent's doing. All other reasons, the error of a model among them, can
# be, and say nothing about it: a shutdown of the job, which has the same, ends a hold by itself.
_FROM_OUTSIDE: Final = (CloseReason.JOB_SHUTDOWN, CloseReason.PARTICIPANT_DISCONNECTED)


class LiveKitSession(SessionAdapter):
    """A session of livekit-agents."""

    host: HostHandle  # from `attach` on

    def __init__(self, session: AnyAgentSession) -> None:
        self._session = session
        self._job = get_job_context(required=False)
        self._watch: JobWatch | None = None
        self._listeners: dict[str, Callable[[Any], None]] = {}
        self._started = asyncio.Event()
        # Typed as little as what it stands in for: it has the part of that which the SDK uses.
        self._place: Any = _HostPlace(self)

    # Events.

    def on(self, event: Any, callback: Any) -> Any:
        self._listeners[event] = callback
        return self._session.on(event, callback)

    def off(self, event: Any, callback: Any) -> Any:
        self._listeners.pop(event, None)
        self._session.off(event, callback)

    def report(self, event: str, source: Any) -> None:
        """An event that the SDK tells its host alone."""
        listener = self._listeners.get(event)
        if listener is not None:
            listener(source)

    # Beginning and end.

    def attach(self, host: HostHandle) -> None:
        session = self._session
        if compatibility.get_session_host(session) is not None:
            raise SdkHostRunning(
                "the session has another host; start it with session_host=False, "
                "and have one host at a time"
            )
        self.host = host
        self._job = self._job or get_job_context(required=False)
        if self._job is not None:
            self._watch = JobWatch.over(self._job)
            self._watch.join(self)
        session.on("agent_state_changed", self._take_place)
        session.on("agent_state_changed", self._note_start)
        setattr(session, "emit", self._emit)
        setattr(session, "aclose", self._aclose)
        self._take_place()
        self._note_start()

    def detach(self) -> None:
        session = self._session
        session.off("agent_state_changed", self._take_place)
        session.off("agent_state_changed", self._note_start)
        session.__dict__.pop("emit", None)
        session.__dict__.pop("aclose", None)
        if compatibility.get_session_host(session) is self._place:
            compatibility.set_session_host(session, None)
        if self._watch is not None:
            self._watch.leave(self)

    def emits_close(self) -> bool:
        """Whether its close is being told this moment, and the host does not know yet."""
        return compatibility.is_emitting_close(self._session) and not self.host.ending

    def awaits_finalize(self, close: Any) -> bool:
        if self._job is None or self._job.simulation_context() is None:
            return False
        return close.reason not in _FROM_OUTSIDE

    def _take_place(self, _: object = None) -> None:
        """Be where the SDK looks for a host. A session's start empties the place, and so it is
        taken once more when the agent's state tells that a start is under way."""
        host = compatibility.get_session_host(self._session)
        if host is None:
            compatibility.set_session_host(self._session, self._place)
        elif host is not self._place:
            logger.error("the session was started with the SDK's own host, and now has two")
            self._session.off("agent_state_changed", self._take_place)

    def _note_start(self, _: object = None) -> None:
        """The state changes once more when a start is done, and the agent has its activity."""
        if compatibility.has_activity(self._session):
            self._started.set()

    def _emit(self, event: Any, *args: Any) -> None:
        emit = partial(type(self._session).emit, self._session, event, *args)
        if event == "close":
            job.run_in_close(self, emit)
        else:
            emit()

    def _aclose(self) -> Coroutine[Any, Any, None]:
        """`AgentSession.aclose`, which waits for a close that is under way, and so for the host:
        the one for whom a host waits must not wait for it."""
        if job.is_finalizing() and self.host.ending:
            return _nothing()
        return type(self._session).aclose(self._session)

    # What is asked.

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
            tools=list(_names(agent.tools)),
            chat_ctx=agent.chat_ctx.items,
        )

    def session_state(self) -> responses.GetSessionStateResponse:
        session = self._session
        return responses.GetSessionStateResponse(
            agent_state=session.agent_state,
            user_state=session.user_state,
            agent_id=self._agent().id,
            options={name: _text(getattr(session.options, name)) for name in _OPTIONS},
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

    # What is to be done.

    def switch(self, side: str, name: str, on: bool) -> None:
        getattr(getattr(self._session, side), f"set_{name}")(on)

    async def wait_started(self) -> None:
        await self._started.wait()

    async def interrupt(self) -> None:
        await self._session.interrupt(force=True)

    def run(self, text: str) -> HostedRun:
        # The SDK would begin a run that never ends.
        if not compatibility.has_activity(self._session):
            raise RequestError("the session is not running")
        if not compatibility.can_generate(self._session):
            logger.error("run_input needs a model: give AgentSession or its agent an llm")
            raise RequestError("the session has no LLM and cannot answer")
        return _Run(self._session.run(user_input=text))

    async def finalize(self, success: bool, reason: str) -> None:
        if self._job is not None:
            await job.finalize(self._job, success, reason)

    def user_verdict(self) -> Any | None:
        simulation = None if self._job is None else self._job.simulation_context()
        return None if simulation is None else simulation.user_verdict

    def open_console(self, sink: AudioSink) -> ConsoleAudio:
        return Console(self._session, sink)


class _HostPlace:
    """What the SDK finds where its own host would be."""

    def __init__(self, session: LiveKitSession) -> None:
        self._session = session

    def __getattr__(self, name: str) -> Callable[[Any], None]:
        """The SDK calls a method for what it tells its host alone, such as `_on_eot_prediction`."""
        prefix = compatibility.HOST_METHOD_PREFIX
        if not name.startswith(prefix):
            raise AttributeError(name)
        return partial(self._session.report, name.removeprefix(prefix))

    async def start(self) -> None:
        """The SDK starts its host at the end of a session's start; this one runs already."""

    async def aclose(self) -> None:
        """The SDK waits here before it lets go of the room."""
        if self._session.host.ending and not job.is_finalizing():
            await self._session.host.wait_closed()


class _Run(HostedRun):
    def __init__(self, result: RunResult[Any]) -> None:
        self._result = result

    def done(self) -> bool:
        return self._result.done()

    async def wait(self) -> Sequence[Any]:
        await self._result
        return [event.item for event in self._result.events]


def _names(tools: Iterable[Tool | Toolset]) -> Iterator[str]:
    for tool in tools:
        if isinstance(tool, Toolset):
            yield from _names(tool.tools)
        else:
            yield tool.id


def _text(option: object) -> str:
    return str(dict(option) if isinstance(option, Mapping) else option)


async def _nothing() -> None:
    """A close that is done already."""
