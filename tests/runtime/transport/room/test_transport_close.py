"""The close of transports over a room."""

from __future__ import annotations

import asyncio
import time

import pytest
from agent_session import RoomSessionTransport, SlowConsumer, StreamLimits, TransportClosed
from livekit.rtc._proto.ffi_pb2 import FfiEvent
from room_stand_in import stand_in
from room_transports import QUICK, RawReader, fill, open_raw, pair, raw_peer, send_raw, take
from transport_messages import ping, read_all, run, transcript


def test_a_close_sends_queued_messages_and_waits_for_linger() -> None:
    async def main() -> None:
        async with raw_peer(StreamLimits(close_timeout=10, linger=0.2)) as (server, driver, peer):
            reader = RawReader(peer)
            server.stuck = True
            fill(driver)
            closing = asyncio.ensure_future(driver.close())
            await asyncio.sleep(0)
            assert driver.closed and not closing.done()
            with pytest.raises(TransportClosed):
                driver.send_nowait(ping())
            start = time.monotonic()
            server.release()
            await closing
            assert time.monotonic() - start > 0.19
            assert len(await reader.messages(5)) == 5

    run(main())


def test_a_close_without_messages_does_not_wait() -> None:
    async def main() -> None:
        async with raw_peer(StreamLimits(close_timeout=15, linger=15)) as (_, driver, peer):
            await send_raw(peer, ping(1).SerializeToString())
            await driver.close()
            assert await read_all(driver) == [] and driver.reason is None

    run(main(), timeout=10)


