"""The private names of livekit-agents that this package depends on.

This is the only module that uses them. The SDK may rename or remove a private name in any release:
`tests/runtime/livekit_agents/test_compatibility.py` lists each one with the class that has it, and
fails with the name that is missing. Written for livekit-agents 1.8.9.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any, Final

from livekit.agents import AgentSession, JobContext
from livekit.agents.llm import LLM, RealtimeModel
from livekit.agents.simulation import SimulationContext, SimulationRun, SimulationVerdict
from livekit.agents.voice.room_io import RoomIO

# The SDK reports some events only to its host, by calling a method named with this prefix.
HOST_METHOD_PREFIX: Final = "_on_"


# AgentSession.


def get_session_host(session: AgentSession[Any]) -> Any:
    """Returns the object that the session uses as its host, or None."""
    return session._session_host


def set_session_host(session: AgentSession[Any], host: Any) -> None:
    """Sets the object that the session uses as its host.

    The session calls its `start` and `aclose`, and the methods named with `HOST_METHOD_PREFIX`.
    """
    session._session_host = host


def is_emitting_close(session: AgentSession[Any]) -> bool:
    """Reports whether the session has stopped but its close has not finished.

    The session emits `close` in this state.
    """
    return session._closing and not session._started


def is_close_pending(session: AgentSession[Any]) -> bool:
    """Reports whether a close has begun and `close` has not been emitted yet.

    `AgentSession._is_closing` cannot be used: it stays true after a shutdown, even if the session
    is started again.
    """
    task = session._closing_task
    begun = task is not None and not task.done()
    return session._started and (begun or session._closing)


def started_at(session: AgentSession[Any]) -> float | None:
    """Returns when the session was started, in seconds since the epoch."""
    return session._started_at


def has_activity(session: AgentSession[Any]) -> bool:
    """Reports whether an agent is active, so that the session can generate a reply."""
    return session._activity is not None


def agent_update(session: AgentSession[Any]) -> asyncio.Task[None] | None:
    """Returns the task of an `update_agent` that is under way, or None.

    Until it ends, the session refuses a reply, or schedules it with an agent that has not started.
    """
    task = session._update_activity_atask
    return None if task is None or task.done() else task


def can_generate(session: AgentSession[Any]) -> bool:
    """Reports whether the agent that answers next has a model that the SDK can run.

    The SDK schedules no reply for any other value of `llm`, and the run never ends. During a
    handoff the next agent answers. A session without an active agent is left to the SDK, which
    raises an error.
    """
    activity = session._activity
    if activity is not None and activity.scheduling_paused:
        activity = session._next_activity
    return activity is None or isinstance(activity.llm, (LLM, RealtimeModel))


def room_io(session: AgentSession[Any]) -> RoomIO | None:
    """Returns the session's connection to its room, or None if it has no room.

    The public property raises an error instead of returning None.
    """
    return session._room_io


# JobContext, and the simulation that a job runs under.


def get_shutdown_callback(job: JobContext) -> Callable[[str], None]:
    """Returns the function that `JobContext.shutdown` calls with the reason."""
    return job._on_shutdown


def set_shutdown_callback(job: JobContext, callback: Callable[[str], None]) -> None:
    """Replaces the function that `JobContext.shutdown` calls with the reason."""
    job._on_shutdown = callback


def runner_shutdown(job: JobContext) -> asyncio.Future[Any] | None:
    """Returns the future that the process running the job sets when the job shuts down.

    Only the shutdown callback refers to that process. Returns None if the callback has no such
    future, as in the SDK's fake job for tests.
    """
    callback = job._on_shutdown
    if not inspect.isfunction(callback):
        return None
    runner = inspect.getclosurevars(callback).nonlocals.get("self")
    future: asyncio.Future[Any] | None = getattr(runner, "_shutdown_fut", None)
    return future


def track_pending_task(job: JobContext, task: asyncio.Task[Any], name: str) -> None:
    """Makes the job wait for a task before it ends."""
    job._track_pending_task(task, name=name)


def begin_finalize(
    simulation: SimulationContext, verdict: SimulationVerdict, run: SimulationRun
) -> None:
    """Gives a simulation the simulator's verdict, which the callback for its end can read."""
    simulation._begin_finalize(simulator_verdict=verdict, run=run)


def simulation_end_callback(job: JobContext) -> Callable[[SimulationContext], Any] | None:
    """Returns the callback that the application registered for the end of a simulation."""
    return job._simulation_end_fnc
