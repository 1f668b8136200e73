"""Transports over TCP on loopback, in one process."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator

import pytest
from agent_session import (
    ConnectFailed,
    ConnectionLost,
    FrameTooLarge,
    ListenerClosed,
    NotStarted,
    RemoteAddressRefused,
    TcpSessionTransport,
    TransportClosed,
    TruncatedFrame,
    listen,
)
from agent_session.transport.framing import encode_frame
from agent_session_protocol.agent_session_pb2 import AgentSessionMessage
from transport_messages import Collector, audio, framed, ping, read_all, run, transcript
from tcp_transports import pair, raw_peer, read_to_end


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


def test_messages_of_the_size_limit_are_carried() -> None:
    async def main() -> None:
        async with pair() as (driver, agent):
            message = audio((1 << 20) - 8)
            assert message.ByteSize() == 1 << 20
            for _ in range(8):
                await agent.send(message)
            for _ in range(8):
                assert await driver.__anext__() == message
            assert not agent.dropped_frames

    run(main(), 30)


def test_both_sides_set_tcp_nodelay() -> None:
    async def main() -> None:
        async with pair() as ends:
            for end in ends:
                connection = end._stream.get_extra_info("socket")
                assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)

    run(main())


def test_tcp_nodelay_is_set_if_the_event_loop_does_not() -> None:
    class Wire(asyncio.Transport):
        """A connection of an event loop that leaves the options of the socket at their defaults."""

        def __init__(self, connection: socket.socket) -> None:
            super().__init__({"socket": connection})

    async def main() -> None:
        with socket.socket() as connection:
            assert not connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            TcpSessionTransport("127.0.0.1", 0).connection_made(Wire(connection))
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)

    run(main())


def test_frames_sent_in_one_loop_iteration_are_written_together() -> None:
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
            for number in range(20):
                await agent.send(ping(number))
            assert not writes
            for number in range(20):
                assert await driver.__anext__() == ping(number)
            assert len(writes) == 1
            writes.clear()
            # For many messages, the first 512 bytes are written at once, and the rest together.
            frames = [encode_frame(ping(number)) for number in range(1_000)]
            for number in range(1_000):
                await agent.send(ping(number))
            for number in range(1_000):
                assert await driver.__anext__() == ping(number)
            assert len(writes) == 2 and b"".join(writes) == b"".join(frames)
            assert 512 <= len(writes[0]) < 512 + len(frames[0]) + 4
            writes.clear()

            class Echo(Collector):
                def message_received(self, message: AgentSessionMessage) -> None:
                    super().message_received(message)
                    agent.send_nowait(message)

            agent.deliver_to(Echo())
            for number in range(20):
                await driver.send(ping(number))
            for number in range(20):
                assert await driver.__anext__() == ping(number)
            assert len(writes) == 1

    run(main())


def test_messages_sent_after_the_peers_eof_arrive() -> None:
    async def main() -> None:
        async with pair() as (driver, agent):
            for number in range(64):
                await driver.send(ping(number))
            closing = asyncio.ensure_future(driver.close())
            received = await read_all(agent)
            await closing
            assert received == [ping(number) for number in range(64)]
            assert agent.reason is None and driver.reason is None

    run(main())


def test_a_close_with_unread_input_does_not_reset_the_connection() -> None:
    async def main() -> None:
        async with raw_peer() as (driver, peer):
            peer.sendall(encode_frame(transcript("x" * 1000)) * 100)
            for number in range(100):
                driver.send_nowait(ping(number))
            closing = asyncio.ensure_future(driver.close())
            await asyncio.sleep(0)
            peer.sendall(encode_frame(transcript("y" * 1000)) * 100)
            received = await asyncio.to_thread(read_to_end, peer)
            assert received == b"".join(encode_frame(ping(number)) for number in range(100))
            peer.close()
            await closing

    run(main())


def test_a_send_before_the_start_raises_and_a_close_does_not() -> None:
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


def test_a_failed_start_raises_and_can_be_repeated() -> None:
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


def test_a_timeout_or_a_close_ends_a_start() -> None:
    async def main() -> None:
        with silent_server() as server:
            context = ssl.create_default_context()
            host, port = server.getsockname()
            hung = TcpSessionTransport(host, port, ssl=context, connect_timeout=0.05)
            with pytest.raises(ConnectFailed):
                await hung.start()
            other = TcpSessionTransport(host, port, ssl=context)
            starting = asyncio.ensure_future(other.start())
            await asyncio.to_thread(server.accept)
            await other.close()
            with pytest.raises(TransportClosed):
                await starting
            third = TcpSessionTransport(host, port, ssl=context)
            starting = asyncio.ensure_future(third.start())
            await asyncio.to_thread(server.accept)
            starting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await starting

    run(main())


@pytest.mark.parametrize("host", ["0.0.0.0", "", "::"])
def test_a_remote_address_needs_allow_remote(host: str) -> None:
    async def main() -> None:
        with pytest.raises(RemoteAddressRefused):
            await listen(host)
        if host == "0.0.0.0":
            async with await listen(host, allow_remote=True) as listener:
                assert listener.port

    run(main())


def test_a_listener_accepts_one_agent_by_default() -> None:
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


def test_an_agent_that_disconnects_without_a_message_is_removed() -> None:
    async def main() -> None:
        async with await listen() as listener:
            for _ in range(20):
                async with TcpSessionTransport(listener.host, listener.port):
                    pass
                while listener._connections or listener._waiting:
                    await asyncio.sleep(0)
            async with TcpSessionTransport(listener.host, listener.port) as agent:
                await agent.send(ping(1))
                driver = await listener.accept()
                assert await driver.__anext__() == ping(1)
                await driver.close()

    run(main())


def test_an_agent_that_disconnects_after_a_message_can_be_accepted() -> None:
    async def main() -> None:
        async with await listen() as listener:
            async with TcpSessionTransport(listener.host, listener.port) as agent:
                await agent.send(ping(1))
            while listener._connections or not listener._waiting:
                await asyncio.sleep(0)
            async with TcpSessionTransport(listener.host, listener.port) as early:
                assert await read_all(early) == []
            first = await listener.accept()
            assert await read_all(first) == [ping(1)]
            async with TcpSessionTransport(listener.host, listener.port):
                await (await listener.accept()).close()

    run(main())


def test_a_closed_listener_keeps_accepted_connections() -> None:
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
def test_an_end_inside_a_frame_is_a_truncated_frame(cut: int) -> None:
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


def test_malformed_and_empty_frames_do_not_end_the_transport() -> None:
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


def test_a_reset_is_a_lost_connection() -> None:
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


def test_a_close_after_a_reset_raises_nothing() -> None:
    async def main() -> None:
        async with raw_peer() as (driver, peer):
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            peer.close()
            await driver.close()  # before the loop has seen the reset
            assert await read_all(driver) == []

    run(main())


def test_thousands_of_agents_may_wait_to_be_accepted() -> None:
    """None is refused for the others, whatever the driver does meanwhile."""

    async def main() -> None:
        count = 2_500
        async with await listen(max_agents=None) as listener:
            clients = [TcpSessionTransport(listener.host, listener.port) for _ in range(count)]
            await asyncio.gather(*(client.start() for client in clients))
            while len(listener._waiting) < count:
                await asyncio.sleep(0)
            accepted = [await listener.accept() for _ in range(count)]
            await accepted[-1].send(ping(1))
            assert not any(client.closed for client in clients)
            await asyncio.gather(*(each.close(0) for each in (*accepted, *clients)))

    run(main(), 60)
