"""Transports over TCP on loopback, in one process."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import tls_support
from agent_session import (
    ConnectFailed,
    ConnectionLost,
    FrameTooLarge,
    ListenerClosed,
    NotStarted,
    RemoteAddressRefused,
    SlowConsumer,
    StreamLimits,
    TcpSessionTransport,
    TransportClosed,
    TruncatedFrame,
    listen,
)
from agent_session.framing import encode_frame
from agent_session_protocol.agent_session_pb2 import AgentSessionMessage
from transport_support import Collector, audio, framed, ping, read_all, run, transcript

QUICK = StreamLimits(close_timeout=0.3)


@asynccontextmanager
async def pair(
    limits: StreamLimits = QUICK,
) -> AsyncIterator[tuple[TcpSessionTransport, TcpSessionTransport]]:
    """A transport that listened, and one that connected to it."""
    async with await listen(limits=limits) as listener:
        async with TcpSessionTransport(listener.host, listener.port, limits=limits) as agent:
            async with await listener.accept() as driver:
                yield driver, agent


@asynccontextmanager
async def raw_peer(
    limits: StreamLimits = QUICK,
) -> AsyncIterator[tuple[TcpSessionTransport, socket.socket]]:
    """A transport, and a bare socket as its peer that does only what it is told."""
    async with await listen(limits=limits) as listener:
        with socket.create_connection((listener.host, listener.port), timeout=10) as peer:
            async with await listener.accept() as driver:
                yield driver, peer


def test_messages_arrive_in_order_both_ways() -> None:
    async def main() -> None:
        async with pair() as (driver, agent):
            for number in range(2000):
                await agent.send(transcript(str(number)))
                await driver.send(ping(number))
            for number in range(2000):
                assert await driver.__anext__() == transcript(str(number))
                assert await agent.__anext__() == ping(number)

    run(main())


def test_the_largest_messages_pass() -> None:
    async def main() -> None:
        async with pair() as (driver, agent):
            message = audio((1 << 20) - 8)
            assert message.ByteSize() == 1 << 20
            for _ in range(8):
                await agent.send(message)
            for _ in range(8):
                assert await driver.__anext__() == message
            assert not agent.dropped_audio

    run(main(), 30)


def test_both_sides_send_without_delay() -> None:
    async def main() -> None:
        async with pair() as ends:
            for end in ends:
                connection = end._stream.get_extra_info("socket")
                assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)

    run(main())


def test_what_is_sent_in_one_tick_is_one_write() -> None:
    async def main() -> None:
        async with pair() as (driver, agent):
            writes: list[bytes] = []
            write = agent._stream.write

            class Counted:
                def __getattr__(self, name: str) -> object:
                    return getattr(stream, name)

                def write(self, data: bytes) -> None:
                    writes.append(data)
                    write(data)

            stream = agent._stream
            agent._stream = Counted()  # type: ignore[assignment]  # pyright: ignore
            for number in range(100):
                await agent.send(ping(number))
            assert not writes
            for number in range(100):
                assert await driver.__anext__() == ping(number)
            assert len(writes) == 1

            class Echo(Collector):
                def message_received(self, message: AgentSessionMessage) -> None:
                    super().message_received(message)
                    agent.send_nowait(message)

            agent.deliver_to(Echo())
            for number in range(64):
                await driver.send(ping(number))
            for number in range(64):
                assert await driver.__anext__() == ping(number)
            assert len(writes) == 2

    run(main())


def test_an_end_reaches_the_peer_and_answers_to_it_still_arrive() -> None:
    async def main() -> None:
        async with pair() as (driver, agent):
            for number in range(64):
                await driver.send(ping(number))
            closing = asyncio.ensure_future(driver.close())
            got = await read_all(agent)
            await closing
            assert got == [ping(number) for number in range(64)]
            assert agent.reason is None and driver.reason is None

    run(main())


def test_unread_input_does_not_cost_the_peer_what_was_sent_to_it() -> None:
    async def main() -> None:
        async with raw_peer() as (driver, peer):
            peer.sendall(encode_frame(transcript("x" * 1000)) * 100)
            for number in range(100):
                driver.send_nowait(ping(number))
            closing = asyncio.ensure_future(driver.close())
            await asyncio.sleep(0)
            peer.sendall(encode_frame(transcript("y" * 1000)) * 100)
            got = await asyncio.to_thread(read_to_end, peer)
            assert got == b"".join(encode_frame(ping(number)) for number in range(100))
            peer.close()
            await closing

    run(main())


def read_to_end(peer: socket.socket) -> bytes:
    chunks = list(iter(lambda: peer.recv(1 << 16), b""))
    return b"".join(chunks)


def test_sends_before_a_start_and_a_close_without_one() -> None:
    async def main() -> None:
        transport = TcpSessionTransport("127.0.0.1", 1)
        for send in (transport.send_nowait, transport.send_threadsafe):
            with pytest.raises(NotStarted):
                send(ping())
        await transport.close()
        await transport.close()
        assert await read_all(transport) == [] and transport.reason is None
        with pytest.raises(TransportClosed):
            await transport.start()

    run(main())


def test_a_failed_start_is_named_and_may_be_repeated() -> None:
    async def main() -> None:
        async with await listen() as first:
            port = first.port
        transport = TcpSessionTransport("127.0.0.1", port)
        for _ in range(2):
            with pytest.raises(ConnectFailed) as caught:
                await transport.start()
            assert isinstance(caught.value.__cause__, OSError)
        async with await listen(port=port) as listener:
            await transport.start()
            await transport.start()
            driver = await listener.accept()
            await transport.send(ping(1))
            assert await driver.__anext__() == ping(1)
            await asyncio.gather(driver.close(), transport.close())

    run(main())


def silent_server() -> socket.socket:
    """A listener whose handshake for TLS never comes, so that a start hangs."""
    server = socket.create_server(("127.0.0.1", 0))
    return server


def test_a_start_that_hangs_ends_with_its_timeout_and_with_a_close() -> None:
    async def main() -> None:
        with silent_server() as server:
            context = ssl.create_default_context()
            host, port = server.getsockname()
            hung = TcpSessionTransport(host, port, ssl=context, connect_timeout=0.05)
            with pytest.raises(ConnectFailed):
                await hung.start()
            other = TcpSessionTransport(host, port, ssl=context)
            starting = asyncio.ensure_future(other.start())
            await asyncio.sleep(0.02)
            await other.close()
            with pytest.raises(TransportClosed):
                await starting
            third = TcpSessionTransport(host, port, ssl=context)
            starting = asyncio.ensure_future(third.start())
            await asyncio.sleep(0.02)
            starting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await starting

    run(main())


@pytest.mark.parametrize("host", ["0.0.0.0", "", "::"])
def test_a_listener_beyond_loopback_must_be_asked_for(host: str) -> None:
    async def main() -> None:
        with pytest.raises(RemoteAddressRefused):
            await listen(host)
        if host == "0.0.0.0":
            async with await listen(host, allow_remote=True) as listener:
                assert listener.port

    run(main())


def test_one_agent_at_a_time_unless_told_otherwise() -> None:
    async def main() -> None:
        async with await listen() as listener:
            first = TcpSessionTransport(listener.host, listener.port)
            second = TcpSessionTransport(listener.host, listener.port)
            await first.start()
            driver = await listener.accept()
            await second.start()
            assert await read_all(second) == []
            await second.close()
            await first.send(ping(1))
            assert await driver.__anext__() == ping(1)
            await asyncio.gather(first.close(), driver.close())
            async with TcpSessionTransport(listener.host, listener.port) as third:
                async for driver in listener:
                    await third.send(ping(3))
                    assert await driver.__anext__() == ping(3)
                    await driver.close()
                    break

    run(main())


def test_a_closed_listener_accepts_no_more_and_leaves_sessions_alone() -> None:
    async def main() -> None:
        listener = await listen(max_agents=None)
        agents = [TcpSessionTransport(listener.host, listener.port) for _ in range(3)]
        for agent in agents:
            await agent.start()
        driver = await listener.accept()
        accepting = asyncio.ensure_future(collect(listener))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await listener.close()
        others = await accepting
        with pytest.raises(ListenerClosed):
            await listener.accept()
        await agents[0].send(ping(1))
        assert await driver.__anext__() == ping(1)
        await asyncio.gather(*(each.close() for each in [driver, *others, *agents]))

    async def collect(listener: AsyncIterator[TcpSessionTransport]) -> list[TcpSessionTransport]:
        return [transport async for transport in listener]

    run(main())


@pytest.mark.parametrize("cut", [1, 4, 6])
def test_an_end_inside_a_frame_is_named(cut: int) -> None:
    async def main() -> None:
        async with raw_peer() as (driver, peer):
            peer.sendall(encode_frame(ping(1)) + encode_frame(ping(2))[:cut])
            peer.close()
            assert await read_all(driver) == [ping(1)]
            assert isinstance(driver.reason, TruncatedFrame)

    run(main())


def test_an_oversized_header_ends_the_connection_before_its_body() -> None:
    async def main() -> None:
        async with raw_peer() as (driver, peer):
            peer.sendall(encode_frame(ping(1)) + b"\x7f\xff\xff\xff" + bytes(100_000))
            assert await read_all(driver) == [ping(1)]
            assert isinstance(driver.reason, FrameTooLarge)
            assert driver.closed
            assert await asyncio.to_thread(read_to_end, peer) == b""

    run(main())


def test_bad_and_empty_frames_do_not_end_the_session() -> None:
    async def main() -> None:
        async with raw_peer() as (driver, peer):
            stream = framed(b"") + framed(b"\xff") + framed(b"\x22\x03\x0a\x01\xff")
            for byte in stream + encode_frame(ping(1)):
                peer.sendall(bytes([byte]))
            assert await driver.__anext__() == ping(1)
            assert driver.refused_frames == 2
            await driver.send(ping(2))
            assert await asyncio.to_thread(peer.recv, 100) == encode_frame(ping(2))

    run(main())


def test_a_reset_is_named() -> None:
    async def main() -> None:
        async with raw_peer() as (driver, peer):
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            peer.close()
            assert await read_all(driver) == []
            assert isinstance(driver.reason, ConnectionLost)
            assert isinstance(driver.reason.__cause__, ConnectionError)
            with pytest.raises(TransportClosed) as caught:
                await driver.send(ping())
            assert caught.value.reason is driver.reason

    run(main())


def test_a_close_just_after_a_reset_is_quiet() -> None:
    async def main() -> None:
        async with raw_peer() as (driver, peer):
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            peer.close()
            await driver.close()  # before the loop has seen the reset
            assert await read_all(driver) == []

    run(main())


def test_a_flush_returns_when_the_system_has_everything() -> None:
    async def main() -> None:
        async with raw_peer() as (driver, peer):
            await driver.flush()
            fill(driver)
            flushing = asyncio.ensure_future(driver.flush())
            await asyncio.sleep(0)
            assert not flushing.done()
            reading = asyncio.ensure_future(asyncio.to_thread(read_to_end, peer))
            await flushing
            assert not driver._queue.size and not driver._stream.get_write_buffer_size()
            await driver.close()
            assert (await reading).endswith(encode_frame(transcript("x" * 1000)))

    run(main())


def fill(driver: TcpSessionTransport) -> None:
    """Send until the peer's system takes no more, and some on top."""
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


