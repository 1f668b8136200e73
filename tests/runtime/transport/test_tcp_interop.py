"""Frames between a TCP transport and the transport of livekit-agents."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agent_session import TcpSessionTransport, listen
from agent_session_protocol.agent_session_pb2 import AgentSessionMessage
from transport_messages import audio, ping, read_all, run, transcript

remote_session = pytest.importorskip("livekit.agents.voice.remote_session")

OURS = [ping(1), transcript("grüß dich"), audio(100_000), transcript("x" * 1_000_000), ping(2)]


def to_sdk(message: AgentSessionMessage) -> Any:
    sdk_transport = remote_session.agent_pb.AgentSessionMessage()
    sdk_transport.ParseFromString(message.SerializeToString())
    return sdk_transport


async def connected(host: str, port: int) -> Any:
    transport = remote_session.TcpSessionTransport(host, port)
    await transport.start()
    return transport


async def accepted(server: asyncio.Server, streams: asyncio.Queue[Any]) -> Any:
    """Yields an SDK transport with an accepted connection, since it cannot listen itself."""
    host, port = server.sockets[0].getsockname()
    transport = remote_session.TcpSessionTransport(host, port)
    transport._reader, transport._writer = await streams.get()
    transport._loop = asyncio.get_running_loop()
    return transport


async def exchange(left: TcpSessionTransport, sdk_transport: Any) -> None:
    """Sends from both sides at once, and checks that all bytes arrive."""

    async def send() -> None:
        for message in OURS:
            await sdk_transport.send_message(to_sdk(message))

    sending = asyncio.ensure_future(send())
    for message in OURS:
        await left.send(message)
    for message in OURS:
        received = await sdk_transport.__anext__()
        assert received.SerializeToString() == message.SerializeToString()
    for message in OURS:
        assert await left.__anext__() == message
    await sending


def test_the_sdk_connects_and_closes() -> None:
    async def main() -> None:
        async with await listen() as listener:
            sdk_transport = await connected(listener.host, listener.port)
            async with await listener.accept() as left:
                await exchange(left, sdk_transport)
                sdk_transport.send_message_threadsafe(to_sdk(ping(9)))
                assert await left.__anext__() == ping(9)
                await sdk_transport.close()
                assert await read_all(left) == [] and left.reason is None

    run(main())


def test_the_sdk_connects_and_this_side_closes() -> None:
    async def main() -> None:
        async with await listen() as listener:
            sdk_transport = await connected(listener.host, listener.port)
            left = await listener.accept()
            await exchange(left, sdk_transport)
            await left.send(ping(9))
            await left.close(2)
            assert [message.SerializeToString() async for message in sdk_transport] == [
                ping(9).SerializeToString()
            ]
            await sdk_transport.close()

    run(main())


def test_this_side_connects() -> None:
    async def main() -> None:
        streams: asyncio.Queue[Any] = asyncio.Queue()
        server = await asyncio.start_server(
            lambda reader, writer: streams.put_nowait((reader, writer)), "127.0.0.1", 0
        )
        host, port = server.sockets[0].getsockname()
        async with TcpSessionTransport(host, port) as left:
            sdk_transport = await accepted(server, streams)
            await exchange(left, sdk_transport)
            await sdk_transport.close()
            assert await read_all(left) == [] and left.reason is None
        server.close()

    run(main())


def test_a_frame_of_the_sdk_over_the_limit_is_refused() -> None:
    async def main() -> None:
        async with await listen() as listener:
            sdk_transport = await connected(listener.host, listener.port)
            async with await listener.accept() as left:
                await sdk_transport.send_message(to_sdk(transcript("x" * (1 << 20))))
                assert await read_all(left) == []
                assert type(left.reason).__name__ == "FrameTooLarge"
                await sdk_transport.close()

    run(main())
