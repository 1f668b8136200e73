"""Peers that send a message and are not listed in the room: a server lists them late, or never."""

from __future__ import annotations

import asyncio

import pytest
from agent_session import ConnectionLost, RoomSessionTransport, StreamLimits
from room_stand_in import stand_in
from room_transports import RawReader, response, send_raw, send_unlisted
from transport_messages import ping, read_all, run

# A peer that has sent a message may stay unlisted for so long in these tests.
UNLISTED = StreamLimits(stall_timeout=0.05, close_timeout=1, linger=0.02)


def test_a_peer_that_disconnects_before_it_is_listed() -> None:
    """A server does not report a participant that leaves before it is listed."""

    async def main() -> None:
        async with stand_in() as server:
            async with RoomSessionTransport(
                await server.join("driver"), "agent", limits=UNLISTED
            ) as driver:
                send_unlisted(server, "agent", ping(1).SerializeToString())
                assert await read_all(driver) == [ping(1)]
                assert isinstance(driver.reason, ConnectionLost)
                assert str(driver.reason) == "the peer left before it was listed in the room"

    run(main())


def test_a_peer_that_is_listed_late_stays() -> None:
    async def main() -> None:
        async with stand_in() as server:
            async with RoomSessionTransport(
                await server.join("driver"), "agent", limits=UNLISTED
            ) as driver:
                send_unlisted(server, "agent", ping(1).SerializeToString())
                assert await driver.__anext__() == ping(1)
                peer = await server.join("agent")
                await passed(UNLISTED.stall_timeout)
                await send_raw(peer, ping(2).SerializeToString())
                assert await driver.__anext__() == ping(2)

    run(main())


def test_the_time_of_a_reconnect_does_not_count_for_an_unlisted_peer() -> None:
    async def main() -> None:
        async with stand_in() as server:
            async with RoomSessionTransport(
                await server.join("driver"), "agent", limits=UNLISTED
            ) as driver:
                server.lose("driver")
                send_unlisted(server, "agent", ping(1).SerializeToString())
                assert await driver.__anext__() == ping(1)
                await passed(UNLISTED.stall_timeout)
                assert not driver.closed
                server.find("driver")
                assert await read_all(driver) == []
                assert isinstance(driver.reason, ConnectionLost)

    run(main())


def test_messages_to_a_peer_that_does_not_join_are_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        async with stand_in() as server:
            async with RoomSessionTransport(
                await server.join("driver"), "agent", limits=UNLISTED
            ) as driver:
                for number in range(3):
                    await driver.send(ping(number))
                    await passed(UNLISTED.stall_timeout)
                agent = RawReader(await server.join("agent"))
                await driver.send(ping(3))
                assert await agent.messages(1) == [ping(3)]

    run(main())
    warning = "'agent' is not listed in the room: messages sent to it are lost"
    assert caplog.messages == [warning]


def test_messages_to_a_peer_that_answers_before_it_is_listed_are_not_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        async with stand_in() as server:
            async with RoomSessionTransport(
                await server.join("driver"), "agent", limits=UNLISTED
            ) as driver:
                await driver.send(ping(1))
                await driver.flush()
                send_unlisted(server, "agent", response("1").SerializeToString())
                assert await driver.__anext__() == response("1")
                await server.join("agent")
                await passed(2 * UNLISTED.stall_timeout)
                assert not driver.closed

    run(main())
    assert caplog.messages == []


async def passed(seconds: float) -> None:
    """Waits until the timers that were due by then have run."""
    loop = asyncio.get_running_loop()
    over = loop.create_future()
    loop.call_later(seconds, over.set_result, None)
    await over
