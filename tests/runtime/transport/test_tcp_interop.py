"""Frames between our transport and the one inside livekit-agents, over real sockets."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agent_session import TcpSessionTransport, listen
from agent_session_protocol.agent_session_pb2 import AgentSessionMessage
from transport_messages import audio, ping, read_all, run, transcript

remote_session = pytest.importorskip("livekit.agents.voice.remote_session")

OURS = [ping(1), transcript("grüß dich"), audio(100_000), transcript("x" * 1_000_000), ping(2)]


def to_theirs(message: AgentSessionMessage) -> Any:
    theirs = remote_session.agent_pb.AgentSessionMessage()
    theirs.ParseFromString(message.SerializeToString())
    return theirs


async def connected(host: str, port: int) -> Any:
    transport = remote_session.TcpSessionTransport(host, port)
    await transport.start()
    return transport


async def accepted(server: asyncio.Server, streams: asyncio.Queue[Any]) -> Any:
    """Theirs cannot listen: give it a connection that something else accepted."""
    host, port = server.sockets[0].getsockname()
    transport = remote_session.TcpSessionTransport(host, port)
    transport._reader, transport._writer = await streams.get()
    transport._loop = asyncio.get_running_loop()
    return transport


async def exchange(ours: TcpSessionTransport, theirs: Any) -> None:
    """Both send at once, and get what the other sent, to the byte."""

    async def send() -> None:
        for message in OURS:
            await theirs.send_message(to_theirs(message))

    sending = asyncio.ensure_future(send())
    for message in OURS:
        await ours.send(message)
    for message in OURS:
        got = await theirs.__anext__()
        assert got.SerializeToString() == message.SerializeToString()
    for message in OURS:
        assert await ours.__anext__() == message
    await sending


def test_the_sdk_connects_and_closes() -> None:
    async def main() -> None:
        async with await listen() as listener:
            theirs = await connected(listener.host, listener.port)
            async with await listener.accept() as ours:
                await exchange(ours, theirs)
                theirs.send_message_threadsafe(to_theirs(ping(9)))
                assert await ours.__anext__() == ping(9)
                await theirs.close()
                assert await read_all(ours) == [] and ours.reason is None

    run(main())


def test_the_sdk_connects_and_this_side_closes() -> None:
    async def main() -> None:
        async with await listen() as listener:
            theirs = await connected(listener.host, listener.port)
            ours = await listener.accept()
            await exchange(ours, theirs)
            await ours.send(ping(9))
            await ours.close(2)
            assert [message.SerializeToString() async for message in theirs] == [
                ping(9).SerializeToString()
            ]
            await theirs.close()

    run(main())


def test_this_side_connects() -> None:
    async def main() -> None:
        streams: asyncio.Queue[Any] = asyncio.Queue()
        server = await asyncio.start_server(
            lambda reader, writer: streams.put_nowait((reader, writer)), "127.0.0.1", 0
        )
        host, port = server.sockets[0].getsockname()
        async with TcpSessionTransport(host, port) as ours:
            theirs = await accepted(server, streams)
            await exchange(ours, theirs)
            await theirs.close()
            assert await read_all(ours) == [] and ours.reason is None
        server.close()

    run(main())


def test_a_frame_of_the_sdk_over_the_limit_is_refused() -> None:
    async def main() -> None:
        async with await listen() as listener:
            theirs = await connected(listener.host, listener.port)
            async with await listener.accept() as ours:
                await theirs.send_message(to_theirs(transcript("x" * (1 << 20))))
                assert await read_all(ours) == []
                assert type(ours.reason).__name__ == "FrameTooLarge"
                await theirs.close()

    run(main())
