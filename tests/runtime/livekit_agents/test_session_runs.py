"""run_input with a real AgentSession of livekit-agents."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agent_session_protocol import agent_session_pb2 as pb
from scripted_session import hosted, ready
from transport_messages import run

agents = pytest.importorskip("livekit.agents")

from scripted_agent import (
    Clerk,
    Fail,
    Say,
    Script,
    ScriptedModel,
    Wait,
    scripted_session,
)  # noqa: E402
from livekit.agents import AgentSession  # noqa: E402

GREETING: Script = {"hi": [Say("hello")]}


def kinds(items: Any) -> list[str | None]:
    return [item.WhichOneof("item") for item in items]


@pytest.mark.parametrize("ticks", [0, 1, 3, 6, 12])
def test_a_run_waits_for_an_update_of_the_agent(ticks: int) -> None:
    """Without the wait, the SDK cancels the reply, or gives it to an agent that has not started."""

    async def main() -> None:
        session = scripted_session(GREETING)
        async with hosted(session) as (driver, _, _):
            await session.start(Clerk(), session_host=False)
            await ready(driver)
            for number in range(2):
                session.update_agent(Clerk(id=f"clerk {number}"))
            for _ in range(ticks):
                await asyncio.sleep(0)
            answer = await driver.ask("run_input", text="hi")
            assert (answer.error, kinds(answer.run_input.items)) == ("", ["message"])
            info = await driver.ask("get_agent_info")
            assert info.get_agent_info.id == "clerk 1"
            await session.aclose()

    run(main())


@pytest.mark.parametrize("settings", [{}, {"llm": ...}], ids=["no llm", "ellipsis"])
def test_a_run_without_a_model_is_refused(
    settings: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        session: AgentSession[None] = AgentSession(
            vad=None,
            turn_handling={"turn_detection": None},
            user_away_timeout=None,
            **settings,
        )
        await session.start(Clerk(), session_host=False)
        async with hosted(session) as (driver, _, _):
            response = await driver.ask("run_input", text="hi")
            assert response.error == "the session has no LLM and cannot answer"
            assert "give AgentSession or its agent an llm" in caplog.text
            assert not (await driver.ask("get_chat_history")).HasField("error")
        await session.aclose()

    run(main())


def test_a_run_uses_the_model_of_the_agent() -> None:
    async def main() -> None:
        session: AgentSession[None] = AgentSession(
            vad=None, turn_handling={"turn_detection": None}, user_away_timeout=None
        )
        await session.start(Clerk(llm=ScriptedModel(GREETING)), session_host=False)
        async with hosted(session) as (driver, _, _):
            answer = (await driver.ask("run_input", text="hi")).run_input
            assert [item.message.content[0].text for item in answer.items] == ["hello"]
        await session.aclose()

    run(main())


def test_a_newer_run_interrupts_an_older_one() -> None:
    async def main() -> None:
        never = asyncio.Event()
        session = scripted_session({"wait": [Wait(never, "too late")], **GREETING})
        await session.start(Clerk(), session_host=False)
        async with hosted(session) as (driver, _, _):
            older = await driver.send("run_input", text="wait")
            thinking = pb.AS_THINKING
            await driver.until(
                lambda: any(e.agent_state_changed.new_state == thinking for e in driver.events)
            )
            newer = await driver.ask("run_input", text="hi")
            assert (await driver.answer(older)).error == "superseded by a newer run_input"
            assert [item.message.content[0].text for item in newer.run_input.items] == ["hello"]
        await session.aclose()

    run(main())


def test_a_run_interrupts_speech_that_disallows_interruptions() -> None:
    async def main() -> None:
        never = asyncio.Event()
        session = scripted_session({"wait": [Wait(never, "too late")], **GREETING})
        await session.start(Clerk(), session_host=False)
        async with hosted(session) as (driver, _, _):
            speech = session.generate_reply(user_input="wait", allow_interruptions=False)
            await driver.until(
                lambda: any(
                    event.agent_state_changed.new_state == pb.AS_THINKING for event in driver.events
                )
            )
            answer = (await driver.ask("run_input", text="hi")).run_input
            assert [item.message.content[0].text for item in answer.items] == ["hello"]
            assert speech.interrupted
        await session.aclose()

    run(main())


def test_a_failure_of_the_model_is_the_error_of_the_run_and_an_event() -> None:
    async def main() -> None:
        session = scripted_session({"hi": [Fail("no such model")]})
        await session.start(Clerk(), session_host=False)
        async with hosted(session) as (driver, _, _):
            response = await driver.ask("run_input", text="hi")
            assert "no such model" in response.error
            assert response.WhichOneof("response") == "run_input"
            assert "no such model" in (await driver.event("error")).error.message
        await session.aclose()

    run(main())


def test_repeated_failures_of_the_model_close_the_session() -> None:
    async def main() -> None:
        session = scripted_session({"hi": [Fail("no such model")]}, failures=0)
        await session.start(Clerk(), session_host=False)
        async with hosted(session) as (driver, _, _):
            response = await driver.ask("run_input", text="hi")
            assert response.error and response.WhichOneof("response") == "run_input"
            closed = (await driver.event("session_closed")).session_closed
            assert closed.reason == pb.CR_ERROR and "no such model" in closed.error
            await driver.end()

    run(main())
