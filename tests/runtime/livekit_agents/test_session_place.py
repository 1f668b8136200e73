"""The host of an AgentSession: only one at a time, and not the SDK's."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from agent_session import RoomSessionTransport, SdkHostRunning, SessionHost, memory_pair
from room_stand_in import stand_in
from scripted_session import hosted, ready
from transport_messages import run

pytest.importorskip("livekit.agents")

from agent_session.livekit_agents.job import JobMonitor  # noqa: E402
from scripted_agent import Clerk, Say, Script, job, scripted_session  # noqa: E402
from livekit.agents import AgentSession  # noqa: E402
from livekit.agents.voice.room_io import RoomOptions  # noqa: E402
from livekit.agents.voice.remote_session import SessionHost as SdkHost  # noqa: E402

GREETING: Script = {"hi": [Say("hello")]}
SILENT = RoomOptions(audio_input=False, audio_output=False, text_input=False, text_output=False)


def test_a_session_with_the_sdks_host_is_refused() -> None:
    async def main() -> None:
        with job() as context:
            session = scripted_session({})
            await session.start(Clerk(), room=context.room)
            assert isinstance(session._session_host, SdkHost)
            host_end, driver_end = memory_pair()
            host = SessionHost(session, host_end)
            with pytest.raises(SdkHostRunning, match="session_host=False"):
                await host.start()
            await host.close()
            await session.aclose()
            await driver_end.close()

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


def test_a_start_with_the_sdks_host_in_the_room_of_ours_is_refused() -> None:
    """The SDK would fail with a ValueError about a byte stream handler, and leave tasks."""

    async def main() -> None:
        async with stand_in() as place:
            room = await place.join("agent")
            session = scripted_session(GREETING)
            async with SessionHost(session, RoomSessionTransport(room)):
                given: list[dict[str, Any]] = [{}, {"session_host": True}]
                for settings in given:
                    with pytest.raises(SdkHostRunning, match="pass session_host=False"):
                        await session.start(Clerk(), room=room, room_options=SILENT, **settings)
                assert session._room_io is None
                await session.start(Clerk(), room=room, room_options=SILENT, session_host=False)
                await session.aclose()
            assert "start" not in vars(session)

    run(main())


def test_a_second_session_of_a_job_starts_in_the_room_of_the_first() -> None:
    """The SDK starts a host for the first session only."""

    async def main() -> None:
        async with stand_in() as place:
            room = await place.join("agent")
            with job():
                first, second = scripted_session(GREETING), scripted_session(GREETING)
                async with SessionHost(first, RoomSessionTransport(room)):
                    await first.start(Clerk(), session_host=False)
                    async with hosted(second):
                        await second.start(Clerk(id="second"), room=room, room_options=SILENT)
                        await second.aclose()
                    await first.aclose()

    run(main())


def test_a_session_has_only_one_host() -> None:
    async def main() -> None:
        session = scripted_session(GREETING)
        await session.start(Clerk(), session_host=False)
        async with hosted(session) as (driver, _, _):
            host_end, driver_end = memory_pair()
            second = SessionHost(session, host_end)
            with pytest.raises(SdkHostRunning):
                await second.start()
            await second.close()
            await driver_end.close()
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
            assert set(vars(session)) - own == {"aclose", "emit", "start"}
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
                pass  # lets the close complete

    run(main())
