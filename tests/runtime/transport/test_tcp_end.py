"""Messages sent just before the end of a TCP connection are not lost; later sends raise."""

from __future__ import annotations

import asyncio

import pytest
from agent_session import (
    MemorySessionTransport,
    StreamLimits,
    TcpSessionTransport,
    TransportClosed,
    memory_pair,
)
from agent_session.transport.framing import encode_frame
from tcp_transports import pair, raw_peer, read_to_end
from transport_messages import ping, read_all, run, transcript

TEXT = transcript("x" * 1000)


async def send_much(driver: TcpSessionTransport) -> bytes:
    """Sends more than the system buffers for a peer that does not read. Returns the messages."""
    for _ in range(400):
        driver.send_nowait(TEXT)
    await asyncio.wait_for(driver.flush(), 5)
    return encode_frame(TEXT) * 400


def test_a_peer_that_still_sends_gets_all_buffered_bytes() -> None:
    async def main() -> None:
        async with raw_peer(StreamLimits(close_timeout=15, linger=10)) as (driver, peer):
            sent = await send_much(driver)
            closing = asyncio.ensure_future(driver.close())
            for _ in range(20):
                await asyncio.sleep(0)
            peer.sendall(encode_frame(ping()))
            await asyncio.sleep(0)
            assert await asyncio.to_thread(read_to_end, peer) == sent
            peer.close()
            await closing

    run(main())


def test_unread_input_does_not_lose_messages_to_a_late_peer() -> None:
    async def main() -> None:
        limits = StreamLimits(close_timeout=15, linger=0.05, receive_queue=1)
        async with raw_peer(limits) as (driver, peer):
            peer.sendall(encode_frame(ping()))
            while not driver._read_paused:
                await asyncio.sleep(0)
            peer.sendall(encode_frame(ping()))  # the system keeps it, as the transport is paused
            sent = await send_much(driver)
            await driver.close()
            assert await asyncio.to_thread(read_to_end, peer) == sent

    run(main())


def test_messages_sent_from_a_thread_before_a_close_arrive() -> None:
    async def main() -> None:
        async with pair() as (driver, agent):
            agent.send_threadsafe(ping(1))
            await agent.close()
            assert await read_all(driver) == [ping(1)]

    run(main())


def test_a_send_from_a_thread_raises_if_the_loop_is_closed() -> None:
    async def main() -> tuple[MemorySessionTransport, MemorySessionTransport]:
        return memory_pair()

    left, _ = asyncio.run(main())
    assert not left.closed
    for _ in range(2):
        with pytest.raises(TransportClosed):
            left.send_threadsafe(ping())


def test_a_connection_made_after_the_close_is_aborted() -> None:
    """The event loop may connect in the iteration in which the start is cancelled."""

    class Wire(asyncio.Transport):
        aborted = False

        def abort(self) -> None:
            self.aborted = True

    async def main() -> None:
        agent, wire = TcpSessionTransport("127.0.0.1", 0), Wire()
        await agent.close()
        agent.connection_made(wire)
        assert wire.aborted and agent.closed
        with pytest.raises(TransportClosed):
            agent.send_nowait(ping())

    run(main())
