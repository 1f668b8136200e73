"""A job of livekit-agents whose agent has a host, and a driver of that host."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from agent_session import MemorySessionTransport, SessionHost, memory_pair
from agent_session_protocol import agent_session_pb2 as pb
from scripted_agent import Call, Clerk, Fail, Say, Script, scripted_session
from livekit_job import Runner, run_job
from scripted_session import HOLD, Driver, ready
from livekit.agents import AgentSession, JobContext
from livekit.agents.beta.tools import EndCallTool
from livekit.agents.simulation import SimulationContext
from livekit.agents.voice.room_io import RoomOptions
from transport_messages import run

SCRIPT: Script = {
    "hi": [Say("hello")],
    "bye": [Call("hang_up")],
    "end": [Call("end_call"), Say("goodbye")],
    "fail": [Fail("no model")],
}
DELETED = "room deleted: room-1"


class Case:
    """A job whose agent has a host, and a driver.

    Attributes:
        judged: the simulator's verdicts that were passed to the agent's callback.
        closes: the reasons of the session's close, from the SDK.
    """

    def __init__(
        self,
        *,
        simulated: bool = True,
        room: bool = False,
        judge: Callable[[SimulationContext], Any] | None = None,
        before: Callable[[JobContext, AgentSession[None]], None] | None = None,
        after: Callable[[Case], Awaitable[None]] | None = None,
        failures: int = 3,
        finalize_timeout: float = HOLD,
    ) -> None:
        self.judged: list[Any] = []
        self.closes: list[Any] = []
        self._room, self._before, self._after = room, before, after
        self._judge, self._failures = judge, failures
        self._finalize_timeout = finalize_timeout
        self.runner = Runner(self._entrypoint, simulated=simulated, on_simulation_end=self._end)
        self.session: AgentSession[None]
        self.host_end: MemorySessionTransport
        self.host: SessionHost
        self.driver: Driver

    @property
    def log(self) -> list[str]:
        return self.runner.log

    async def _entrypoint(self, context: JobContext) -> None:
        self.session = scripted_session(SCRIPT, failures=self._failures)
        self.session.on("close", lambda event: self.closes.append(event.reason))
        if self._before is not None:
            self._before(context, self.session)
        self.host = SessionHost(
            self.session, self.host_end, finalize_timeout=self._finalize_timeout, close_timeout=1
        )
        await self.host.start()
        settings: dict[str, Any] = {}
        if self._room:
            options = RoomOptions(delete_room_on_close=True)
            settings = {"room": context.room, "room_options": options}
        await self.session.start(Clerk(tools=[EndCallTool()]), session_host=False, **settings)
        if self._after is not None:
            await self._after(self)

    def _end(self, simulation: SimulationContext) -> Any:
        self.judged.append(simulation.simulator_verdict)
        return self._judge(simulation) if self._judge is not None else None

    def play(self, driving: Callable[[Case], Awaitable[None]]) -> None:
        """Runs the job and the driver until both have ended."""

        async def main() -> None:
            self.host_end, driver_end = memory_pair()
            self.driver = Driver(driver_end)
            driver_end.deliver_to(self.driver)

            async def drive() -> None:
                await ready(self.driver)
                await driving(self)
                await self.driver.end()
                await self.host.wait_closed()
                self.runner.shut_down()

            await run_job(self.runner, drive())

        run(main(), 40)


async def hang_up(case: Case, text: str = "bye") -> None:
    """Makes the agent close the session, and waits for session_closed."""
    response = await case.driver.ask("run_input", text=text)
    assert not response.HasField("error")
    closed = (await case.driver.event("session_closed")).session_closed
    assert closed.reason == pb.CR_USER_INITIATED


async def finalize(case: Case) -> pb.SessionResponse:
    return await case.driver.ask(
        "finalize_simulation", provisional_success=True, provisional_reason="all fine"
    )


async def gone_at_once(case: Case) -> None:
    """Checks that the host closes without a hold."""
    await case.driver.event("session_closed")
    await case.driver.end()
    assert case.judged == []
