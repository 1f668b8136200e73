"""Transports over a room under pressure: slow rooms, slow readers, streams that stall."""

from __future__ import annotations

import asyncio
import time

import pytest
from agent_session import SlowConsumer, SlowReader, StreamLimits, TransportClosed
from agent_session.transport.room import receiver
from room_transports import RawReader, fill, open_raw, pair, raw_peer, send_raw, take
from transport_messages import audio, ping, read_all, run, transcript

# Together, 2 MiB may wait to be sent.
SMALL = StreamLimits(
    send_queue=(1 << 20) + 4, room_message_size=(1 << 20) - 4, close_timeout=1, linger=0.02
)


def test_a_stalled_room_drops_audio_then_ends_the_transport(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        async with raw_peer(SMALL) as (server, driver, _):
            server.stuck = True
            for _ in range(1000):
                driver.send_nowait(audio(64_000))
            assert driver.dropped_frames > 900 and not driver.closed
            events = 0
            with pytest.raises(TransportClosed) as caught:
                for events in range(10_000):  # noqa: B007
                    driver.send_nowait(transcript("x" * 1000))
            assert isinstance(caught.value.reason, SlowConsumer) and events > 1900
            assert driver.reason is caught.value.reason and driver.closed
            assert driver._sender._buffer.size == 0
            assert await read_all(driver) == []

    run(main())
    assert 5 <= caplog.text.count("frames dropped so far") <= 13


def test_events_between_dropped_audio_keep_their_order() -> None:
    async def main() -> None:
        async with raw_peer(SMALL) as (server, driver, peer):
            reader = RawReader(peer)
            server.stuck = True
            for number in range(60):
                driver.send_nowait(audio(100_000))
                driver.send_nowait(ping(number))
            server.release()
            total = 120 - driver.dropped_frames
            assert driver.dropped_frames > 30
            received = await reader.messages(total)
            requests = [each for each in received if each.HasField("request")]
            assert requests == [ping(number) for number in range(60)]

    run(main())


def test_sends_wait_for_a_slow_room_except_of_audio() -> None:
    async def main() -> None:
        async with raw_peer() as (server, driver, peer):
            reader = RawReader(peer)
            server.stuck = True
            fill(driver)
            waiting = asyncio.ensure_future(driver.send(ping(1)))
            await asyncio.sleep(0)
            for _ in range(20):
                await driver.send(audio(1000))
            assert not waiting.done()
            cancelled = asyncio.ensure_future(driver.send(ping(2)))
            await asyncio.sleep(0)
            cancelled.cancel()
            server.release()
            await waiting
            received = await reader.messages(5 + 1 + 20 + 1)
            assert (
                received[5] == ping(1) and ping(2) in received
            )  # a cancellation ends only the wait

    run(main())


def test_sends_of_audio_let_other_tasks_run() -> None:
    async def main() -> None:
        async with raw_peer() as (server, driver, _):
            server.stuck = True
            fill(driver)
            await asyncio.sleep(0)
            other = asyncio.ensure_future(asyncio.sleep(0))
            for _ in range(5):
                await driver.send(audio(1000))
            assert other.done()
            server.release()

    run(main())


def test_a_room_that_makes_progress_does_not_time_out() -> None:
    async def main() -> None:
        async with raw_peer(StreamLimits(stall_timeout=0.4, linger=0.02)) as (server, driver, _):
            server.stuck = True
            fill(driver)
            flushing = asyncio.ensure_future(driver.flush())
            start = time.monotonic()
            for _ in range(5):
                await asyncio.sleep(0.15)  # the room takes one frame at a time
                server.take_one()
            await flushing
            assert time.monotonic() - start > 0.7 and not driver.closed

    run(main())


def test_a_send_and_a_flush_fail_at_the_stall_timeout() -> None:
    async def main(flush: bool) -> None:
        async with raw_peer(StreamLimits(stall_timeout=0.05, linger=0.02)) as (server, driver, _):
            server.stuck = True
            fill(driver)
            with pytest.raises(TransportClosed) as caught:
                await (driver.flush() if flush else driver.send(ping()))
            assert isinstance(caught.value.reason, SlowConsumer)
            assert driver.reason is caught.value.reason
            assert await read_all(driver) == []

    for flush in (True, False):
        run(main(flush))


def test_the_time_of_a_reconnect_is_not_counted() -> None:
    async def main() -> None:
        limits = StreamLimits(stall_timeout=0.05, linger=0.02)
        async with raw_peer(limits) as (server, driver, peer):
            reader = RawReader(peer)
            stalled = await open_raw(peer)
            await stalled.write(ping(1).SerializeToString()[:3])
            server.lose("driver")
            while not driver._lifecycle.is_reconnecting():
                await asyncio.sleep(0)
            server.stuck = True
            fill(driver)
            flushing = asyncio.ensure_future(driver.flush())
            done, _ = await asyncio.wait([flushing], timeout=0.3)
            assert not done and not driver.closed and driver.refused_frames == 0
            server.find("driver")
            server.release()
            await flushing
            await stalled.write(ping(1).SerializeToString()[3:])
            await stalled.aclose()
            assert await driver.__anext__() == ping(1)
            assert len(await reader.messages(5)) == 5

    run(main())


def test_the_stall_timeout_restarts_after_a_reconnect() -> None:
    async def main() -> None:
        limits = StreamLimits(stall_timeout=2.0, linger=0.02)
        async with raw_peer(limits) as (server, driver, peer):
            reader = RawReader(peer)
            server.stuck = True
            fill(driver)
            flushing = asyncio.ensure_future(driver.flush())
            await asyncio.sleep(0)
            server.lose("driver")
            await asyncio.wait([flushing], timeout=1.2)
            server.find("driver")
            await asyncio.wait([flushing], timeout=1.2)
            assert not flushing.done() and not driver.closed
            server.release()
            await flushing
            assert len(await reader.messages(5)) == 5

    run(main())


@pytest.mark.parametrize("size", [100, None])
def test_a_stalled_stream_is_abandoned_and_the_next_is_read(size: int | None) -> None:
    async def main() -> None:
        async with raw_peer(StreamLimits(stall_timeout=0.1, linger=0.02)) as (_, driver, peer):
            stalled = await open_raw(peer, size)
            await stalled.write(ping(1).SerializeToString())
            await send_raw(peer, ping(2).SerializeToString())
            assert await driver.__anext__() == ping(2)
            assert driver.refused_frames == 1 and driver.reason is None
            await stalled.aclose()
            await send_raw(peer, ping(3).SerializeToString())
            assert await driver.__anext__() == ping(3)

    run(main())


def test_a_slow_stream_is_not_abandoned() -> None:
    async def main() -> None:
        async with raw_peer(StreamLimits(stall_timeout=0.3, linger=0.02)) as (_, driver, peer):
            body = transcript("x" * 20).SerializeToString()
            writer = await open_raw(peer)
            start = time.monotonic()
            for byte in body:
                await writer.write(bytes([byte]))
                await asyncio.sleep(0.02)  # the stream delivers slowly
            assert time.monotonic() - start > 0.4
            await writer.aclose()
            assert await driver.__anext__() == transcript("x" * 20)

    run(main())


def test_a_flush_waits_only_for_earlier_messages() -> None:
    async def main() -> None:
        async with raw_peer() as (server, driver, _):
            await driver.flush()
            server.stuck = True
            driver.send_nowait(ping(0))
            driver.send_nowait(audio(1000))
            flushing = asyncio.ensure_future(driver.flush())
            await asyncio.sleep(0)
            driver.send_nowait(transcript("later"))
            server.take_one()
            for _ in range(10):
                await asyncio.sleep(0)
            assert not flushing.done() and len(server.opened) == 1
            server.take_one()
            await flushing
            assert len(server.opened) == 2 and driver._sender.size > 0
            server.release()
            await driver.flush()
            assert len(server.opened) == 3

    run(main())


def test_a_flush_does_not_wait_for_dropped_audio() -> None:
    async def main() -> None:
        async with raw_peer(SMALL) as (server, driver, peer):
            server.stuck = True
            for _ in range(20):
                driver.send_nowait(audio(100_000))
            flushing = asyncio.ensure_future(driver.flush())
            await asyncio.sleep(0)
            for _ in range(15):
                driver.send_nowait(transcript("x" * 120_000))
            assert driver.dropped_frames > 15
            server.release()
            await flushing

    run(main())


def test_a_slow_reader_pauses_reading_and_gets_all_messages() -> None:
    async def main() -> None:
        async with raw_peer(StreamLimits(receive_queue=20_000, linger=0.02)) as (_, driver, peer):
            for number in range(50):
                await send_raw(peer, transcript(f"{number} " + "x" * 5000).SerializeToString())
            assert driver._receive_buffer.size < 40_000 and not driver._receiver._may_read.is_set()
            received = await take(driver, 50)
            texts = [each.event.user_input_transcribed.transcript.split()[0] for each in received]
            assert texts == [str(number) for number in range(50)]
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(driver.__anext__(), 0.01)
            await send_raw(peer, ping(1).SerializeToString())
            while not driver._receive_buffer.size:
                await asyncio.sleep(0)
            assert driver._receiver._may_read.is_set()

    run(main())


def test_a_peer_that_is_not_read_ends_the_transport_with_slow_reader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(receiver, "MAX_WAITING", 20)

    async def main() -> None:
        async with raw_peer(StreamLimits(receive_queue=5000, linger=0.02)) as (_, driver, peer):
            sent = 0
            while not driver.closed:
                await send_raw(peer, transcript("x" * 2000).SerializeToString())
                sent += 1
                assert sent < 100
            received = await read_all(driver)
            assert 1 <= len(received) <= 5 and isinstance(driver.reason, SlowReader)
            assert driver.reason.waiting == 20

    run(main())


def test_messages_queued_before_such_an_end_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiver, "MAX_WAITING", 2)

    async def main() -> None:
        async with raw_peer() as (server, driver, peer):
            reader = RawReader(peer)
            server.stuck = True
            for number in range(20):
                driver.send_nowait(ping(number))
            await asyncio.sleep(0)
            server.release()
            for _ in range(3):
                await open_raw(peer, 100)
            assert await read_all(driver) == []
            assert isinstance(driver.reason, SlowReader)
            await driver.close()
            assert await reader.messages(20) == [ping(number) for number in range(20)]

    run(main())


def test_five_thousand_concurrent_messages() -> None:
    async def main() -> None:
        async with pair() as (_, driver, agent):
            for number in range(5000):
                driver.send_nowait(ping(number))
            received = await take(agent, 5000)
            assert received == [ping(number) for number in range(5000)]

    run(main(), timeout=60)


def test_an_idle_transport_has_no_task() -> None:
    async def main() -> None:
        async with pair() as (_, driver, agent):
            before = asyncio.all_tasks()
            await driver.send(ping(1))
            assert await agent.__anext__() == ping(1)
            await driver.flush()
            while asyncio.all_tasks() != before:
                await asyncio.sleep(0)
            assert not agent._receiver._stall_timers and not agent._receiver._queues

    run(main())
