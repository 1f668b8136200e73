"""The place of a host in an AgentSession of livekit-agents: one at a time, and the SDK's own off."""

from __future__ import annotations

import asyncio
import logging

import pytest
from agent_session import SdkHostRunning, SessionHost, memory_pair
from scripted_session import hosted, ready
from transport_messages import run

pytest.importorskip("livekit.agents")

from agent_session.livekit_agents.job import JobMonitor  # noqa: E402
from scripted_agent import Clerk, Say, Script, job, scripted_session  # noqa: E402
from livekit.agents import AgentSession  # noqa: E402
from livekit.agents.voice.remote_session import SessionHost as SdkHost  # noqa: E402

GREETING: Script = {"hi": [Say("hello")]}


def test_a_session_with_the_sdks_host_is_refused() -> None:
    async def main() -> None:
        with job() as context:
            session = scripted_session({})
            await session.start(Clerk(), room=context.room)
            assert isinstance(session._session_host, SdkHost)
            ours, theirs = memory_pair()
            host = SessionHost(session, ours)
            with pytest.raises(SdkHostRunning, match="session_host=False"):
                await host.start()
            await host.close()
            await session.aclose()
            await theirs.close()

    run(main())


def test_session_host_false_disables_the_sdks_host() -> None:
    async def main() -> None:
        with job() as context:
            session = scripted_session({})
            await session.start(Clerk(), room=context.room, session_host=False)
            assert session._session_host is None
            async with hosted(session) as (driver, _, _):
                assert (await driver.ask("ping")).HasField("pong")
                assert len(JobMonitor.of(context)._sessions) == 1
                await session.aclose()
            assert not JobMonitor.of(context)._sessions

    run(main())


def test_a_later_host_of_the_sdk_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        with job() as context:
            session = scripted_session(GREETING)
            async with hosted(session) as (driver, host, _):
                await session.start(Clerk(), room=context.room)
                await ready(driver)
                assert isinstance(session._session_host, SdkHost)
                await session.aclose()
                await driver.end()
                await host.wait_closed()

    with caplog.at_level(logging.ERROR):
        run(main())
    assert caplog.text.count("the SDK's own host") == 1


def test_a_session_has_only_one_host() -> None:
    async def main() -> None:
        session = scripted_session(GREETING)
        await session.start(Clerk(), session_host=False)
        async with hosted(session) as (driver, _, _):
            ours, theirs = memory_pair()
            second = SessionHost(session, ours)
            with pytest.raises(SdkHostRunning):
                await second.start()
            await second.close()
            await theirs.close()
            assert (await driver.ask("run_input", text="hi")).run_input.items
        async with hosted(session) as (driver, _, _):
            assert (await driver.ask("run_input", text="hi")).run_input.items
        await session.aclose()

    run(main())


def test_a_closed_host_restores_its_session() -> None:
    async def main() -> None:
        session = scripted_session(GREETING)
        await session.start(Clerk(), session_host=False)
        before = {name: list(callbacks) for name, callbacks in session._events.items()}
        own = set(vars(session))
        async with hosted(session):
            assert set(vars(session)) - own == {"aclose", "emit"}
        after = {name: list(each) for name, each in session._events.items() if each}
        assert after == before
        assert set(vars(session)) == own and session._session_host is None
        await session.aclose()

    run(main())


def test_a_restarted_session_needs_a_new_host() -> None:
    async def main() -> None:
        session: AgentSession[None] = scripted_session(GREETING)
        for end in (session.shutdown, lambda: asyncio.ensure_future(session.aclose())):
            async with hosted(session) as (driver, _, _):
                await session.start(Clerk(), session_host=False)
                await ready(driver)
                assert (await driver.ask("run_input", text="hi")).run_input.items
                silence = await driver.ask("run_input", text="a text without an answer")
                assert not silence.HasField("error") and not silence.run_input.items
                end()
                await driver.end()
                assert driver.arms()[-1] == "session_closed"
            async with session._lock:
                pass  # the rest of the close

    run(main())
