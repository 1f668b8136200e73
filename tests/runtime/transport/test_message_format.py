"""The transports carry the messages of any protocol."""

from __future__ import annotations

import asyncio
from pathlib import Path

import agent_session
import pytest
from agent_session.transport import (
    SESSION_FORMAT,
    Correlation,
    MessageFormat,
    RoomTransport,
    StreamLimits,
    TcpTransport,
    Transport,
    listen_tcp,
    memory_transports,
)
from agent_session.transport.framing import encode_frame
from agent_session_protocol.agent_session_pb2 import AgentSessionMessage
from arm_protocol import ARM_FORMAT, Envelope, camera_frame, command, reply
from room_stand_in import stand_in
from transport_messages import audio, ping, run

CORRELATION = Correlation("command", "reply", "id")
QUICK = StreamLimits(close_timeout=1, linger=0.02)


async def answer_once(transport: Transport[Envelope]) -> None:
    """Answers the first command with its text in upper case."""
    async for message in transport:
        await transport.send(reply(message.command.id, message.command.text.upper()))
        return


async def ask(transport: Transport[Envelope]) -> None:
    await transport.send(command("1", "grip"))
    answer = await transport.__anext__()
    assert answer.reply.id == "1" and answer.reply.text == "GRIP"


def test_tcp_carries_messages_of_another_protocol() -> None:
    async def main() -> None:
        async with await listen_tcp(ARM_FORMAT) as listener:
            async with TcpTransport(ARM_FORMAT, listener.host, listener.port) as client:
                async with await listener.accept() as server:
                    await asyncio.gather(answer_once(server), ask(client))

    run(main())


def test_memory_carries_messages_of_another_protocol() -> None:
    async def main() -> None:
        client, server = memory_transports(ARM_FORMAT)
        async with client, server:
            await asyncio.gather(answer_once(server), ask(client))

    run(main())


def test_a_room_routes_the_replies_of_another_protocol() -> None:
    """Two clients use the same id at the same time. Each gets the reply to its own command."""

    async def main() -> None:
        async with stand_in(0) as place:
            rooms = [await place.join(name) for name in ("server", "left", "right")]
            server = RoomTransport(
                ARM_FORMAT, rooms[0], topic="arm", correlation=CORRELATION, limits=QUICK
            )
            left, right = (
                RoomTransport(ARM_FORMAT, room, "server", topic="arm", limits=QUICK)
                for room in rooms[1:]
            )
            async with server, left, right:
                await left.send(command("7", "left"))
                await right.send(command("7", "right"))
                received = [await server.__anext__() for _ in range(2)]
                assert len({message.command.id for message in received}) == 2
                for message in received:
                    await server.send(reply(message.command.id, message.command.text))
                for client, name in ((left, "left"), (right, "right")):
                    answer = await client.__anext__()
                    assert (answer.reply.id, answer.reply.text) == ("7", name)

    run(main())


def test_only_droppable_messages_are_dropped_for_a_slow_peer() -> None:
    async def main() -> None:
        limits = StreamLimits(send_queue=(1 << 20) + 4, receive_queue=1 << 16)
        client, server = memory_transports(ARM_FORMAT, limits)
        async with client, server:
            server._stream.pause_reading()
            for number in range(200):
                client.send_nowait(camera_frame(20_000))
                client.send_nowait(command(str(number)))
            assert client.dropped_frames > 100
            dropped = client.dropped_frames
            server._stream.resume_reading()
            received = [await server.__anext__() for _ in range(400 - dropped)]
            ids = [each.command.id for each in received if each.HasField("command")]
            assert ids == [str(number) for number in range(200)]

    run(main())


def test_a_frame_is_droppable_if_a_droppable_field_is_set() -> None:
    assert ARM_FORMAT.is_droppable(encode_frame(camera_frame(3)))
    marked = camera_frame(3)
    marked.after = "text"
    assert ARM_FORMAT.is_droppable(encode_frame(marked))
    assert not ARM_FORMAT.is_droppable(encode_frame(command("1")))
    assert not ARM_FORMAT.is_droppable(encode_frame(Envelope()))
    assert not MessageFormat(Envelope).is_droppable(encode_frame(camera_frame(3)))
    assert SESSION_FORMAT.is_droppable(encode_frame(audio(1)))
    assert not SESSION_FORMAT.is_droppable(encode_frame(ping()))
    assert SESSION_FORMAT.message_class is AgentSessionMessage


@pytest.mark.parametrize(
    ("field", "error"),
    [
        ("missing", "arm_protocol_test.Envelope has no field missing"),
        ("count", "arm_protocol_test.Envelope.count is neither a message nor a string nor bytes"),
        ("late", "arm_protocol_test.Envelope.command can be encoded before late"),
    ],
)
def test_fields_that_cannot_be_droppable_are_refused(field: str, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        MessageFormat(Envelope, droppable=(field,))


def test_only_the_session_module_names_the_session_protocol() -> None:
    folder = Path(agent_session.__file__).parent / "transport"
    naming = [
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if "agent_session_protocol" in path.read_text(encoding="utf-8")
    ]
    assert naming == ["session.py"]
