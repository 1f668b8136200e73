"""Shutdowns of real jobs of livekit-agents, by the SDK's runner."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from agent_session import SessionHost, memory_pair
from agent_session_protocol import agent_session_pb2 as pb
from scripted_session import Driver

pytest.importorskip("livekit.agents")

from job_case import Case, finalize, gone_at_once, hang_up  # noqa: E402
from livekit.agents import AgentSession, CloseReason, JobContext  # noqa: E402
from livekit.agents.simulation import SimulationContext  # noqa: E402


@pytest.mark.parametrize("how", ["worker", "room", "context"])
def test_a_shutdown_from_outside_has_no_hold(how: str) -> None:
    case = Case()

    async def driving(case: Case) -> None:
        shut_down(case, how)
        await gone_at_once(case)
        # The SDK reports `user_initiated`, as if the agent had ended the session.
        assert case.closes == [CloseReason.USER_INITIATED]
        assert case.driver.events[-1].session_closed.reason == pb.CR_JOB_SHUTDOWN

    case.play(driving)


def test_a_session_that_closes_in_the_same_step_as_the_shutdown() -> None:
    """The SDK closes it so on Python 3.12 and newer, before the future's callbacks run."""
    case = Case()

    async def driving(case: Case) -> None:
        case.runner.lose_room()
        await case.session.aclose()
        await gone_at_once(case)
        assert case.driver.events[-1].session_closed.reason == pb.CR_JOB_SHUTDOWN

    case.play(driving)


def test_a_shutdown_by_a_saved_method_has_no_hold() -> None:
    shutdown_methods: list[Any] = []
    case = Case(before=lambda context, _: shutdown_methods.append(context.shutdown))

    async def driving(case: Case) -> None:
        shutdown_methods[0]("enough")
        await gone_at_once(case)

    case.play(driving)


def shut_down(case: Case, how: str) -> None:
    if how == "worker":
        case.runner.shut_down()
    elif how == "room":
        case.runner.lose_room()
    elif how == "simulator":
        # The SDK calls this when the simulator leaves the room.
        participant: Any = SimpleNamespace(attributes={"lk.simulator": "true"})
        case.runner.context._on_simulator_disconnected(participant)
    else:
        case.runner.context.shutdown("enough")


@pytest.mark.parametrize("how", ["worker", "room", "context", "simulator"])
def test_a_shutdown_from_outside_ends_a_hold(how: str) -> None:
    async def driving(case: Case) -> None:
        await hang_up(case)
        assert (await case.driver.ask("ping")).HasField("pong")
        shut_down(case, how)
        await case.driver.end()
        assert case.judged == []

    Case().play(driving)


@pytest.mark.parametrize("how", ["worker", "room"])
def test_a_shutdown_ends_a_hold_while_the_entrypoint_runs(how: str) -> None:
    """The SDK first waits for the entrypoint, for up to 15 s."""
    released = asyncio.Event()

    async def after(case: Case) -> None:
        await released.wait()

    async def driving(case: Case) -> None:
        await hang_up(case)
        shut_down(case, how)
        await case.driver.end()
        assert "entrypoint returned" not in case.log
        released.set()

    Case(after=after).play(driving)


def test_a_close_by_the_entrypoint_at_a_shutdown_has_no_hold() -> None:
    async def after(case: Case) -> None:
        asked = asyncio.Event()
        case.runner._proc._shutdown_fut.add_done_callback(lambda _: asked.set())
        await asked.wait()
        await case.session.aclose()

    async def driving(case: Case) -> None:
        case.runner.shut_down()
        await gone_at_once(case)

    Case(after=after).play(driving)


def test_a_host_that_starts_during_a_shutdown_has_no_hold() -> None:
    async def after(case: Case) -> None:
        asked = asyncio.Event()
        case.runner._proc._shutdown_fut.add_done_callback(lambda _: asked.set())
        await asked.wait()
        await case.host.close()
        host_end, driver_end = memory_pair()
        driver = Driver(driver_end)
        driver_end.deliver_to(driver)
        host = SessionHost(case.session, host_end)
        await host.start()
        await asyncio.wait_for(case.session.aclose(), 5)
        await driver.end()
        assert driver.arms()[-1] == "session_closed"

    async def driving(case: Case) -> None:
        case.runner.shut_down()
        await case.driver.end()

    Case(after=after).play(driving)


