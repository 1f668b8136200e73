"""Bound pairs of room transports, raw peers, and readers of raw streams."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from agent_session import RoomSessionTransport, StreamLimits
from agent_session_protocol.agent_session_pb2 import AgentSessionMessage
from livekit import rtc
from room_stand_in import StandIn, stand_in
from transport_messages import transcript

TOPIC = "lk.agent.session"
QUICK = StreamLimits(close_timeout=1, linger=0.02)


@asynccontextmanager
async def pair(
    limits: StreamLimits = QUICK, seed: int = 0
) -> AsyncIterator[tuple[StandIn, RoomSessionTransport, RoomSessionTransport]]:
    """Yields a driver and an agent that are bound to each other."""
    async with stand_in(seed) as server:
        driver = RoomSessionTransport(await server.join("driver"), "agent", limits=limits)
        agent = RoomSessionTransport(await server.join("agent"), "driver", limits=limits)
        async with driver, agent:
            yield server, driver, agent


@asynccontextmanager
async def raw_peer(
    limits: StreamLimits = QUICK, seed: int = 0
) -> AsyncIterator[tuple[StandIn, RoomSessionTransport, rtc.Room]]:
    """Yields a driver that is bound to the agent, and the agent's room without a transport."""
    async with stand_in(seed) as server:
        room = await server.join("driver")
        peer = await server.join("agent")
        async with RoomSessionTransport(room, "agent", limits=limits) as driver:
            yield server, driver, peer


async def send_raw(room: rtc.Room, body: bytes, to: str | None = None) -> None:
    """Sends a stream with the topic of the session."""
    await room.local_participant.send_bytes(
        body, topic=TOPIC, name="AS_raw", destination_identities=None if to is None else [to]
    )


def send_unlisted(server: StandIn, identity: str, body: bytes) -> None:
    """Sends a message of the session as a participant that is not listed in the room."""
    streams = server.begin_late(identity, len(body))
    server._chunk(streams, body)
    server._close(streams)


async def open_raw(room: rtc.Room, size: int | None = None) -> rtc.ByteStreamWriter:
    """Opens a stream with the topic of the session."""
    return await room.local_participant.stream_bytes("AS_raw", topic=TOPIC, total_size=size)


class RawReader:
    """Reads the streams of the session in a room: their names, senders and bodies."""

    def __init__(self, room: rtc.Room) -> None:
        self.received: asyncio.Queue[tuple[str, str, bytes]] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()
        room.register_byte_stream_handler(TOPIC, self._opened)

    def _opened(self, reader: rtc.ByteStreamReader, identity: str) -> None:
        task = asyncio.ensure_future(self._read(reader, identity))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _read(self, reader: rtc.ByteStreamReader, identity: str) -> None:
        body = b"".join([chunk async for chunk in reader])
        self.received.put_nowait((reader.info.name, identity, body))

    async def messages(self, total: int) -> list[AgentSessionMessage]:
        return [
            AgentSessionMessage.FromString((await self.received.get())[2]) for _ in range(total)
        ]


def response(request_id: str, error: str = "") -> AgentSessionMessage:
    message = AgentSessionMessage()
    message.response.request_id = request_id
    message.response.pong.SetInParent()
    if error:
        message.response.error = error
    return message


async def take(transport: RoomSessionTransport, total: int) -> list[AgentSessionMessage]:
    return [await transport.__anext__() for _ in range(total)]


async def send_each(
    transport: RoomSessionTransport, messages: Iterable[AgentSessionMessage]
) -> None:
    for message in messages:
        await transport.send(message)


def fill(driver: RoomSessionTransport) -> None:
    """Queues so many bytes that a send waits."""
    for number in range(5):
        driver.send_nowait(transcript(f"{number} " + "x" * 30_000))
