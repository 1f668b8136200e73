"""A message that does not parse fails the request that it concerns, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeAlias

import pytest
from agent_session import (
    RemoteSession,
    RoomSessionTransport,
    SessionHost,
    SessionTransport,
    TcpSessionTransport,
    listen,
    memory_pair,
)
from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.errors import RequestError
from google.protobuf.struct_pb2 import Struct
from agent_session.host.nesting import MAX_NESTING
from room_stand_in import stand_in
from room_transports import send_raw
from scripted_session import Driver, PlainSession, request
from transport_messages import framed, run

# Sends the bytes of one message to the peer, as a peer with a defect would.
SendRaw: TypeAlias = Callable[[bytes], Awaitable[None]]
Pair: TypeAlias = tuple[SessionTransport, SendRaw]


@asynccontextmanager
async def memory() -> AsyncIterator[Pair]:
    left, right = memory_pair()

    async def send(body: bytes) -> None:
        right._stream.write(framed(body))

    yield left, send
    await right.close()


@asynccontextmanager
async def tcp() -> AsyncIterator[Pair]:
    async with await listen() as listener:
        transport = TcpSessionTransport("127.0.0.1", listener.port)
        await transport.start()
        peer = await listener.accept()

        async def send(body: bytes) -> None:
            peer._stream.write(framed(body))

        yield transport, send
        await peer.close()


@asynccontextmanager
async def room() -> AsyncIterator[Pair]:
    async with stand_in() as place:
        left, right = await place.join("ours"), await place.join("theirs")

        async def send(body: bytes) -> None:
            await send_raw(right, body)

        yield RoomSessionTransport(left, "theirs"), send


PAIRS = [memory, tcp, room]


def too_deep(request_id: str) -> bytes:
    """Returns a response that protobuf writes and does not read."""
    message = pb.AgentSessionMessage()
    message.response.request_id = request_id
    inner = message.response.get_rtc_stats.publisher_stats.add()
    for _ in range(40):
        inner = inner.fields["x"].struct_value
        inner.SetInParent()
    return message.SerializeToString()


@pytest.mark.parametrize("pair", PAIRS)
def test_a_response_that_does_not_parse_fails_its_request(
    pair: Callable[[], AbstractAsyncContextManager[Pair]],
) -> None:
    async def main() -> None:
        async with pair() as (transport, send):
            async with RemoteSession(transport) as session:
                calls = [
                    asyncio.ensure_future(session.get_rtc_stats(timeout=1_000)),
                    asyncio.ensure_future(session.run_input(text="hi", timeout=1_000)),
                ]
                other = asyncio.ensure_future(session.ping())
                await asyncio.sleep(0)
                ids = list(session._pending._entries)
                for request_id in ids[:2]:
                    await send(too_deep(request_id))
                for call in calls:
                    with pytest.raises(RequestError, match="the response was refused: .*parse"):
                        await call
                pong = pb.AgentSessionMessage()
                pong.response.request_id = ids[2]
                pong.response.pong.SetInParent()
                await send(pong.SerializeToString())
                await other
                assert session.outcome is None

    run(main())


def broken(message: pb.AgentSessionMessage) -> bytes:
    """Returns a message whose text, "text", is not valid UTF-8."""
    body = message.SerializeToString()
    assert body.count(b"text") == 1
    return body.replace(b"text", b"\xff\xff\xff\xff")


BROKEN_REQUEST = broken(request("broken", "run_input", text="text"))
UNANSWERED = [
    broken(
        pb.AgentSessionMessage(
            event=pb.AgentSessionEvent(error=pb.AgentSessionEvent.Error(message="text"))
        )
    ),
    b"\xff" * 9,
]


def test_a_request_that_does_not_parse_is_answered() -> None:
    """Other messages that do not parse are dropped without an answer."""

    async def main() -> None:
        left, right = memory_pair()
        driver = Driver(right)
        right.deliver_to(driver)
        async with SessionHost(PlainSession(), left):
            for body in (*UNANSWERED, BROKEN_REQUEST):
                right._stream.write(framed(body))
            answer = await driver.answer("broken")
            assert "the request was refused: frame 2" in answer.error
            await driver.ask("ping")
            assert len(driver.responses) == 2
            assert left.refused_frames == 3
        await right.close()

    run(main())


def test_a_request_in_a_room_that_does_not_parse_is_answered() -> None:
    """Also if the host serves all participants: the answer goes to the one that sent it."""

    async def main() -> None:
        async with stand_in() as place:
            rooms = [await place.join(name) for name in ("agent", "ann", "bob")]
            drivers = [Driver(RoomSessionTransport(room, "agent")) for room in rooms[1:]]
            async with SessionHost(PlainSession(), RoomSessionTransport(rooms[0])):
                for driver in drivers:
                    await driver.transport.start()
                    driver.transport.deliver_to(driver)
                await send_raw(rooms[1], BROKEN_REQUEST)
                assert "the request was refused" in (await drivers[0].answer("broken")).error
                await drivers[1].ask("ping")
                assert len(drivers[1].responses) == 1
            for driver in drivers:
                await driver.transport.close()

    run(main())


def nested(levels: int, as_struct: bool) -> Any:
    """Returns a mapping, or a Struct, with values inside of values on that many levels."""
    struct = inner = Struct()
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"x": value}
        inner = inner.fields["x"].struct_value
        inner.SetInParent()
    return struct if as_struct else value


@pytest.mark.parametrize("as_struct", [True, False])
def test_statistics_that_nest_too_deep_are_an_error_of_the_host(as_struct: bool) -> None:
    async def main() -> None:
        session = PlainSession()
        values: list[Any] = []

        async def stats() -> dict[str, list[Any]]:
            return {"publisher_stats": [], "subscriber_stats": values}

        session.stats = stats
        left, right = memory_pair()
        async with SessionHost(session, left), RemoteSession(right) as driver:
            values[:] = [nested(MAX_NESTING, as_struct)]
            (deepest,) = (await driver.get_rtc_stats()).subscriber_stats
            assert deepest == nested(MAX_NESTING, True)
            for levels in (MAX_NESTING + 1, 40, 200):
                values[:] = [nested(levels, as_struct)]
                with pytest.raises(RequestError, match="nest deeper than 30 levels"):
                    await driver.get_rtc_stats()
            await driver.ping()

    run(main())
