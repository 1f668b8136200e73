"""Room transports with each other, and with the room transport of livekit-agents.

The tests run with the stand-in, and with a real LiveKit server if there is one.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agent_session import (
    ConnectionLost,
    RoomSessionTransport,
    StreamLimits,
    TransportClosed,
)
from agent_session_protocol.agent_session_pb2 import AgentSessionMessage
from livekit.rtc._proto.room_pb2 import SIMULATE_SIGNAL_RECONNECT
from livekit_server import LiveRoom
from room_stand_in import StandIn
from room_transports import RawReader, open_raw, response, send_each, send_raw, take
from rooms import Place, Venue, address, venue
from transport_messages import audio, ping, read_all, transcript

__all__ = ["address", "venue"]  # fixtures

remote_session = pytest.importorskip("livekit.agents.voice.remote_session")

OURS = [ping(1), transcript("grüß dich"), audio(100_000), transcript("x" * 1_000_000), ping(2)]


async def bound(place: Place) -> tuple[RoomSessionTransport, RoomSessionTransport]:
    """Yields a driver and an agent that are bound to each other and started."""
    agent = RoomSessionTransport(await place.join("agent"), "driver")
    driver = RoomSessionTransport(await place.join("driver"), "agent")
    await agent.start()
    await driver.start()
    return driver, agent


async def announced(transport: RoomSessionTransport, identity: str) -> None:
    """Waits until a room reports that a participant has joined.

    A server may take three seconds to report it, and does not if the participant has left by then.
    """
    while identity not in transport._room.remote_participants:
        await asyncio.sleep(0.01)


async def closed(*transports: RoomSessionTransport) -> None:
    await asyncio.gather(*(transport.close() for transport in transports))


def test_our_driver_and_our_agent(venue: Venue) -> None:
    async def main(place: Place) -> None:
        driver, agent = await bound(place)
        sending = asyncio.gather(send_each(driver, OURS), send_each(agent, OURS))
        assert await take(agent, len(OURS)) == OURS
        assert await take(driver, len(OURS)) == OURS
        await sending
        await closed(driver, agent)

    venue.run(main)


def test_five_hundred_messages_keep_their_order(venue: Venue) -> None:
    sent = [transcript(f"{number} " + "x" * (number % 7 * 5000)) for number in range(500)]

    async def main(place: Place) -> None:
        driver, agent = await bound(place)
        sending = asyncio.ensure_future(send_each(driver, sent))
        assert await take(agent, 500) == sent
        await sending
        await closed(driver, agent)

    venue.run(main)


def to_sdk(message: AgentSessionMessage) -> Any:
    sdk_transport = remote_session.agent_pb.AgentSessionMessage()
    sdk_transport.ParseFromString(message.SerializeToString())
    return sdk_transport


@pytest.mark.parametrize("identity", ["agent", None])
def test_our_driver_and_the_sdks_agent(venue: Venue, identity: str | None) -> None:
    """With a bound and with an open driver."""

    async def main(place: Place) -> None:
        our_transport = RoomSessionTransport(await place.join("driver"), identity)
        sdk_transport = remote_session.RoomSessionTransport(await place.join("agent"), "driver")
        await sdk_transport.start()
        async with our_transport:
            sending = asyncio.ensure_future(send_each(our_transport, OURS))
            for message in OURS:
                received = await sdk_transport.__anext__()
                assert received.SerializeToString() == message.SerializeToString()
            await sending
            replying = asyncio.gather(*(sdk_transport.send_message(to_sdk(each)) for each in OURS))
            assert await take(our_transport, len(OURS)) == OURS
            await replying
        await sdk_transport.close()

    venue.run(main)


def test_an_open_host_of_the_sdk(venue: Venue) -> None:
    """The host of the SDK sends all messages to everyone; our driver gets those for it."""

    async def main(place: Place) -> None:
        driver = RoomSessionTransport(await place.join("driver"), "agent")
        sdk_transport = remote_session.RoomSessionTransport(await place.join("agent"))
        await sdk_transport.start()
        async with driver:
            await driver.send(ping(1))
            assert (await sdk_transport.__anext__()).request.request_id == "1"
            await sdk_transport.send_message(to_sdk(response("1")))
            assert await driver.__anext__() == response("1")
        await sdk_transport.close()

    venue.run(main)


def test_our_open_host(venue: Venue) -> None:
    async def main(place: Place) -> None:
        host = RoomSessionTransport(await place.join("agent"))
        sdk_transport = remote_session.RoomSessionTransport(await place.join("theirs"), "agent")
        other = RawReader(await place.join("other"))
        await sdk_transport.start()
        async with host:
            await sdk_transport.send_message(to_sdk(ping(1)))
            assert await host.__anext__() == ping(1)
            await host.send(response("1"))
            await host.send(transcript("for all"))
            assert (await sdk_transport.__anext__()).response.request_id == "1"
            assert await other.messages(1) == [transcript("for all")]
        await sdk_transport.close()

    venue.run(main)


def test_messages_of_other_participants_are_ignored(venue: Venue) -> None:
    async def main(place: Place) -> None:
        driver, agent = await bound(place)
        third = await place.join("stranger")
        await send_raw(third, ping(9).SerializeToString())
        await third.disconnect()
        await agent.send(ping(1))
        assert await driver.__anext__() == ping(1)
        await closed(driver, agent)

    venue.run(main)


def test_messages_sent_just_before_a_disconnect_arrive(venue: Venue) -> None:
    async def main(place: Place) -> None:
        driver, agent = await bound(place)
        await agent.send(transcript("x" * 200_000))
        await agent.send(ping(1))
        await agent.close()
        await agent._room.disconnect()
        assert await read_all(driver) == [transcript("x" * 200_000), ping(1)]
        assert driver.closed and driver.reason is None
        with pytest.raises(TransportClosed):
            await driver.send(ping(2))
        await driver.close()

    venue.run(main)


def test_a_peer_that_is_removed(venue: Venue) -> None:
    async def main(place: Place) -> None:
        driver, agent = await bound(place)
        await agent.send(ping(1))
        assert await driver.__anext__() == ping(1)
        await place.remove("agent")
        assert await read_all(driver) == [] and await read_all(agent) == []
        assert isinstance(driver.reason, ConnectionLost) and isinstance(
            agent.reason, ConnectionLost
        )
        assert str(driver.reason) == "the peer left: PARTICIPANT_REMOVED"
        assert str(agent.reason) == "the room disconnected: PARTICIPANT_REMOVED"
        await closed(driver, agent)

    venue.run(main)


def test_a_peer_whose_connection_is_replaced(venue: Venue) -> None:
    async def main(place: Place) -> None:
        driver, agent = await bound(place)
        await agent.send(ping(1))
        assert await driver.__anext__() == ping(1)
        await place.join("agent")
        assert await read_all(driver) == [] and await read_all(agent) == []
        assert isinstance(driver.reason, ConnectionLost)
        assert str(agent.reason) == "the room disconnected: DUPLICATE_IDENTITY"
        await closed(driver, agent)

    venue.run(main)


def test_a_room_that_is_deleted(venue: Venue) -> None:
    async def main(place: Place) -> None:
        driver, agent = await bound(place)
        await driver.send(ping(1))
        assert await agent.__anext__() == ping(1)
        await place.delete_room()
        assert await read_all(driver) == [] and await read_all(agent) == []
        assert driver.reason is None and agent.reason is None
        with pytest.raises(TransportClosed):
            await driver.send(ping(2))
        await closed(driver, agent)

    venue.run(main)


def test_a_room_that_is_disconnected_locally(venue: Venue) -> None:
    async def main(place: Place) -> None:
        driver, agent = await bound(place)
        await driver.send(ping(1))
        assert await agent.__anext__() == ping(1)
        await announced(agent, "driver")
        await driver._room.disconnect()
        assert await read_all(driver) == [] and await read_all(agent) == []
        assert driver.reason is None and agent.reason is None
        await closed(driver, agent)

    venue.run(main)


def test_a_message_over_the_size_limit(venue: Venue) -> None:
    async def main(place: Place) -> None:
        peer = await place.join("agent")
        limits = StreamLimits(room_message_size=1 << 20)
        driver = RoomSessionTransport(await place.join("driver"), "agent", limits=limits)
        async with driver:
            await send_raw(peer, bytes((1 << 20) + 1))
            await send_raw(peer, ping(1).SerializeToString())
            assert await driver.__anext__() == ping(1)
            assert driver.refused_frames == 1

    venue.run(main)


def test_an_unfinished_stream_of_a_disconnected_peer(venue: Venue) -> None:
    async def main(place: Place) -> None:
        peer = await place.join("agent")
        driver = RoomSessionTransport(await place.join("driver"), "agent")
        async with driver:
            await send_raw(peer, ping(1).SerializeToString())
            writer = await open_raw(peer)
            await writer.write(b"x" * 30)
            assert await driver.__anext__() == ping(1)
            while not driver._receiver.progress >= 4:  # two streams, a chunk of each
                await asyncio.sleep(0.01)
            await peer.disconnect()
            assert await read_all(driver) == []
            assert "after 30" in str(driver.reason)

    venue.run(main)


def test_a_lost_signal_connection_loses_no_message(venue: Venue) -> None:
    async def main(place: Place) -> None:
        driver, agent = await bound(place)
        await driver.send(ping(0))
        assert await agent.__anext__() == ping(0)
        if isinstance(place, LiveRoom):
            losing = asyncio.ensure_future(
                driver._room.simulate_scenario(SIMULATE_SIGNAL_RECONNECT)
            )
        else:
            losing = asyncio.ensure_future(asyncio.sleep(0))
            place.lose("driver")
        sent = [transcript(f"{number} " + "x" * 20_000) for number in range(50)]
        sending = asyncio.ensure_future(send_each(driver, sent))
        if isinstance(place, StandIn):
            place.find("driver")
        assert await take(agent, 50) == sent
        await sending
        await losing
        await closed(driver, agent)

    venue.run(main)


def test_a_close_with_a_timeout_of_zero(venue: Venue) -> None:
    """It aborts the transport and returns."""

    async def main(place: Place) -> None:
        driver, agent = await bound(place)
        for _ in range(8):
            driver.send_nowait(transcript("x" * 900_000))
        await driver.close(0)
        await agent.close()

    venue.run(main)
