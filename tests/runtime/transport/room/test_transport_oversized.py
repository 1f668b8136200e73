"""Messages over the size limit of a room fail their request, and the session continues."""

from __future__ import annotations

from dataclasses import replace

import pytest
from agent_session import FrameTooLarge, RoomSessionTransport, StreamLimits
from agent_session_protocol.agent_session_pb2 import AgentSessionMessage
from room_stand_in import stand_in
from room_transports import QUICK, RawReader, open_raw, pair, raw_peer, response, send_raw, take
from transport_messages import audio, ping, run, transcript

SMALL = replace(QUICK, room_message_size=20_000)
TOO_LONG = "x" * 20_000


def exactly(size: int) -> AgentSessionMessage:
    """Returns a message of that many bytes."""
    message = audio(size - 20)
    message.audio_output.data += bytes(size - message.ByteSize())
    assert message.ByteSize() == size
    return message


def history(request_id: str, text: str) -> bytes:
    message = AgentSessionMessage()
    message.response.request_id = request_id
    message.response.get_chat_history.items.add().message.content.add().text = text
    return message.SerializeToString()


def run_input(request_id: str, text: str) -> bytes:
    message = AgentSessionMessage()
    message.request.request_id = request_id
    message.request.run_input.text = text
    return message.SerializeToString()


def refused(kind: str, request_id: str, size: int) -> AgentSessionMessage:
    message = AgentSessionMessage()
    message.response.request_id = request_id
    message.response.error = (
        f"the {kind} was refused: a frame of {size} bytes exceeds the limit of 20000 bytes"
    )
    return message


@pytest.mark.parametrize("limit", [20_000, StreamLimits().room_message_size])
def test_only_messages_up_to_the_size_limit_are_sent(limit: int) -> None:
    async def main() -> None:
        async with pair(replace(QUICK, room_message_size=limit)) as (_, driver, agent):
            assert driver.max_message_size == limit
            await driver.send(exactly(limit))
            with pytest.raises(FrameTooLarge):
                await driver.send(exactly(limit + 1))
            await driver.send(ping(1))
            assert await take(agent, 2) == [exactly(limit), ping(1)]

    run(main())


def test_the_default_is_16_mebibytes() -> None:
    assert StreamLimits().room_message_size == 16 << 20


@pytest.mark.parametrize("announced", [True, False])
def test_a_response_over_the_limit_becomes_an_error(announced: bool) -> None:
    body = history("7", TOO_LONG)

    async def main() -> None:
        async with raw_peer(SMALL) as (_, driver, peer):
            writer = await open_raw(peer, len(body) if announced else None)
            await writer.write(body)
            await writer.aclose()
            await send_raw(peer, ping(1).SerializeToString())
            assert await take(driver, 2) == [refused("response", "7", len(body)), ping(1)]
            assert driver.refused_frames == 1 and not driver.closed

    run(main())


@pytest.mark.parametrize("identity", ["agent", None])
def test_a_request_over_the_limit_is_answered_with_an_error(identity: str | None) -> None:
    body = run_input("7", TOO_LONG)

    async def main() -> None:
        async with stand_in() as server:
            room, peer = await server.join("host"), await server.join("agent")
            reader, other = RawReader(peer), RawReader(await server.join("other"))
            async with RoomSessionTransport(room, identity, limits=SMALL) as host:
                await send_raw(peer, body, "host")
                assert await reader.messages(1) == [refused("request", "7", len(body))]
                await host.send(transcript("for all"))
                assert await reader.messages(1) == [transcript("for all")]
                assert other.received.qsize() == (identity is None)
                assert not host.closed

    run(main())


def test_an_open_host_distinguishes_equal_ids() -> None:
    """One participant waits for its answer while a request of another one is refused."""
    body = run_input("1", TOO_LONG)

    async def main() -> None:
        async with stand_in() as server:
            host_room = await server.join("host")
            ann_room, bob_room = await server.join("ann"), await server.join("bob")
            ann, bob = RawReader(ann_room), RawReader(bob_room)
            async with RoomSessionTransport(host_room, limits=SMALL) as host:
                await send_raw(ann_room, ping(1).SerializeToString(), "host")
                assert await host.__anext__() == ping(1)
                await send_raw(bob_room, body, "host")
                assert await bob.messages(1) == [refused("request", "1", len(body))]
                await host.send(response("1"))
                assert await ann.messages(1) == [response("1")]

    run(main())


@pytest.mark.parametrize(
    "body",
    [
        transcript(TOO_LONG).SerializeToString(),
        history("", TOO_LONG),
        bytes(20_001),
        b"\xff" * 20_001,
        # A response whose request id is not text.
        bytes.fromhex("12ffffff7f0a01ff") + bytes(20_000),
    ],
    ids=["event", "no id", "zeros", "ones", "no text"],
)
def test_a_message_that_concerns_no_request_is_refused(
    body: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with raw_peer(SMALL) as (_, driver, peer):
            reader = RawReader(peer)
            await send_raw(peer, body)
            await send_raw(peer, ping(1).SerializeToString())
            assert await driver.__anext__() == ping(1)
            await driver.send(ping(2))
            assert await reader.messages(1) == [ping(2)]
            assert driver.refused_frames == 1

    run(main())
    assert f"a frame of {len(body)} bytes exceeds the limit of 20000 bytes" in caplog.text
