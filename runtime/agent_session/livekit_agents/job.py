"""The job of livekit-agents that runs a session.

Tells the hosts of the job's sessions about a shutdown from outside, and delays the deletion of the
room until they are done.

A shutdown comes from outside when the worker, the server or the room ends the job, or when
`JobContext.shutdown` is called. It does not when a listener of the session's own close calls it, as
the SDK's tool for hanging up does, or when the callback for the end of a simulation does: these
follow from what the agent did. The SDK closes the session in the same way, and with the same
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


class Member(Protocol):
    """A hosted session of a job."""

    @property
    def host(self) -> HostHandle:
        """Its host."""
        ...

    def emits_close(self) -> bool:
        """Whether its close is being told this moment, and the host does not know yet."""
        ...


# The session whose close has led to this code, or to the task that it runs in. Every task copies its
# context, so a strong reference would keep each session alive that another one follows.
_closed: ContextVar[ref[Member] | None] = ContextVar("closed", default=None)

# Whether this code is the callback for the end of a simulation, or was begun by it.
_finalizing: ContextVar[bool] = ContextVar("finalizing", default=False)


class JobWatch:
    """Stands before two methods of one job, for as long as the job lives."""

    def __init__(self, job: JobContext) -> None:
        self._ends = False
        self._job = job
        self._members: set[Member] = set()
        self._on_shutdown = compatibility.get_shutdown_callback(job)
        self._delete_room = job.delete_room
        self._watch_runner()
        compatibility.set_shutdown_callback(job, self.shutdown)
        setattr(job, "delete_room", self.delete_room)

    @classmethod
    def over(cls, job: JobContext) -> JobWatch:
        """The watch over a job; there is one at most."""
        watch = getattr(compatibility.get_shutdown_callback(job), "__self__", None)
        return watch if isinstance(watch, JobWatch) else cls(job)

    def join(self, member: Member) -> None:
        """Let a session's host know of a shutdown, and the room's deletion wait for it."""
        self._members.add(member)
        if self._ends:
            member.host.job_shuts_down()

    def leave(self, member: Member) -> None:
        """Undo `join`."""
        self._members.discard(member)

    # In place of the job's own methods.

    def shutdown(self, reason: str) -> None:
        """What `JobContext.shutdown` calls."""
        if not self._follows_from_close() and not _finalizing.get():
            self._end()
        self._on_shutdown(reason)

    def delete_room(self, room_name: str | None = None) -> asyncio.Future[api.DeleteRoomResponse]:
        """`JobContext.delete_room`, but not before the hosts of closed sessions are done."""
        task = asyncio.ensure_future(self._delete_later(room_name))
        compatibility.track_pending_task(self._job, task, "delete_room")
        if not _finalizing.get():
            return task
        # A host waits for whoever asked: that one must not wait for the host.
        done: asyncio.Future[api.DeleteRoomResponse] = task.get_loop().create_future()
        done.set_result(api.DeleteRoomResponse())
        return done

    async def _delete_later(self, room_name: str | None) -> api.DeleteRoomResponse:
        # Whatever the order of the listeners of a close: by now, hosts know of it.
        for member in list(self._members):
            if member.host.ending:
                await member.host.wait_closed()
        response: api.DeleteRoomResponse = await self._delete_room(room_name)
        return response

    def _follows_from_close(self) -> bool:
        closed = _closed.get()
        member = None if closed is None else closed()
        if member is not None and member.host.ending:
            return True
        return any(member.emits_close() for member in self._members)

    def _watch_runner(self) -> None:
        """Learn of a shutdown that no method of the job is called for.

        The worker's, the room's and a crash's set a future of the runner, which only the callback
        that it has given to the job leads to.
        """
        asked = compatibility.runner_shutdown(self._job)
        if asked is not None:
            asked.add_done_callback(self._runner_shuts_down)

    def _runner_shuts_down(self, asked: asyncio.Future[Any]) -> None:
        if asked.cancelled() or not asked.result().user_initiated:
            self._end()

    def _end(self) -> None:
        if not self._ends:
            logger.debug("the job is shut down from outside")
        self._ends = True
        for member in list(self._members):
            member.host.job_shuts_down()


def run_in_close(member: Member, emit: Callable[[], None]) -> None:
    """Calls a function that emits a session's close.

    What the function does, and the tasks that it starts, count as following from the close. The
    caller's own context does not change: it would keep the session alive as long as the caller, and
    every task that the caller starts, lives.
    """

    def run() -> None:
        _closed.set(ref(member))
        emit()

    copy_context().run(run)


def is_finalizing() -> bool:
    """Whether this is the callback for the end of a simulation, which a host waits for."""
    return _finalizing.get()


async def finalize(job: JobContext, success: bool, reason: str) -> None:
    """Run a job's callback for the end of a simulation; nothing happens outside of one."""
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
