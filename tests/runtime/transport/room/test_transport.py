"""Transports over a room: messages, their order, and refused messages."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys

import pytest
from agent_session import (
    ConnectFailed,
    NotStarted,
    RoomSessionTransport,
    TopicInUse,
    TransportClosed,
)
from agent_session_protocol.agent_session_pb2 import AgentSessionMessage
from livekit import rtc
from room_stand_in import stand_in
from room_transports import (
    QUICK,
    RawReader,
    open_raw,
    pair,
    raw_peer,
    send_each,
    send_raw,
    take,
)
from transport_messages import Collector, nested_struct, ping, read_all, run, transcript


def test_a_message_is_one_stream_to_the_peer() -> None:
    async def main() -> None:
        async with raw_peer() as (server, driver, peer):
            agent, other = RawReader(peer), RawReader(await server.join("other"))
            sent = [ping(1), transcript("x" * 40_000), ping(2)]
            for message in sent:
                await driver.send(message)
            received = [await agent.received.get() for _ in sent]
            assert [body for _, _, body in received] == [each.SerializeToString() for each in sent]
            assert {identity for _, identity, _ in received} == {"driver"}
            names = {name for name, _, _ in received}
            assert len(names) == 3 and all(len(name) == 15 for name in names)
            assert all(name.startswith("AS_") for name in names)
            for sender, options in server.opened:
                assert sender == "driver" and options.topic == "lk.agent.session"
                assert list(options.destination_identities) == ["agent"]
            assert other.received.empty()

    run(main())


@pytest.mark.parametrize("seed", range(5))
def test_messages_keep_their_order_both_ways(seed: int) -> None:
    rng = random.Random(seed)
    there = [transcript(f"{number} " + "x" * rng.choice((0, 100, 50_000))) for number in range(80)]
    back = [transcript(f"{number} " + "y" * rng.choice((0, 20_000))) for number in range(80)]

    async def main() -> None:
        async with pair(seed=seed) as (_, driver, agent):
            sending = asyncio.gather(send_each(driver, there), send_each(agent, back))
            assert await take(agent, 80) == there and await take(driver, 80) == back
            await sending

    run(main())


def test_concurrent_sends_are_transmitted_one_after_the_other() -> None:
    async def main() -> None:
        async with pair() as (server, driver, agent):
            sends = [driver.send(transcript(f"{number} " + "x" * 40_000)) for number in range(20)]
            sending = asyncio.gather(*sends)
            received = await take(agent, 20)
            await sending
            assert server.overlap == 1
            texts = [each.event.user_input_transcribed.transcript.split()[0] for each in received]
            assert texts == [str(number) for number in range(20)]

    run(main())


@pytest.mark.parametrize("seed", range(5))
def test_overlapping_streams_are_read_in_the_order_of_their_headers(seed: int) -> None:
    async def main() -> None:
        async with raw_peer(seed=seed) as (server, driver, peer):
            bodies = [transcript(str(n) + "x" * (n % 3) * 40_000) for n in range(30)]
            await asyncio.gather(
                *(
                    peer.local_participant.send_bytes(
                        body.SerializeToString(), topic="lk.agent.session", name=str(number)
                    )
                    for number, body in enumerate(bodies)
                )
            )
            assert server.overlap == 30
            begun = [int(options.name) for _, options in server.opened]
            assert sorted(begun) == list(range(30)) and begun != list(range(30))
            assert await take(driver, 30) == [bodies[number] for number in begun]

    run(main())


def test_a_message_may_arrive_byte_by_byte_without_a_size() -> None:
    async def main() -> None:
        async with raw_peer() as (_, driver, peer):
            body = transcript("hello").SerializeToString()
            writer = await open_raw(peer)
            for byte in body:
                await writer.write(bytes([byte]))
            await writer.aclose()
            assert await driver.__anext__() == transcript("hello")

    run(main())


def test_malformed_messages_are_refused_and_logged_without_payload(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        async with raw_peer() as (_, driver, peer):
            for _ in range(20):
                await send_raw(peer, b"\x22\x08\x0a\x06secre\xff")
            await send_raw(peer, nested_struct(100))
            await send_raw(peer, b"")
            await send_raw(peer, ping(1).SerializeToString())
            assert await driver.__anext__() == ping(1)
            assert driver.refused_frames == 21 and driver.reason is None
            await driver.send(ping(2))

    run(main())
    refusals = [each for each in caplog.records if "cannot be parsed; refused" in each.getMessage()]
    assert len(refusals) == 8 + 1  # 16
    assert "secre" not in caplog.text and "refused, 16 so far of 'agent'" in caplog.text


def test_only_a_broken_stream_is_refused(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with raw_peer() as (_, driver, peer):
            short = await open_raw(peer, size=100)
            await short.write(b"abc")
            await short.aclose()
            long = await open_raw(peer, size=5)
            await long.write(b"123456")
            await long.aclose()
            await send_raw(peer, ping(1).SerializeToString())
            assert await driver.__anext__() == ping(1)
            assert driver.refused_frames == 2 and driver.reason is None

    run(main())
    assert (
        "the stream ended in a frame, after 3 of 100 bytes (stream data is incomplete)"
        in caplog.text
    )
    assert "the stream ended in a frame, after 0 of 5 bytes (read length exceeded" in caplog.text


def test_ignored_messages_of_others_are_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with raw_peer() as (server, driver, peer):
            first, second = await server.join("first"), await server.join("second")
            for room in (first, second, first, second, first):
                await send_raw(room, ping(1).SerializeToString())
            await open_raw(first, 2 << 20)  # a message over the size limit is ignored too
            await send_raw(peer, ping(2).SerializeToString())
            assert await driver.__anext__() == ping(2)
            assert driver.refused_frames == 0

    run(main())
    assert caplog.text.count("it is not the peer") == 2
    assert "'first' are ignored" in caplog.text and "'second' are ignored" in caplog.text


def test_a_start_needs_a_connected_room() -> None:
    async def main() -> None:
        async with stand_in() as server:
            await server.join("agent")
            room = rtc.Room()
            server.own(room)
            driver = RoomSessionTransport(room, "agent", limits=QUICK)
            with pytest.raises(ConnectFailed):
                await driver.start()
            for send in (driver.send(ping()), driver.flush()):
                with pytest.raises(NotStarted):
                    await send
            assert not driver.closed
            await room.connect("stand-in", "driver")
            await driver.start()
            await driver.start()
            await driver.send(ping())
            await driver.close()
            await driver.close()
            with pytest.raises(TransportClosed):
                await driver.start()

    run(main())


def test_only_one_transport_at_a_time_reads_a_topic() -> None:
    async def main() -> None:
        async with stand_in() as server:
            room, peer = await server.join("driver"), await server.join("agent")
            first, second = (RoomSessionTransport(room, "agent", limits=QUICK) for _ in "12")
            await first.start()
            with pytest.raises(TopicInUse):
                await second.start()
            await first.close()
            async with second:
                await send_raw(peer, ping(1).SerializeToString())
                assert await second.__anext__() == ping(1)

    run(main())


def test_a_close_before_the_start() -> None:
    async def main() -> None:
        async with stand_in() as server:
            driver = RoomSessionTransport(await server.join("driver"))
            await driver.close()
            assert driver.closed and driver.reason is None and await read_all(driver) == []
            with pytest.raises(TransportClosed):
                await driver.start()
            with pytest.raises(TransportClosed):
                driver.send_nowait(ping())

    run(main())


def test_an_empty_identity_is_refused() -> None:
    async def main() -> None:
        async with stand_in():
            with pytest.raises(ValueError):
                RoomSessionTransport(rtc.Room(), "")

    run(main())


def test_a_receiver_gets_messages_and_answers_them(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        async with pair() as (_, driver, agent):

            class Echo(Collector):
                def message_received(self, message: AgentSessionMessage) -> None:
                    agent.send_nowait(message)
                    raise KeyError

            echo, collector = Echo(), Collector()
            await driver.send(ping(0))
            agent.deliver_to(echo)
            driver.deliver_to(collector)
            with pytest.raises(RuntimeError):
                await agent.__anext__()
            for number in range(1, 50):
                await driver.send(ping(number))
            while len(collector.messages) < 50:
                await asyncio.sleep(0)
            assert collector.messages == [ping(number) for number in range(50)]
            await driver.close()
            await agent.close()
            assert collector.ends == echo.ends == [None]

    run(main())
    assert caplog.text.count("a receiver failed") == 50


def test_importing_the_runtime_does_not_import_livekit() -> None:
    code = (
        "import sys; sys.modules['livekit'] = None\n"
        "import agent_session; agent_session.RoomSessionTransport\n"
        "assert [name for name in sys.modules if name.startswith('livekit')] == ['livekit']"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
