"""Hosts and drivers over a room, with each other and with those of livekit-agents."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from agent_session import (
    DriverClosed,
    Ended,
    Lost,
    RemoteSession,
    RoomSessionTransport,
    SessionLost,
    StreamLimits,
)
from agent_session.host.host import SessionHost
from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.errors import RequestError
from livekit import rtc
from rooms import Place, Venue, address, venue

__all__ = ["address", "venue"]  # fixtures

remote_session = pytest.importorskip("livekit.agents.voice.remote_session")

from scripted_session import PlainSession, block_stats  # noqa: E402
from scripted_agent import Clerk, Say, scripted_session  # noqa: E402
from livekit.agents import AgentSession  # noqa: E402

LONG = "x" * 1_570_000
SCRIPT = {"hi": [Say("hello")], "more": [Say("x" * 50_000)], "long": [Say(LONG)]}
SMALL = StreamLimits(room_message_size=1 << 20)


@asynccontextmanager
async def our_host(
    place: Place, limits: StreamLimits = StreamLimits()
) -> AsyncIterator[AgentSession[None]]:
    """Yields a session whose host serves all participants. Disconnects the room at the end."""
    room = await place.join("agent")
    session = scripted_session(SCRIPT)
    async with SessionHost(session, RoomSessionTransport(room, limits=limits)) as host:
        await session.start(Clerk(), session_host=False)
        yield session
        await session.aclose()
        await host.wait_closed()
    await room.disconnect()


@asynccontextmanager
async def their_host(place: Place) -> AsyncIterator[AgentSession[None]]:
    """Yields a session with the host of livekit-agents."""
    room = await place.join("agent")
    async with scripted_session(SCRIPT) as session:
        host = remote_session.SessionHost(remote_session.RoomSessionTransport(room))
        host.register_session(session)
        await session.start(Clerk())
        await host.start()
        yield session
        await host.aclose()


async def our_driver(
    place: Place, identity: str, limits: StreamLimits = StreamLimits()
) -> RemoteSession:
    return await our_driver_in(await place.join(identity), limits)


async def our_driver_in(room: rtc.Room, limits: StreamLimits = StreamLimits()) -> RemoteSession:
    driver = RemoteSession(RoomSessionTransport(room, "agent", limits=limits))
    await driver.wait_for_ready()
    return driver


def texts(items: Any) -> list[str]:
    return [content.text for item in items for content in item.message.content]


def test_our_host_and_our_driver_until_the_session_closes(venue: Venue) -> None:
    async def main(place: Place) -> None:
        async with our_host(place):
            driver = await our_driver(place, "driver")
            assert texts((await driver.run_input(text="hi")).items) == ["hello"]
            assert texts((await driver.run_input(text="more")).items) == ["x" * 50_000]
            history = await driver.get_chat_history()
            assert texts(history.items) == ["hi", "hello", "more", "x" * 50_000]
        outcome = await driver.wait_ended()
        assert isinstance(outcome, Ended) and outcome.reason == pb.CR_USER_INITIATED
        await driver.close()

    venue.run(main)


def test_two_drivers_of_one_host_get_their_own_responses(venue: Venue) -> None:
    async def main(place: Place) -> None:
        async with our_host(place):
            ann, bob = await our_driver(place, "ann"), await our_driver(place, "bob")
            answers = [driver.get_agent_info() for driver in (ann, bob) for _ in range(20)]
            assert {answer.id for answer in await asyncio.gather(*answers)} == {"clerk"}
            await ann.close()
            assert texts((await bob.run_input(text="hi")).items) == ["hello"]
            await bob.close()

    venue.run(main)


def test_our_driver_with_the_sdks_host(venue: Venue) -> None:
    async def main(place: Place) -> None:
        async with their_host(place):
            driver = await our_driver(place, "driver")
            events = driver.events()
            assert texts((await driver.run_input(text="hi")).items) == ["hello"]
            framework = await driver.get_framework_info()
            assert framework.sdk == "python"
            await events.__anext__()
            await driver.close()

    venue.run(main)


def test_the_sdks_driver_with_our_host(venue: Venue) -> None:
    async def main(place: Place) -> None:
        async with our_host(place):
            room = await place.join("driver")
            driver = remote_session.RemoteSession.from_room(room, "agent")
            received = asyncio.Event()
            driver.on("conversation_item_added", lambda _: received.set())
            await driver.start()
            await driver.wait_for_ready()
            answer = await driver.run("hi")
            assert texts(answer.items) == ["hello"]
            await received.wait()
            assert (await driver.get_agent_info()).id == "clerk"
            await driver.aclose()

    venue.run(main)


def test_a_history_of_more_than_a_mebibyte(venue: Venue) -> None:
    """Each of ours with the peer of livekit-agents, whose rooms have no size limit."""

    async def main(place: Place) -> None:
        async with their_host(place):
            driver = await our_driver(place, "driver")
            assert texts((await driver.run_input(text="long")).items) == [LONG]
            assert texts((await driver.get_chat_history()).items) == ["long", LONG]
            await driver.close()

    venue.run(main)


def test_a_history_of_more_than_a_mebibyte_for_their_driver(venue: Venue) -> None:
    async def main(place: Place) -> None:
        async with our_host(place):
            room = await place.join("driver")
            driver = remote_session.RemoteSession.from_room(room, "agent")
            await driver.start()
            await driver.wait_for_ready()
            assert texts((await driver.run("long")).items) == [LONG]
            assert texts((await driver.get_chat_history()).items) == ["long", LONG]
            await driver.aclose()

    venue.run(main)


def test_a_history_over_the_limit_of_the_driver_fails_the_request(venue: Venue) -> None:
    async def main(place: Place) -> None:
        async with their_host(place):
            driver = await our_driver(place, "driver", SMALL)
            with pytest.raises(RequestError, match="exceeds the limit of 1048576 bytes"):
                await driver.run_input(text="long")
            with pytest.raises(RequestError, match="exceeds the limit of 1048576 bytes"):
                await driver.get_chat_history()
            assert texts((await driver.run_input(text="hi")).items) == ["hello"]
            await driver.close()

    venue.run(main)


def test_a_history_over_the_limit_of_the_host_fails_the_request(venue: Venue) -> None:
    async def main(place: Place) -> None:
        async with our_host(place, SMALL):
            driver = await our_driver(place, "driver")
            with pytest.raises(RequestError, match="the limit is 1048576 bytes"):
                await driver.run_input(text="long")
            with pytest.raises(RequestError, match="the limit is 1048576 bytes"):
                await driver.get_chat_history()
            assert texts((await driver.run_input(text="hi")).items) == ["hello"]
            await driver.close()

    venue.run(main)


def test_a_request_over_the_limit_of_the_host_fails(venue: Venue) -> None:
    async def main(place: Place) -> None:
        async with our_host(place, SMALL):
            driver = await our_driver(place, "driver")
            with pytest.raises(RequestError, match="exceeds the limit of 1048576 bytes"):
                await driver.run_input(text="x" * 1_100_000)
            assert texts((await driver.run_input(text="hi")).items) == ["hello"]
            await driver.close()

    venue.run(main)


@pytest.mark.parametrize("ends", ["session", "host"])
def test_requests_after_the_end_of_the_host_fail_at_once(venue: Venue, ends: str) -> None:
    """The participant stays in the room, so only the host can tell that nobody answers."""

    async def main(place: Place) -> None:
        room = await place.join("agent")
        session = scripted_session(SCRIPT)
        async with SessionHost(session, RoomSessionTransport(room)) as host:
            await session.start(Clerk(), session_host=False)
            ann, bob = await our_driver(place, "ann"), await our_driver(place, "bob")
            if ends == "session":
                await session.aclose()
            await host.close()
        late = asyncio.ensure_future(ann.get_agent_info(timeout=1_000))
        with pytest.raises(SessionLost):
            await late
        for driver in (ann, bob):
            ended = await driver.wait_ended()
            expected = Ended(pb.CR_USER_INITIATED, None) if ends == "session" else Lost(None)
            assert ended == expected
            with pytest.raises(SessionLost):
                await driver.ping(timeout=1_000)
            await driver.close()
        if ends == "host":
            async with SessionHost(session, RoomSessionTransport(room)):
                again = await our_driver_in(ann._transport._room)  # type: ignore[attr-defined]
                assert (await again.get_agent_info()).id == "clerk"
                await again.close()
            await session.aclose()
        await room.disconnect()

    venue.run(main)


def test_a_driver_that_closes_does_not_end_the_host(venue: Venue) -> None:
    async def main(place: Place) -> None:
        async with our_host(place):
            driver = await our_driver(place, "driver")
            await driver.close()
            again = await our_driver_in(driver._transport._room)  # type: ignore[attr-defined]
            assert (await again.get_agent_info()).id == "clerk"
            await again.close()

    venue.run(main)


@pytest.mark.parametrize("ends", ["session", "host"])
def test_requests_without_an_identity_fail_at_once_after_the_end(venue: Venue, ends: str) -> None:
    async def main(place: Place) -> None:
        room = await place.join("agent")
        session = scripted_session(SCRIPT)
        async with SessionHost(session, RoomSessionTransport(room)) as host:
            await session.start(Clerk(), session_host=False)
            driver = RemoteSession(RoomSessionTransport(await place.join("ann")))
            await driver.wait_for_ready()
            if ends == "session":
                await session.aclose()
            await host.close()
        with pytest.raises(SessionLost):
            await driver.get_agent_info(timeout=1_000)
        expected = Ended(pb.CR_USER_INITIATED, None) if ends == "session" else Lost(None)
        assert await driver.wait_ended() == expected
        await driver.close()
        await session.aclose()
        await room.disconnect()

    venue.run(main)


def test_a_host_does_not_wait_for_requests_of_a_participant_that_left(
    venue: Venue, caplog: pytest.LogCaptureFixture
) -> None:
    async def main(place: Place) -> None:
        session = PlainSession()
        block_stats(session)
        room = await place.join("agent")
        async with SessionHost(session, RoomSessionTransport(room), close_timeout=30) as host:
            driver = await our_driver(place, "ann")
            asking = asyncio.ensure_future(driver.requests.get_rtc_stats())
            # A server does not report a participant that leaves before it is listed.
            while not (session.asked and "ann" in room.remote_participants):
                await asyncio.sleep(0.01)
            left = asyncio.Event()
            room.once("participant_disconnected", lambda _: left.set())
            await driver.close()
            await driver._transport._room.disconnect()  # type: ignore[attr-defined]
            await left.wait()
            await asyncio.wait_for(host.close(), 10)
            with pytest.raises(DriverClosed):
                await asking
        await room.disconnect()

    venue.run(main)
    assert "the host is closing" not in caplog.text