def test_a_close_does_not_wait_long_for_a_peer_that_stays() -> None:
    async def main() -> None:
        async with raw_peer(StreamLimits(close_timeout=20)) as (driver, _peer):
            await driver.send(ping())
            await driver.close()

    start = time.monotonic()
    run(main())
    assert time.monotonic() - start < 5


def test_a_peer_that_reads_late_gets_all_that_was_sent_before_the_close() -> None:
    async def main() -> None:
        async with raw_peer(StreamLimits(close_timeout=15)) as (driver, peer):
            fill(driver)
            queued = driver._queue.size
            assert queued > 10_000
            closing = asyncio.ensure_future(driver.close())
            got = await asyncio.to_thread(read_to_end, peer)
            assert got.endswith(encode_frame(transcript("x" * 1000)) * 10)
            peer.close()
            await closing

    run(main())


def test_a_half_closed_peer_gets_what_was_queued_for_it() -> None:
    async def main() -> None:
        async with raw_peer(StreamLimits(close_timeout=15)) as (driver, peer):
            fill(driver)
            peer.shutdown(socket.SHUT_WR)
            assert await read_all(driver) == [] and driver.reason is None
            with pytest.raises(TransportClosed):
                await driver.send(ping())
            got = await asyncio.to_thread(read_to_end, peer)
            assert got.endswith(encode_frame(transcript("x" * 1000)) * 10)

    run(main())


