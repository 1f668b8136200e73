"""Sessions in the rooms of a real server: many at once, and what the server does to them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from agent_session import (
    ConnectionLost,
    Ended,
    Lost,
    RemoteSession,
    RoomSessionTransport,
    SessionLost,
    StreamLimits,
)
from agent_session.host.host import SessionHost
from livekit import rtc
from livekit_server import LiveRoom, LiveServer, live_room, live_server, missing, run_live
from room_transports import send_raw
from rooms import address
from transport_messages import ping, read_all

__all__ = ["address"]  # a fixture

pytest.importorskip("livekit.agents")

from scripted_agent import Clerk, Say, Script, Wait, job, scripted_session  # noqa: E402

pytestmark = pytest.mark.livekit_server

SESSIONS, AT_A_TIME = 100, 20


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LiveServer]:
    """A server of the test's own, which it may kill."""
    if reason := missing():
        pytest.skip(reason)
    with live_server(tmp_path) as running:
        yield running


@asynccontextmanager
async def hosted(room: rtc.Room, script: Script) -> AsyncIterator[SessionHost]:
    """Runs a session and its host, which is open to all in the room."""
    session = scripted_session(script)
    async with SessionHost(session, RoomSessionTransport(room)) as host:
        await session.start(Clerk(), session_host=False)
        yield host
        await session.aclose()


async def ready_driver(room: rtc.Room) -> RemoteSession:
    """Returns a driver that the agent in a room has answered."""
    driver = RemoteSession(RoomSessionTransport(room, "agent"))
    await driver.wait_for_ready(timeout=60)
    return driver


async def text_of_run(driver: RemoteSession, text: str) -> str:
    """Runs a text, and returns the only message of the response."""
    (item,) = (await driver.run_input(text=text)).items
    (content,) = item.message.content
    return content.text


async def loss(driver: RemoteSession) -> str:
    """Returns why a session was lost."""
    outcome = await driver.wait_ended()
    assert isinstance(outcome, Lost) and not outcome.by_driver
    assert isinstance(outcome.error, ConnectionLost)
    return str(outcome.error)


async def simulated_session(place: LiveRoom, number: int) -> tuple[str, str, bool]:
    """Runs one simulation. Returns the agent's answer, the verdict, and whether it passed."""

    async def judge(simulation: Any) -> None:
        simulation.fail(f"{number} failed; {simulation.simulator_verdict.reason}")

    with job(simulated=True) as context:
        context._simulation_end_fnc = judge
        script = {f"I am {number}": [Say(f"hello {number}")]}
        async with hosted(await place.join("agent"), script):
            room = await place.join("driver")
            driver = await ready_driver(room)
            answer = await text_of_run(driver, f"I am {number}")
            response = await driver.finalize_simulation(
                provisional_success=True, provisional_reason=f"{number} is fine"
            )
            await driver.close()
    verdict = response.user_verdict
    return answer, verdict.reason, verdict.success


def test_100_sessions_20_at_a_time_get_each_their_verdict(address: str) -> None:
    async def main() -> None:
        slots = asyncio.Semaphore(AT_A_TIME)

        async def run(number: int) -> tuple[str, str, bool]:
            async with slots, live_room(address) as place:
                return await simulated_session(place, number)

        results = await asyncio.gather(*(run(number) for number in range(SESSIONS)))
        assert results == [
            (f"hello {number}", f"{number} failed; {number} is fine", False)
            for number in range(SESSIONS)
        ]

    run_live(main(), timeout=300)


def test_a_server_that_is_killed_and_starts_again(server: LiveServer) -> None:
    """The driver loses the session, since messages may be lost. The rooms connect again by
    themselves, and the host serves the next driver."""

    async def main() -> None:
        async with live_room(server.address) as place:
            async with hosted(await place.join("agent"), {"hi": [Say("hello")]}):
                room = await place.join("driver")
                driver = await ready_driver(room)
                assert await text_of_run(driver, "hi") == "hello"
                server.kill()
                lost = asyncio.ensure_future(loss(driver))
                await asyncio.to_thread(server.start)
                assert await lost == "the peer left: for an unknown reason"
                await driver.close()
                following = await ready_driver(room)
                assert await text_of_run(following, "hi") == "hello"
                await following.close()

    run_live(main(), timeout=120)


def test_a_server_that_is_killed_and_stays_away(server: LiveServer) -> None:
    """Host and driver both end, the host once livekit has given up."""

    async def main() -> None:
        async with live_room(server.address) as place:
            script: Script = {"hi": [Say("hello")], "wait": [Wait(asyncio.Event())]}
            async with hosted(await place.join("agent"), script) as host:
                room = await place.join("driver")
                driver = await ready_driver(room)
                assert await text_of_run(driver, "hi") == "hello"
                run = asyncio.ensure_future(driver.run_input(text="wait"))
                await asyncio.sleep(0)
                server.kill()
                with pytest.raises(SessionLost):
                    await run
                assert await loss(driver) == "the peer left: for an unknown reason"
                await driver.close()
                await host.wait_closed()

    run_live(main(), timeout=120)


