"""Transports over TCP under pressure: flushes and closes, slow peers, threads, TLS, memory."""

from __future__ import annotations

import asyncio
import socket
import threading
import time

import pytest
import tls_certificate
from agent_session import SlowConsumer, StreamLimits, TcpSessionTransport, TransportClosed, listen
from agent_session.transport.framing import encode_frame
from transport_messages import audio, ping, read_all, run, transcript
from tcp_transports import QUICK, pair, raw_peer, read_to_end


def test_a_flush_returns_when_all_bytes_are_written() -> None:
    async def main() -> None:
        async with raw_peer() as (driver, peer):
            await driver.flush()
            fill(driver)
            flushing = asyncio.ensure_future(driver.flush())
            await asyncio.sleep(0)
            assert not flushing.done()
            reading = asyncio.ensure_future(asyncio.to_thread(read_to_end, peer))
            await flushing
            assert not driver._send_buffer.size and not driver._stream.get_write_buffer_size()
            await driver.close()
            assert (await reading).endswith(encode_frame(transcript("x" * 1000)))

    run(main())


def fill(driver: TcpSessionTransport) -> None:
    """Sends until the system of the peer buffers no more, and some further messages."""
    while not driver._write_paused:
        driver.send_nowait(transcript("x" * 100_000))
    for _ in range(10):
        driver.send_nowait(transcript("x" * 1000))


def test_a_close_ends_at_its_deadline_if_the_peer_does_not_read() -> None:
    async def main() -> None:
        async with raw_peer() as (driver, _peer):
            fill(driver)
            start = time.monotonic()
            first = asyncio.ensure_future(driver.close(30))
            await asyncio.sleep(0)
            second = asyncio.ensure_future(driver.close(0.2))
            third = asyncio.ensure_future(driver.close())
            first.cancel()
            await asyncio.gather(second, third)
            assert 0.15 < time.monotonic() - start < 2
            await driver.close()

    run(main())