def test_a_crash_of_the_entrypoint_has_no_hold() -> None:
    crash = asyncio.Event()

    async def after(case: Case) -> None:
        await crash.wait()
        raise RuntimeError("the entrypoint fell over")

    async def driving(case: Case) -> None:
        crash.set()
        await gone_at_once(case)

    Case(after=after).play(driving)


def test_a_participant_that_disconnects_causes_no_hold() -> None:
    async def driving(case: Case) -> None:
        # As RoomIO does when its participant disconnects.
        case.session._close_soon(reason=CloseReason.PARTICIPANT_DISCONNECTED)
        closed = (await case.driver.event("session_closed")).session_closed
        assert closed.reason == pb.CR_PARTICIPANT_DISCONNECTED
        await gone_at_once(case)

    Case().play(driving)


def test_a_model_that_fails_causes_a_hold() -> None:
    async def driving(case: Case) -> None:
        await case.driver.ask("run_input", text="fail")
        closed = (await case.driver.event("session_closed")).session_closed
        assert closed.reason == pb.CR_ERROR
        for _ in range(20):  # a closing host would refuse it
            assert not (await case.driver.ask("get_chat_history")).HasField("error")
        assert (await finalize(case)).HasField("finalize_simulation")

    Case(failures=0).play(driving)


# A shutdown that follows from the agent's close is not one from outside.


@pytest.mark.parametrize(
    "when",
    [
        "in the listener",
        "in a task of it",
        "before the host listens",
        "in a task of one before the host listens",
    ],
)
def test_an_agent_that_shuts_its_job_down_when_its_session_closes(when: str) -> None:
    def before(context: JobContext, session: AgentSession[None]) -> None:
        async def later() -> None:
            context.shutdown("my session closed")

        def on_close(_: object) -> None:
            if when.startswith("in a task"):
                tasks.append(asyncio.ensure_future(later()))
            else:
                context.shutdown("my session closed")

        def on_start(_: object) -> None:
            session.off("agent_state_changed", on_start)
            session.on("close", on_close)

        tasks: list[asyncio.Task[None]] = []
        if when.endswith("before the host listens"):
            session.on("close", on_close)
        else:
            session.on("agent_state_changed", on_start)

    case = Case(before=before)

    async def driving(case: Case) -> None:
        await hang_up(case)
        await case.driver.ask("ping")
        assert "Exiting" not in case.log
        await finalize(case)

    case.play(driving)
    assert len(case.judged) == 1


@pytest.mark.parametrize("early", [False, True], ids=["in the hold", "while the session runs"])
@pytest.mark.parametrize("what", ["closes the session", "shuts the job down", "deletes the room"])
def test_the_callback_for_the_end_may_close_the_session_and_the_room(
    what: str, early: bool
) -> None:
    """The host waits for the callback, so the callback must not wait for the host."""

    async def judge(simulation: SimulationContext) -> None:
        context = simulation.job_context
        simulation.fail("over")
        if what == "closes the session":
            await asyncio.wait_for(context.primary_session.aclose(), 5)
        elif what == "shuts the job down":
            context.shutdown("judged")
        else:
            await asyncio.wait_for(context.delete_room(), 5)

    case = Case(judge=judge, room=True)

    async def driving(case: Case) -> None:
        if not early:
            await hang_up(case)
        response = await finalize(case)
        assert response.error == "" and response.finalize_simulation.user_verdict.reason == "over"
        if early and what == "deletes the room":
            case.session.shutdown()

    case.play(driving)


def test_the_callback_for_the_end_may_shut_the_job_down() -> None:
    """If this shutdown ended the hold, the callback would be limited to the close timeout."""
    shut, finish = asyncio.Event(), asyncio.Event()

    async def judge(simulation: SimulationContext) -> None:
        simulation.job_context.shutdown("judged")
        shut.set()
        await finish.wait()
        simulation.fail("late")

    async def driving(case: Case) -> None:
        await hang_up(case)
        name = await case.driver.send("finalize_simulation")
        await shut.wait()
        for _ in range(10):
            await case.driver.ask("ping")
        assert not (await case.driver.ask("get_session_state")).HasField("error")
        finish.set()
        response = await case.driver.answer(name)
        assert response.finalize_simulation.user_verdict.reason == "late"

    Case(judge=judge).play(driving)
