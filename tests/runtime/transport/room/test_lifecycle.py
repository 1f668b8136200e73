"""The end of transports over a room, which has no EOF."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from agent_session import (
    ConnectionLost,
    RoomSessionTransport,
    StreamLimits,
    TransportClosed,
    TransportError,
    TruncatedFrame,
)
from livekit import rtc
from room_transports import QUICK, open_raw, pair, raw_peer, send_raw, take
from room_stand_in import LEFT, stand_in
from transport_messages import Collector, ping, read_all, run, transcript

Reason = rtc.DisconnectReason


def test_the_peers_disconnect_is_the_end_after_its_messages() -> None:
    async def main() -> None:
        async with raw_peer() as (_, driver, peer):
            for number in range(20):
                await send_raw(peer, ping(number).SerializeToString())
            await peer.disconnect()
            assert await read_all(driver) == [ping(number) for number in range(20)]
            assert driver.closed and driver.reason is None
            for send in (driver.send(ping()), driver.flush()):
                with pytest.raises(TransportClosed) as caught:
                    await send
                assert caught.value.reason is None

    run(main())


def test_a_receiver_gets_one_end() -> None:
    async def main() -> None:
        async with raw_peer() as (_, driver, peer):
            collector = Collector()
            driver.deliver_to(collector)
            await send_raw(peer, ping(1).SerializeToString())
            await peer.disconnect()
            while not collector.ends:
                await asyncio.sleep(0.001)
            await driver.close()
            assert collector.messages == [ping(1)] and collector.ends == [None]

    run(main())


@pytest.mark.parametrize(
    ("reason", "name"),
    [
        (Reason.UNKNOWN_REASON, "for an unknown reason"),
        (Reason.PARTICIPANT_REMOVED, "PARTICIPANT_REMOVED"),
        (Reason.CONNECTION_TIMEOUT, "CONNECTION_TIMEOUT"),
        (Reason.DUPLICATE_IDENTITY, "DUPLICATE_IDENTITY"),
    ],
)
def test_a_peer_that_is_cut_off_is_a_lost_connection(
    reason: rtc.DisconnectReason.ValueType, name: str
) -> None:
    async def main() -> None:
        async with raw_peer() as (server, driver, _):
            server.drop("agent", reason)
            assert await read_all(driver) == []
            assert type(driver.reason) is ConnectionLost
            assert str(driver.reason) == f"the peer left: {name}"

    run(main())


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (Reason.CLIENT_INITIATED, None),
        (Reason.ROOM_DELETED, None),
        (Reason.ROOM_CLOSED, None),
        (Reason.SERVER_SHUTDOWN, "the room disconnected: SERVER_SHUTDOWN"),
        (Reason.UNKNOWN_REASON, "the room disconnected: UNKNOWN_REASON"),
        (Reason.SIGNAL_CLOSE, "the room disconnected: SIGNAL_CLOSE"),
    ],
)
@pytest.mark.parametrize("identity", ["agent", None])
def test_the_disconnect_of_the_room_is_the_end_after_its_messages(
    reason: rtc.DisconnectReason.ValueType, text: str | None, identity: str | None
) -> None:
    async def main() -> None:
        async with stand_in() as server:
            room, peer = await server.join("driver"), await server.join("agent")
            async with RoomSessionTransport(room, identity, limits=QUICK) as driver:
                await send_raw(peer, ping(1).SerializeToString())
                await send_raw(peer, ping(2).SerializeToString())
                server.drop("driver", reason)
                assert await read_all(driver) == [ping(1), ping(2)]
                assert str(driver.reason) == str(text)

    run(main())


def test_a_local_disconnect_or_deletion_of_the_room_is_a_clean_end() -> None:
    async def main(delete: bool) -> None:
        async with pair() as (server, driver, agent):
            await driver.send(ping(1))
            assert await agent.__anext__() == ping(1)
            ends = asyncio.gather(read_all(driver), read_all(agent))
            await asyncio.sleep(0)
            await (server.delete_room() if delete else driver._room.disconnect())
            assert list(await ends) == [[], []]
            assert driver.reason is None and agent.reason is None
            with pytest.raises(TransportClosed):
                await driver.send(ping())

    for delete in (True, False):
        run(main(delete))


@pytest.mark.parametrize("identity", ["agent", None])
def test_a_local_disconnect_without_its_event_ends_the_transport(identity: str | None) -> None:
    """livekit sometimes emits only the change of the connection state."""

    async def main() -> None:
        async with stand_in() as server:
            room, peer = await server.join("driver"), await server.join("agent")
            server.mute = True
            async with RoomSessionTransport(room, identity, limits=QUICK) as driver:
                await send_raw(peer, ping(1).SerializeToString())
                await room.disconnect()
                assert await read_all(driver) == [ping(1)]
                assert driver.closed and driver.reason is None

    run(main())


def test_a_transport_without_open_streams_ends_at_once() -> None:
    async def main() -> None:
        async with pair(StreamLimits(linger=15)) as (server, driver, agent):
            await server.delete_room()
            assert await read_all(driver) == [] and await read_all(agent) == []

    run(main(), timeout=10)


def test_other_participants_may_join_and_leave() -> None:
    async def main() -> None:
        async with pair() as (server, driver, agent):
            for _ in range(3):
                other = await server.join("other")
                await send_raw(other, ping(9).SerializeToString())
                await other.disconnect()
                await driver.send(ping(1))
                assert await agent.__anext__() == ping(1)

    run(main())


def test_a_replaced_connection_of_the_peer_ends_the_transport() -> None:
    async def main() -> None:
        async with raw_peer() as (server, driver, _):
            again = await server.join("agent")
            await send_raw(again, ping(1).SerializeToString())
            await read_all(driver)
            assert isinstance(driver.reason, ConnectionLost)
            other = RoomSessionTransport(driver._room, "agent", limits=QUICK)
            async with other:
                await send_raw(again, ping(2).SerializeToString())
                assert await other.__anext__() == ping(2)

    run(main())


def test_messages_that_arrive_after_the_disconnect_event_are_received() -> None:
    async def main() -> None:
        limits = StreamLimits(linger=0.3, close_timeout=5)
        async with raw_peer(limits) as (server, driver, peer):
            server.held = True
            sent = [transcript(f"{number}" * 40_000) for number in range(3)]
            sends = [send_raw(peer, message.SerializeToString()) for message in sent]
            sending = asyncio.gather(*sends)
            await asyncio.sleep(0)
            server.drop("agent", LEFT)
            while not driver.closed:
                await asyncio.sleep(0)
            with pytest.raises(TransportClosed):
                driver.send_nowait(ping())
            server.release()
            delivered = await read_all(driver)
            assert sorted(delivered, key=str) == sent and driver.reason is None
            await sending

    run(main())


def test_a_message_truncated_by_the_disconnect_is_the_reason() -> None:
    async def main() -> None:
        async with raw_peer() as (_, driver, peer):
            await send_raw(peer, ping(1).SerializeToString())
            writer = await open_raw(peer, 100)
            await writer.write(b"x" * 30)
            await peer.disconnect()
            assert await read_all(driver) == [ping(1)]
            assert isinstance(driver.reason, TruncatedFrame)
            assert (driver.reason.received, driver.reason.expected) == (30, 100)

    run(main())


def test_a_message_truncated_just_before_the_disconnect_is_reported_is_the_reason() -> None:
    async def main() -> None:
        async with raw_peer() as (server, driver, peer):
            writer = await open_raw(peer, 100)
            await writer.write(b"x" * 30)
            for stream in list(server._streams.values()):
                server._finish(stream, "Participant agent unexpectedly disconnected")
            while not driver.refused_frames:
                await asyncio.sleep(0)
            assert not driver.closed
            await peer.disconnect()
            assert await read_all(driver) == []
            assert isinstance(driver.reason, TruncatedFrame) and driver.reason.received == 30

    run(main())


def test_an_earlier_truncated_message_is_not_the_reason() -> None:
    async def main() -> None:
        async with raw_peer() as (_, driver, peer):
            writer = await open_raw(peer, 100)
            await writer.aclose()
            while not driver.refused_frames:
                await asyncio.sleep(0)
            await peer.disconnect()
            assert await read_all(driver) == [] and driver.reason is None

    run(main())


def test_a_message_truncated_by_the_end_of_the_room_is_the_reason() -> None:
    """In this case, the library does not report that the stream is incomplete."""

    async def main() -> None:
        async with raw_peer() as (server, driver, peer):
            writer = await open_raw(peer, 100)
            await writer.write(b"x" * 30)
            await server.delete_room()
            assert await read_all(driver) == []
            assert isinstance(driver.reason, TruncatedFrame)
            assert (driver.reason.received, driver.reason.expected) == (30, 100)

    run(main())


def test_a_late_message_over_the_size_limit_is_refused() -> None:
    async def main() -> None:
        limits = replace(QUICK, room_message_size=1000)
        async with raw_peer(limits) as (server, driver, _):
            server.drop("agent", LEFT)
            while not driver.closed:
                await asyncio.sleep(0)
            server._chunk(server.begin_late("agent", 1001), bytes(10))
            assert await read_all(driver) == []
            assert driver.refused_frames == 1 and driver.reason is None

    run(main())


@pytest.mark.parametrize("size", [100, None])
def test_an_open_stream_of_a_disconnected_peer_does_not_block_later_ones(
    size: int | None,
) -> None:
    """The library ends the streams that are open at the disconnect, and no later ones."""

    async def main() -> None:
        async with raw_peer() as (server, driver, _):
            server.drop("agent", LEFT)
            while not driver.closed:
                await asyncio.sleep(0)
            unfinished = server.begin_late("agent", size)
            server._chunk(unfinished, ping(1).SerializeToString())
            body = ping(2).SerializeToString()
            whole = server.begin_late("agent", len(body))
            server._chunk(whole, body)
            server._close(whole)
            assert await read_all(driver) == [ping(2)]
            assert driver.refused_frames == 1 and driver.reason is None

    run(main())


def test_a_disconnected_peer_that_keeps_sending_is_not_read_forever(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        limits = StreamLimits(close_timeout=0.3, linger=0.2)
        async with raw_peer(limits) as (server, driver, peer):
            server.drop("agent", LEFT)
            again = await server.join("agent")
            writer = await open_raw(again)
            reading = asyncio.ensure_future(read_all(driver))
            while not reading.done():
                await writer.write(b"x")
            assert await reading == []

    run(main())
    assert caplog.text.count("its messages that still arrive are discarded") == 1


def test_a_slow_reader_gets_all_messages_after_the_end() -> None:
    async def main() -> None:
        limits = StreamLimits(receive_queue=10_000, linger=0.02)
        async with raw_peer(limits) as (_, driver, peer):
            for number in range(60):
                await send_raw(peer, transcript(f"{number} " + "x" * 5000).SerializeToString())
            assert not driver._receiver._may_read.is_set()
            await peer.disconnect()
            while not driver._receive_buffer.ended:
                await asyncio.sleep(0.001)
            delivered = await read_all(driver)
            texts = [each.event.user_input_transcribed.transcript.split()[0] for each in delivered]
            assert texts == [str(number) for number in range(60)]

    run(main())


def test_waiting_sends_fail_when_the_peer_disconnects(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with raw_peer() as (server, driver, peer):
            server.stuck = True
            driver.send_nowait(transcript("x" * 100_000))
            waits = [driver.send(ping(1)), driver.flush()]
            waiting = [asyncio.ensure_future(each) for each in waits]
            await asyncio.sleep(0)
            server.drop("agent", Reason.PARTICIPANT_REMOVED)
            for each in waiting:
                with pytest.raises(TransportClosed) as caught:
                    await each
                assert isinstance(caught.value.reason, ConnectionLost)

    run(main(), timeout=8)  # before the stall timeout
    assert "bytes were not sent to the room" in caplog.text


def test_a_send_that_fails_ends_the_transport() -> None:
    async def main() -> None:
        async with raw_peer() as (server, driver, peer):
            server.refusal = "no permission"
            await driver.send(ping(1))
            with pytest.raises(TransportClosed) as caught:
                await driver.flush()
            assert await read_all(driver) == []
            assert isinstance(driver.reason, ConnectionLost)
            assert str(driver.reason) == "no permission" and driver.reason is caught.value.reason
            assert isinstance(driver.reason.__cause__, rtc.StreamError)

    run(main())


def test_a_send_that_fails_at_the_end_of_the_room_has_the_rooms_reason() -> None:
    async def main(reason: rtc.DisconnectReason.ValueType) -> TransportError | None:
        async with raw_peer(StreamLimits(linger=5, close_timeout=10)) as (server, driver, _):
            server.refusal = "unable to send packet"
            driver.send_nowait(ping(1))
            while not driver.closed:
                await asyncio.sleep(0)
            server.drop("driver", reason)
            assert await read_all(driver) == []
            return driver.reason

    assert run(main(Reason.CLIENT_INITIATED)) is None
    assert "SERVER_SHUTDOWN" in str(run(main(Reason.SERVER_SHUTDOWN)))


def test_a_close_ends_the_wait_for_late_messages() -> None:
    async def main() -> None:
        async with raw_peer(StreamLimits(linger=15, close_timeout=30)) as (server, driver, _):
            server.drop("agent", Reason.PARTICIPANT_REMOVED)
            while not driver.closed:
                await asyncio.sleep(0)
            await driver.close()
            assert await read_all(driver) == [] and driver.reason is None

    run(main(), timeout=10)


def test_a_transport_continues_after_a_reconnect() -> None:
    async def main() -> None:
        async with pair() as (server, driver, agent):
            server.lose("driver")
            server.held = True
            await driver.send(ping(1))
            server.find("driver")
            server.release()
            assert await take(agent, 1) == [ping(1)]

    run(main())