def test_an_abort_logs_how_many_bytes_are_unsent(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with raw_peer() as (driver, _peer):
            fill(driver)
            unsent = driver._bytes_unsent()
            await driver.close(0)
            assert f"the transport is aborted with {unsent} bytes unsent" in caplog.text

    run(main())


def test_an_abort_with_nothing_unsent_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """The peer has read all, and does not close its side."""

    async def main() -> None:
        async with raw_peer(StreamLimits(linger=1000)) as (driver, _peer):
            driver.send_nowait(ping())
            await driver.flush()
            await driver.close(0)
            assert driver.closed

    run(main())
    assert caplog.text == ""


def test_an_abandoned_close_still_ends_the_connection() -> None:
    async def main() -> None:
        async with raw_peer() as (driver, _peer):
            fill(driver)
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(driver.close(0.2), 0.01)
            await driver.close(30)  # the first deadline holds

    start = time.monotonic()
    run(main())
    assert time.monotonic() - start < 5


def test_a_close_waits_at_most_linger_for_the_peer() -> None:
    async def main() -> None:
        async with raw_peer(StreamLimits(close_timeout=20)) as (driver, _peer):
            await driver.send(ping())
            await driver.close()

    start = time.monotonic()
    run(main())
    assert time.monotonic() - start < 5


def test_a_late_reader_gets_all_messages_sent_before_the_close() -> None:
    async def main() -> None:
        async with raw_peer(StreamLimits(close_timeout=15)) as (driver, peer):
            fill(driver)
            queued = driver._send_buffer.size
            assert queued > 10_000
            closing = asyncio.ensure_future(driver.close())
            received = await asyncio.to_thread(read_to_end, peer)
            assert received.endswith(encode_frame(transcript("x" * 1000)) * 10)
            peer.close()
            await closing

    run(main())


def test_a_half_closed_peer_gets_all_queued_messages() -> None:
    async def main() -> None:
        async with raw_peer(StreamLimits(close_timeout=15)) as (driver, peer):
            fill(driver)
            peer.shutdown(socket.SHUT_WR)
            assert await read_all(driver) == [] and driver.reason is None
            with pytest.raises(TransportClosed):
                await driver.send(ping())
            received = await asyncio.to_thread(read_to_end, peer)
            assert received.endswith(encode_frame(transcript("x" * 1000)) * 10)

    run(main())


def test_send_and_send_nowait_raise_for_a_slow_consumer() -> None:
    async def main(wait: bool) -> None:
        async with raw_peer(StreamLimits(stall_timeout=0.1)) as (driver, _peer):
            with pytest.raises(TransportClosed) as caught:
                while True:
                    if wait:
                        await driver.send(transcript("x" * 100_000))
                    else:
                        driver.send_nowait(transcript("x" * 100_000))
            assert isinstance(caught.value.reason, SlowConsumer)
            assert await read_all(driver) == []
            assert driver.reason is caught.value.reason

    for wait in (True, False):
        run(main(wait))


def test_a_slow_reader_blocks_the_sender_and_gets_all_messages() -> None:
    async def main() -> None:
        async with pair() as (driver, agent):
            sending = asyncio.ensure_future(send_all(agent, 600))
            while not driver._read_paused:
                await asyncio.sleep(0)
            while not agent._write_paused:
                await asyncio.sleep(0)
            assert not sending.done() and driver._receive_buffer.size < 3 << 20
            for number in range(600):
                text = (await driver.__anext__()).event.user_input_transcribed.transcript
                assert text.startswith(f"{number} ")
            await sending

    async def send_all(transport: TcpSessionTransport, total: int) -> None:
        for number in range(total):
            await transport.send(transcript(f"{number} " + "x" * 30_000))

    run(main())


def test_messages_of_four_threads_keep_their_order() -> None:
    each = 2000

    def send(transport: TcpSessionTransport, thread: int) -> None:
        for number in range(each):
            transport.send_threadsafe(ping(thread * each + number))

    async def main() -> None:
        async with pair() as (driver, agent):
            threads = [threading.Thread(target=send, args=(agent, which)) for which in range(4)]
            for thread in threads:
                thread.start()
            seen: list[list[int]] = [[], [], [], []]
            for _ in range(4 * each):
                number = int((await driver.__anext__()).request.request_id)
                seen[number // each].append(number)
            for which, numbers in enumerate(seen):
                assert numbers == list(range(which * each, (which + 1) * each))
            for thread in threads:
                thread.join()

    run(main())


def test_messages_of_a_thread_before_a_close_arrive() -> None:
    def send(agent: TcpSessionTransport) -> None:
        for number in range(50):
            agent.send_threadsafe(ping(number))

    async def main() -> None:
        async with pair() as (driver, agent):
            await asyncio.to_thread(send, agent)
            received, _ = await asyncio.gather(read_all(driver), agent.close())
            assert received == [ping(number) for number in range(50)]
            with pytest.raises(TransportClosed):
                await asyncio.to_thread(agent.send_threadsafe, ping())

    run(main())


def test_sends_from_threads_are_bounded_while_the_loop_is_busy() -> None:
    async def main() -> None:
        async with pair() as (_driver, agent):
            errors: list[TransportClosed] = []

            def flood() -> None:
                try:
                    for _ in range(1000):
                        agent.send_threadsafe(audio(100_000))
                    while True:
                        agent.send_threadsafe(transcript("x" * 100_000))
                except TransportClosed as error:
                    errors.append(error)

            thread = threading.Thread(target=flood)
            thread.start()
            thread.join()  # the loop is blocked
            assert isinstance(errors[0].reason, SlowConsumer)
            assert await read_all(agent) == []
            assert isinstance(agent.reason, SlowConsumer)

    run(main())


def test_a_send_from_a_thread_after_the_loop_has_ended_raises() -> None:
    agents: list[TcpSessionTransport] = []

    async def main() -> None:
        listener = await listen()
        agent = TcpSessionTransport(listener.host, listener.port)
        await agent.start()
        agents.append(agent)
        driver = await listener.accept()
        await listener.close()
        agent._stream.abort()
        await driver.close(0)
        await read_all(agent)

    run(main())
    with pytest.raises(TransportClosed):
        agents[0].send_threadsafe(ping())


def test_tls_connections(tmp_path_factory: pytest.TempPathFactory) -> None:
    server, client = tls_certificate.contexts(tmp_path_factory.mktemp("tls"))

    async def main() -> None:
        async with await listen(ssl=server) as listener:
            agent = TcpSessionTransport(listener.host, listener.port, ssl=client, limits=QUICK)
            await agent.start()
            driver = await listener.accept()
            await agent.send(audio(1_000_000))
            assert await driver.__anext__() == audio(1_000_000)
            await driver.send(ping(1))
            await driver.flush()
            await agent.flush()
            received, _ = await asyncio.gather(read_all(agent), driver.close())
            assert received == [ping(1)] and agent.reason is None
            await agent.close()

    run(main())


def test_plain_bytes_to_a_tls_listener_are_refused(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    server, _ = tls_certificate.contexts(tmp_path_factory.mktemp("tls"))

    async def main() -> None:
        async with await listen(ssl=server) as listener:
            async with TcpSessionTransport(listener.host, listener.port, limits=QUICK) as agent:
                await agent.send(ping())
                await read_all(agent)
            assert not listener._connections

    run(main(), expected_fault="Error on transport creation")  # reported by asyncio


def test_an_idle_transport_takes_little_memory() -> None:
    import tracemalloc

    async def main() -> None:
        async with await listen(max_agents=None) as listener:
            ends: list[TcpSessionTransport] = []
            await connect(listener.host, listener.port, ends, 20)
            for _ in range(20):
                ends.append(await listener.accept())
            tracemalloc.start()
            before = tracemalloc.get_traced_memory()[0]
            await connect(listener.host, listener.port, ends, 100)
            for _ in range(100):
                ends.append(await listener.accept())
            each = (tracemalloc.get_traced_memory()[0] - before) / 200
            tracemalloc.stop()
            assert each < 12 * 1024
            await asyncio.gather(*(end.close() for end in ends))

    async def connect(host: str, port: int, ends: list[TcpSessionTransport], number: int) -> None:
        for _ in range(number):
            ends.append(TcpSessionTransport(host, port))
            await ends[-1].start()

    run(main())