def test_a_server_that_drains_lets_a_session_end(server: LiveServer) -> None:
    """The server exits after the participants have left, and the driver sees a normal end."""

    async def main() -> None:
        async with live_room(server.address) as place:
            async with hosted(await place.join("agent"), {"hi": [Say("hello")]}):
                driver = await ready_driver(await place.join("driver"))
                server.drain()
                assert await text_of_run(driver, "hi") == "hello"
            assert isinstance(await driver.wait_ended(), Ended)
            await driver.close()
            await place.leave_all()
            assert await asyncio.to_thread(server.wait, 30) == 0

    run_live(main(), timeout=120)


def test_a_room_that_is_deleted_ends_the_session_on_both_sides(address: str) -> None:
    async def main() -> None:
        async with live_room(address) as place:
            script: Script = {"hi": [Say("hello")], "wait": [Wait(asyncio.Event())]}
            async with hosted(await place.join("agent"), script) as host:
                room = await place.join("driver")
                driver = await ready_driver(room)
                assert await text_of_run(driver, "hi") == "hello"
                run = asyncio.ensure_future(driver.run_input(text="wait"))
                await driver.get_framework_info()
                await place.delete_room()
                with pytest.raises(SessionLost):
                    await run
                outcome = await driver.wait_ended()
                assert isinstance(outcome, Lost) and outcome.error is None
                await driver.close()
                await host.wait_closed()

    run_live(main())


def test_a_driver_whose_identity_joins_again(address: str) -> None:
    """The first one loses the session, the second one is served."""

    async def main() -> None:
        async with live_room(address) as place:
            async with hosted(await place.join("agent"), {"hi": [Say("hello")]}):
                first = await ready_driver(await place.join("driver"))
                assert await text_of_run(first, "hi") == "hello"
                second = await ready_driver(await place.join("driver"))
                assert await loss(first) == "the room disconnected: DUPLICATE_IDENTITY"
                assert await text_of_run(second, "hi") == "hello"
                await first.close()
                await second.close()

    run_live(main())


def test_an_agent_whose_identity_joins_again(address: str) -> None:
    """Its driver loses the session, and the next driver is served by the agent that replaces it."""

    async def main() -> None:
        async with live_room(address) as place:
            async with hosted(await place.join("agent"), {"hi": [Say("from the first")]}) as host:
                room = await place.join("driver")
                driver = await ready_driver(room)
                assert await text_of_run(driver, "hi") == "from the first"
                async with hosted(await place.join("agent"), {"hi": [Say("from the second")]}):
                    await loss(driver)
                    await driver.close()
                    await host.wait_closed()
                    following = await ready_driver(room)
                    assert await text_of_run(following, "hi") == "from the second"
                    await following.close()

    run_live(main())


def test_a_driver_that_waits_for_its_agent(address: str) -> None:
    async def main() -> None:
        async with live_room(address) as place:
            driver = RemoteSession(RoomSessionTransport(await place.join("driver"), "agent"))
            ready = asyncio.ensure_future(driver.wait_for_ready())
            async with hosted(await place.join("agent"), {"hi": [Say("hello")]}):
                await ready
                assert await text_of_run(driver, "hi") == "hello"
            assert isinstance(await driver.wait_ended(), Ended)
            await driver.close()

    run_live(main())


def test_a_driver_that_joins_late(address: str) -> None:
    """It gets the history, and the events from then on; the first driver gets all of them."""

    async def main() -> None:
        async with live_room(address) as place:
            script = {"hi": [Say("hello")], "more": [Say("again")]}
            async with hosted(await place.join("agent"), script):
                early = await ready_driver(await place.join("early"))
                reply: dict[str, list[str]] = {"early": [], "late": []}
                listen(early, reply["early"])
                assert await text_of_run(early, "hi") == "hello"
                late = await ready_driver(await place.join("late"))
                listen(late, reply["late"])
                history = (await late.get_chat_history()).items
                assert [item.message.content[0].text for item in history[-2:]] == ["hi", "hello"]
                assert await text_of_run(early, "more") == "again"
            for driver in (early, late):
                assert isinstance(await driver.wait_ended(), Ended)
                await driver.close()
            assert reply == {"early": ["hi", "hello", "more", "again"], "late": ["more", "again"]}

    run_live(main())


def listen(driver: RemoteSession, reply: list[str]) -> None:
    """Records the texts of a conversation."""

    def added(payload: Any, _: Any) -> None:
        reply.extend(content.text for content in payload.item.message.content)

    driver.on_conversation_item_added(added)


def test_a_hidden_driver(address: str) -> None:
    """Its messages come without an identity, so that its responses go to everyone."""

    async def main() -> None:
        async with live_room(address) as place:
            async with hosted(await place.join("agent"), {"hi": [Say("hello")]}):
                driver = await ready_driver(await place.join("observer", hidden=True))
                assert await text_of_run(driver, "hi") == "hello"
            assert isinstance(await driver.wait_ended(), Ended)
            await driver.close()

    run_live(main())


def test_a_peer_that_disconnects_after_a_send(address: str) -> None:
    """A server may take three seconds to list a participant, and does not report one that has left
    by then."""
    limits = StreamLimits(stall_timeout=5)

    async def main() -> None:
        async with live_room(address) as place:
            room = await place.join("driver")
            async with RoomSessionTransport(room, "agent", limits=limits) as driver:
                peer = await place.join("agent")
                await send_raw(peer, ping(1).SerializeToString())
                assert await driver.__anext__() == ping(1)
                await peer.disconnect()
                assert await read_all(driver) == []
                assert driver.closed

    run_live(main())
