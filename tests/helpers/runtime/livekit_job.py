"""Runs a job of livekit-agents with the SDK's runner. Only the LiveKit server is replaced."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from typing import Any

from livekit import api, rtc
from livekit.agents import JobContext, JobExecutorType
from livekit.agents.ipc.job_proc_lazy_main import _JobProc
from livekit.agents.ipc.proto import InitializeRequest, ShutdownRequest, StartJobRequest
from livekit.agents.job import JobAcceptArguments, RunningJobInfo
from livekit.agents.simulation import SimulationContext
from livekit.agents.utils.aio import Chan
from livekit.protocol import agent, models

# These models take seconds to load, and the tests do not use them.
os.environ.setdefault("LIVEKIT_AGENTS_PRELOAD_LOCAL_INFERENCE", "0")

SIMULATED = {
    "lk.simulator.dispatch": json.dumps(
        {"simulationRunId": "run-1", "mode": "SIMULATION_MODE_TEXT"}
    )
}

Entrypoint = Callable[[JobContext], Awaitable[None]]


class Server:
    """Replaces `JobContext.api`, the client of the LiveKit server."""

    def __init__(self, log: list[str]) -> None:
        self.room = self
        self._log = log

    async def delete_room(self, request: api.DeleteRoomRequest) -> api.DeleteRoomResponse:
        self._log.append(f"room deleted: {request.room}")
        return api.DeleteRoomResponse()


class Runner:
    """Runs one job in this process.

    Attributes:
        log: the requests to the server and the messages to the worker, in order.
        context: the job, once it has started.
    """

    def __init__(
        self,
        entrypoint: Entrypoint,
        *,
        simulated: bool = False,
        on_simulation_end: Callable[[SimulationContext], Any] | None = None,
    ) -> None:
        self.log: list[str] = []
        self.context: JobContext
        self._entrypoint = entrypoint
        self._attributes = SIMULATED if simulated else {}
        self._messages: Chan[Any]
        self._proc = _JobProc(
            lambda _: None,
            self._begin,
            None,
            session_end_timeout=1,
            executor_type=JobExecutorType.THREAD,
            simulation_end_fnc=on_simulation_end,
        )

    async def _begin(self, context: JobContext) -> None:
        self.context = context
        context.__dict__["api"] = Server(self.log)
        context._connected = True  # there is no server to connect to
        await self._entrypoint(context)
        self.log.append("entrypoint returned")

    async def run(self) -> None:
        """Runs the job until it has shut down."""
        self._messages = Chan()
        self._proc.initialize(InitializeRequest(), self)  # type: ignore[arg-type]
        start = StartJobRequest()
        start.running_job = RunningJobInfo(
            accept_arguments=JobAcceptArguments(name="", identity="clerk", metadata=""),
            job=agent.Job(
                id="job-1",
                room=models.Room(name="room-1", sid="RM_1"),
                attributes=self._attributes,
            ),
            url="",
            token="",
            worker_id="worker-1",
            fake_job=False,
        )
        self._messages.send_nowait(start)
        await self._proc.entrypoint(self._messages)

    def shut_down(self) -> None:
        """Shuts the job down, as the worker does."""
        self._messages.send_nowait(ShutdownRequest(reason="worker drains"))

    def lose_room(self) -> None:
        """Emits that the room has lost its connection."""
        room: rtc.Room = self.context.room
        room.emit("disconnected", rtc.DisconnectReason.SIGNAL_CLOSE)

    async def send(self, message: Any) -> None:
        """Receives a message of the job to the worker."""
        self.log.append(type(message).__name__)


async def run_job(runner: Runner, driving: Awaitable[Any], timeout: float = 20) -> None:
    """Runs a job and a coroutine that controls it until both have ended."""
    await asyncio.wait_for(asyncio.gather(runner.run(), driving), timeout)
