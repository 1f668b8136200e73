"""The job of livekit-agents that runs a session.

Notifies the hosts of the job's sessions of a shutdown from outside, and delays the deletion of the
room until they have closed.

A shutdown comes from outside if the worker, the server or the room ends the job, or if the
application calls `JobContext.shutdown`. It does not if a listener of the session's close calls that
method, as the SDK's tool for hanging up does, or if the callback for the end of a simulation does:
then the agent has ended the session. The SDK closes the session in the same way, and with the same
reason, in all these cases.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import Any, Protocol
from weakref import ref

from livekit import api
from livekit.agents import JobContext
from livekit.agents.simulation import SimulationRun, SimulationVerdict

from . import compatibility
from ..host.adapter import HostHandle
from ..transport.base import logger


class JobSession(Protocol):
    """A session of a job that has a host."""

    @property
    def host(self) -> HostHandle:
        """The host of the session."""
        ...

    def emits_close(self) -> bool:
        """Reports whether the close event is being emitted and has not reached the host yet."""
        ...


# The session whose close has caused the current call or task. A weak reference, since each task
# copies its context: a strong one would keep a session alive as long as the sessions after it.
_closed: ContextVar[ref[JobSession] | None] = ContextVar("closed", default=None)

# Whether the current task runs, or was started by, the callback for the end of a simulation.
_finalizing: ContextVar[bool] = ContextVar("finalizing", default=False)


class JobMonitor:
    """Replaces `shutdown` and `delete_room` of a job, for the lifetime of the job."""

    def __init__(self, job: JobContext) -> None:
        self._shutting_down = False
        self._job = job
        self._sessions: set[JobSession] = set()
        self._on_shutdown = compatibility.get_shutdown_callback(job)
        self._delete_room = job.delete_room
        self._monitor_runner()
        compatibility.set_shutdown_callback(job, self.shutdown)
        setattr(job, "delete_room", self.delete_room)

    @classmethod
    def of(cls, job: JobContext) -> JobMonitor:
        """Returns the monitor of a job. A job has one at most."""
        monitor = getattr(compatibility.get_shutdown_callback(job), "__self__", None)
        return monitor if isinstance(monitor, JobMonitor) else cls(job)

    def add(self, session: JobSession) -> None:
        """Adds a session: its host is notified of a shutdown, and delays the room's deletion."""
        self._sessions.add(session)
        if self._shutting_down:
            session.host.job_shuts_down()

    def remove(self, session: JobSession) -> None:
        """Removes a session that `add` has added."""
        self._sessions.discard(session)

    # Replacements for the methods of the job.

    def shutdown(self, reason: str) -> None:
        """Handles a call of `JobContext.shutdown`."""
        if not self._follows_from_close() and not _finalizing.get():
            self._end()
        self._on_shutdown(reason)

    def delete_room(self, room_name: str | None = None) -> asyncio.Future[api.DeleteRoomResponse]:
        """Deletes the room, as `JobContext.delete_room` does, after the hosts have closed."""
        task = asyncio.ensure_future(self._delete_later(room_name))
        compatibility.track_pending_task(self._job, task, "delete_room")
        if not _finalizing.get():
            return task
        # The host waits for the callback that called this, so the callback must not wait for it.
        done: asyncio.Future[api.DeleteRoomResponse] = task.get_loop().create_future()
        done.set_result(api.DeleteRoomResponse())
        return done

    async def _delete_later(self, room_name: str | None) -> api.DeleteRoomResponse:
        # This runs after all listeners of the close event, so the hosts have received it.
        for session in list(self._sessions):
            if session.host.ending:
                await session.host.wait_closed()
        response: api.DeleteRoomResponse = await self._delete_room(room_name)
        return response

    def _follows_from_close(self) -> bool:
        closed = _closed.get()
        session = None if closed is None else closed()
        if session is not None and session.host.ending:
            return True
        return any(session.emits_close() for session in self._sessions)

    def _monitor_runner(self) -> None:
        """Detects a shutdown that calls no method of the job.

        If the worker or the room ends the job, or the job crashes, only a future of the process
        that runs the job is set.
        """
        self._runner_shutdown = compatibility.runner_shutdown(self._job)
        if self._runner_shutdown is not None:
            self._runner_shutdown.add_done_callback(self._runner_shuts_down)

    def session_closes(self) -> None:
        """Must be called before a session of the job closes.

        Since Python 3.12, the SDK closes the sessions of a job before the callbacks of the future
        run.
        """
        if self._runner_shutdown is not None and self._runner_shutdown.done():
            self._runner_shuts_down(self._runner_shutdown)

    def _runner_shuts_down(self, shutdown: asyncio.Future[Any]) -> None:
        if shutdown.cancelled() or not shutdown.result().user_initiated:
            self._end()

    def _end(self) -> None:
        if not self._shutting_down:
            logger.debug("the job is shut down from outside")
        self._shutting_down = True
        for session in list(self._sessions):
            session.host.job_shuts_down()


def run_in_close(session: JobSession, emit: Callable[[], None]) -> None:
    """Calls a function that emits the close event of a session.

    What the function does, and the tasks that it starts, count as following from the close. The
    caller's own context does not change: it would keep the session alive as long as the caller, and
    every task that the caller starts, lives.
    """

    def run() -> None:
        _closed.set(ref(session))
        emit()

    copy_context().run(run)


def is_finalizing() -> bool:
    """Reports whether the caller is, or was started by, the callback for a simulation's end."""
    return _finalizing.get()


async def finalize(job: JobContext, success: bool, reason: str) -> None:
    """Calls the job's callback for the end of a simulation, if the job runs in a simulation."""
    simulation = job.simulation_context()
    if simulation is None:
        return
    verdict = SimulationVerdict(success=success, reason=reason)
    run = SimulationRun(id=simulation.simulation_run_id)
    compatibility.begin_finalize(simulation, verdict, run)
    callback = compatibility.simulation_end_callback(job)
    if callback is None:
        return
    _finalizing.set(True)
    result = callback(simulation)
    if inspect.isawaitable(result):
        await result
