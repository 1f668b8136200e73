"""The finalize hold in real jobs and simulations of livekit-agents."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agent_session import SessionHost, memory_pair
from scripted_session import Driver

pytest.importorskip("livekit.agents")

from scripted_agent import Clerk, scripted_session  # noqa: E402
from job_case import DELETED, SCRIPT, Case, finalize, gone_at_once, hang_up  # noqa: E402
from livekit.agents import AgentSession, JobContext  # noqa: E402
from livekit.agents.simulation import SimulationContext  # noqa: E402
from livekit.agents.voice.room_io import RoomOptions  # noqa: E402


@pytest.mark.parametrize("success", [True, False])
def test_the_agent_hangs_up_in_a_simulation(success: bool) -> None:
    def judge(simulation: SimulationContext) -> None:
        simulation.fail("no parcel")

    case = Case(judge=judge)

    async def driving(case: Case) -> None:
        await hang_up(case)
        assert (await case.driver.ask("get_agent_info")).get_agent_info.id == "clerk"
        response = await case.driver.ask(
            "finalize_simulation", provisional_success=success, provisional_reason="all fine"
        )
        verdict = response.finalize_simulation.user_verdict
        assert (verdict.success, verdict.reason) == (False, "no parcel")

    case.play(driving)
    (given,) = case.judged
    assert (given.success, given.reason) == (success, "all fine")


def test_an_async_callback_that_raises_after_its_verdict() -> None:
    async def judge(simulation: SimulationContext) -> None:
        assert simulation.simulation_run is not None
        assert simulation.simulation_run.id == "run-1"
        simulation.fail("too slow")
        await asyncio.sleep(0)
        raise LookupError("the judge fell over")

    async def driving(case: Case) -> None:
        await hang_up(case)
        response = await finalize(case)
        assert response.error == "the judge fell over"
        assert response.finalize_simulation.user_verdict.reason == "too slow"

    Case(judge=judge).play(driving)


def test_without_a_simulation_there_is_no_hold() -> None:
    async def driving(case: Case) -> None:
        await hang_up(case)
        await gone_at_once(case)

    Case(simulated=False).play(driving)


def test_the_sdks_tool_for_hanging_up_does_not_prevent_the_hold() -> None:
    case = Case()

    async def driving(case: Case) -> None:
        await hang_up(case, "end")
        await case.driver.ask("get_chat_history")
        assert "Exiting" not in case.log and DELETED not in case.log
        await finalize(case)

    case.play(driving)
    assert len(case.judged) == 1
    assert case.log.index("Exiting") < case.log.index(DELETED)


def test_the_close_of_the_session_waits_for_the_hold() -> None:
    async def after(case: Case) -> None:
        async def close() -> None:
            await case.session.aclose()
            case.log.append("closed")

        closing.append(asyncio.ensure_future(close()))

    async def driving(case: Case) -> None:
        await case.driver.event("session_closed")
        assert (await case.driver.ask("ping")).HasField("pong")
        assert "closed" not in case.log
        await finalize(case)

    closing: list[asyncio.Task[None]] = []
    case = Case(after=after)
    case.play(driving)
    assert "closed" in case.log


# The room.


def test_the_rooms_deletion_waits_for_the_hold() -> None:
    case = Case(room=True)

    async def driving(case: Case) -> None:
        await hang_up(case)
        for _ in range(20):
            assert (await case.driver.ask("ping")).HasField("pong")
        assert case.session._room_io is not None and DELETED not in case.log
        await finalize(case)
        await case.driver.end()
        assert case.driver.responses[-1].HasField("finalize_simulation")

    case.play(driving)
    assert case.log.count(DELETED) == 1


@pytest.mark.parametrize("host_first", [True, False])
def test_the_rooms_deletion_waits_for_a_host_that_starts_late(host_first: bool) -> None:
    """The host registers its listener after RoomIO, and the deletion waits nevertheless."""
    case = Case(room=True)
    entrypoint = case._entrypoint

    async def session_first(context: JobContext) -> None:
        case.session = scripted_session(SCRIPT)
        await case.session.start(
            Clerk(),
            room=context.room,
            room_options=RoomOptions(delete_room_on_close=True),
            session_host=False,
        )
        case.host = SessionHost(case.session, case.host_end)
        await case.host.start()

    case.runner._entrypoint = entrypoint if host_first else session_first

    async def driving(case: Case) -> None:
        await hang_up(case)
        await case.driver.ask("ping")
        assert DELETED not in case.log
        await finalize(case)

    case.play(driving)
    assert case.log.count(DELETED) == 1


def test_a_deletion_of_the_room_by_the_agent_waits() -> None:
    def before(context: JobContext, session: AgentSession[None]) -> None:
        def delete(_: object) -> None:
            context.delete_room()

        session.on("close", delete)

    case = Case(before=before)

    async def driving(case: Case) -> None:
        await hang_up(case)
        await case.driver.ask("ping")
        assert DELETED not in case.log
        await finalize(case)

    case.play(driving)
    assert case.log.count(DELETED) == 1


def test_a_room_is_deleted_at_once_while_the_session_runs() -> None:
    async def driving(case: Case) -> None:
        await case.runner.context.delete_room(room_name="another")
        assert case.log[-1] == "room deleted: another"
        await hang_up(case)
        await finalize(case)

    Case().play(driving)


def test_without_a_hold_the_room_is_deleted_after_session_closed_is_sent() -> None:
    case = Case(simulated=False, room=True)

    async def driving(case: Case) -> None:
        await hang_up(case)
        await gone_at_once(case)

    case.play(driving)
    assert case.log.count(DELETED) == 1


def test_the_rooms_deletion_waits_for_two_sessions() -> None:
    second: dict[str, Any] = {}

    async def after(case: Case) -> None:
        host_end, driver_end = memory_pair()
        second["driver"] = driver = Driver(driver_end)
        driver_end.deliver_to(driver)
        second["session"] = session = scripted_session(SCRIPT)
        second["host"] = host = SessionHost(session, host_end)
        await host.start()
        await session.start(Clerk(), session_host=False)

    async def driving(case: Case) -> None:
        await hang_up(case)
        second["session"].shutdown()
        await second["driver"].event("session_closed")
        deleting = asyncio.ensure_future(case.runner.context.delete_room())
        await finalize(case)
        await case.driver.end()
        assert DELETED not in case.log
        await second["driver"].ask("finalize_simulation")
        await deleting
        assert case.log.count(DELETED) == 1

    case = Case(after=after)
    case.play(driving)
    assert len(case.judged) == 2