def test_a_slow_consumer_is_named_on_both_ways_of_sending() -> None:
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


def test_a_slow_reader_slows_the_sender_and_gets_everything() -> None:
    async def main() -> None:
        async with pair() as (driver, agent):
            sending = asyncio.ensure_future(send_all(agent, 600))
            while not driver._read_paused:
                await asyncio.sleep(0)
            while not agent._write_paused:
                await asyncio.sleep(0)
            assert not sending.done() and driver._inbox.size < 3 << 20
            for number in range(600):
                text = (await driver.__anext__()).event.user_input_transcribed.transcript
                assert text.startswith(f"{number} ")
            await sending

    async def send_all(transport: TcpSessionTransport, total: int) -> None:
        for number in range(total):
            await transport.send(transcript(f"{number} " + "x" * 30_000))

    run(main())


def test_four_threads_send_and_nothing_is_lost_or_reordered() -> None:
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


def test_what_a_thread_sent_before_a_close_arrives() -> None:
    def send(agent: TcpSessionTransport) -> None:
        for number in range(50):
            agent.send_threadsafe(ping(number))

    async def main() -> None:
        async with pair() as (driver, agent):
            await asyncio.to_thread(send, agent)
            got, _ = await asyncio.gather(read_all(driver), agent.close())
            assert got == [ping(number) for number in range(50)]
            with pytest.raises(TransportClosed):
                await asyncio.to_thread(agent.send_threadsafe, ping())

    run(main())


def test_threads_are_bounded_while_the_loop_is_busy() -> None:
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
            thread.join()  # the loop is blocked meanwhile
            assert isinstance(errors[0].reason, SlowConsumer)
            assert await read_all(agent) == []
            assert isinstance(agent.reason, SlowConsumer)

    run(main())


def test_a_thread_that_outlives_the_loop_is_told() -> None:
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


def test_tls_passes_through(tmp_path_factory: pytest.TempPathFactory) -> None:
    server, client = tls_support.contexts(tmp_path_factory.mktemp("tls"))

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
            got, _ = await asyncio.gather(read_all(agent), driver.close())
            assert got == [ping(1)] and agent.reason is None
            await agent.close()

    run(main())


def test_plain_bytes_to_a_tls_listener_reach_nobody(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    server, _ = tls_support.contexts(tmp_path_factory.mktemp("tls"))

    async def main() -> None:
        async with await listen(ssl=server) as listener:
            async with TcpSessionTransport(listener.host, listener.port, limits=QUICK) as agent:
                await agent.send(ping())
                await read_all(agent)
            assert not listener._connections

    run(main(), expected_fault="Error on transport creation")  # asyncio tells it so


def test_an_idle_session_is_small() -> None:
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