def test_a_close_ends_at_its_deadline(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with raw_peer(StreamLimits(close_timeout=30)) as (server, driver, _):
            server.stuck = True
            fill(driver)
            first = asyncio.ensure_future(driver.close())
            await asyncio.sleep(0)
            second = asyncio.ensure_future(driver.close(0.2))
            third = asyncio.ensure_future(driver.close())
            start = time.monotonic()
            first.cancel()
            await asyncio.gather(second, third)
            assert time.monotonic() - start > 0.15
            await driver.close()

    run(main(), timeout=10)
    assert caplog.text.count("bytes were not sent to the room") == 1


def test_a_close_with_a_short_timeout_does_not_wait_for_linger() -> None:
    async def main() -> None:
        async with raw_peer(StreamLimits(close_timeout=30, linger=15)) as (_, driver, peer):
            reader = RawReader(peer)
            await driver.send(ping(1))
            assert await reader.messages(1) == [ping(1)]
            while not driver._sender.idle:
                await asyncio.sleep(0)
            patient = asyncio.ensure_future(driver.close())
            await asyncio.sleep(0)
            await driver.close(0.05)
            await patient

    run(main(), timeout=10)


def test_an_abandoned_close_still_ends_the_transport() -> None:
    async def main() -> None:
        async with raw_peer(StreamLimits(close_timeout=30)) as (server, driver, _):
            server.stuck = True
            fill(driver)
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(driver.close(0.2), 0.01)
            await driver.close(30)  # the first deadline holds

    run(main(), timeout=10)


def test_a_close_ends_waiting_sends() -> None:
    async def main() -> None:
        async with raw_peer() as (server, driver, _):
            server.stuck = True
            fill(driver)
            waits = [asyncio.ensure_future(each) for each in (driver.send(ping()), driver.flush())]
            await asyncio.sleep(0)
            await driver.close(0.05)
            for each in waits:
                with pytest.raises(TransportClosed):
                    await each

    run(main())


def test_a_send_that_fails_in_a_close_ends_the_close() -> None:
    async def main() -> None:
        async with raw_peer(StreamLimits(close_timeout=15, linger=0.02)) as (server, driver, _):
            server.refusal = "no permission"
            fill(driver)
            await driver.close()
            assert driver.reason is None

    run(main(), timeout=10)


def test_a_close_drops_a_message_that_is_being_received() -> None:
    async def main() -> None:
        async with raw_peer() as (_, driver, peer):
            writer = await open_raw(peer, 100)
            await writer.write(b"x")
            await send_raw(peer, ping(1).SerializeToString())
            await driver.close()
            assert await read_all(driver) == [] and driver.refused_frames == 0
            await writer.aclose()

    run(main())


def test_a_disconnect_during_a_close_has_no_effect() -> None:
    async def main() -> None:
        async with raw_peer(QUICK) as (server, driver, peer):
            fill(driver)
            closing = asyncio.ensure_future(driver.close())
            await asyncio.sleep(0)
            await server.delete_room()
            await closing
            assert driver.reason is None

    run(main())


def test_a_message_completed_during_a_close_is_dropped() -> None:
    async def main() -> None:
        async with raw_peer() as (_, driver, peer):
            writer = await open_raw(peer)
            await writer.write(ping(1).SerializeToString())
            while driver._receiver.progress < 2:
                await asyncio.sleep(0)
            (reader,) = driver._room._byte_stream_readers.values()
            closing = asyncio.ensure_future(driver.close())
            end = FfiEvent()
            end.byte_stream_reader_event.eos.SetInParent()
            reader._queue.put_nowait(
                end
            )  # the end of the stream arrives after the close, before its deadline
            await closing
            assert await read_all(driver) == []
            await writer.aclose()

    run(main())


def test_a_receiver_may_close_the_transport() -> None:
    class Closer:
        def __init__(self, transport: RoomSessionTransport) -> None:
            self.transport = transport
            self.received: list[object] = []

        def message_received(self, message: object) -> None:
            self.received.append(message)
            self.closing = asyncio.ensure_future(self.transport.close())

        def transport_ended(self, reason: object) -> None:
            self.received.append(reason)

    async def main() -> None:
        async with raw_peer() as (_, driver, peer):
            closer = Closer(driver)
            driver.deliver_to(closer)
            await send_raw(peer, ping(1).SerializeToString())
            while not driver.closed:
                await asyncio.sleep(0)
            await closer.closing
            assert closer.received == [ping(1), None]

    run(main())


def test_a_receiver_that_overflows_the_send_buffer_ends_the_transport() -> None:
    class Flood:
        ended: object = ()

        def __init__(self, transport: RoomSessionTransport) -> None:
            self.transport = transport

        def message_received(self, message: object) -> None:
            while True:
                self.transport.send_nowait(transcript("x" * 100_000))

        def transport_ended(self, reason: object) -> None:
            assert self.transport.closed
            with pytest.raises(TransportClosed):
                self.transport.send_nowait(ping())
            self.ended = reason

    async def main() -> None:
        async with raw_peer() as (_, driver, peer):
            flood = Flood(driver)
            driver.deliver_to(flood)
            await send_raw(peer, ping(1).SerializeToString())
            while not driver.closed:
                await asyncio.sleep(0)
            assert isinstance(flood.ended, SlowConsumer)

    run(main())


def test_a_peer_that_sends_its_end_ends_the_transport() -> None:
    """What it has sent before arrives, and what is sent to it is refused."""

    async def main() -> None:
        async with pair() as (server, driver, agent):
            agent.send_nowait(ping(1))
            agent.send_end()
            assert await take(driver, 1) == [ping(1)]
            assert [message async for message in driver] == []
            assert driver.reason is None and driver.closed
            with pytest.raises(TransportClosed):
                await driver.send(ping(2))
            await agent.send(ping(3))  # to nobody
            assert not agent.closed
            agent.send_end()
            await agent.close()
            agent.send_end()  # has no effect

    run(main())


def test_the_end_of_one_participant_does_not_end_an_open_transport() -> None:
    async def main() -> None:
        async with stand_in() as server:
            host = RoomSessionTransport(await server.join("agent"), limits=QUICK)
            ann = RoomSessionTransport(await server.join("ann"), "agent", limits=QUICK)
            bob = RoomSessionTransport(await server.join("bob"), "agent", limits=QUICK)
            async with host, ann, bob:
                ann.send_end()
                await ann.flush()
                await bob.send(ping(1))
                assert await take(host, 1) == [ping(1)] and not host.closed

    run(main())


def test_an_empty_message_is_no_end() -> None:
    async def main() -> None:
        async with raw_peer() as (_, driver, peer):
            await send_raw(peer, b"")
            await send_raw(peer, ping(1).SerializeToString())
            assert await take(driver, 1) == [ping(1)] and not driver.closed

    run(main())
