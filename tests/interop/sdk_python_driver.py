"""The driver of livekit-agents: `python sdk_python_driver.py`, or in a room with `URL TOKEN`.

The TCP transport of the SDK can only connect, as agents do. This program therefore listens, and
passes the accepted connection to the transport.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from google.protobuf.json_format import MessageToDict
from interop_commands import Commands, serve, write
from interop_rooms import leave
from livekit import rtc
from livekit.agents.voice.remote_session import RemoteSession, TcpSessionTransport
from livekit.protocol.agent_pb import agent_session as agent_pb


class AcceptedTransport(TcpSessionTransport):
    """The SDK's transport over a connection that was accepted."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        super().__init__("", 0)
        self._reader = reader
        self._writer = writer

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()


def switches(fields: dict[str, dict[str, bool]]) -> dict[str, bool]:
    """Returns the fields of update_io under the names of the SDK."""
    return {f"{side}_{name}": on for side, values in fields.items() for name, on in values.items()}


class Driver:
    """Sends requests on command, with the methods of the SDK."""

    def __init__(self, session: RemoteSession) -> None:
        self._session = session

    async def request(self, name: str, fields: dict[str, Any]) -> Any:
        session = self._session
        if name == "ping":
            await session.wait_for_ready()
            return {}
        if name == "run_input":
            return MessageToDict(await session.run(**fields), preserving_proto_field_name=True)
        if name == "update_io":
            fields = switches(fields)
        response = await getattr(session, name)(**fields)
        return MessageToDict(response, preserving_proto_field_name=True)

    async def unknown(self, content: str, timeout_s: float) -> None:
        request = agent_pb.SessionRequest.FromString(bytes.fromhex(content))
        await self._session._send_request(request, timeout_s)


def listen_to(session: RemoteSession) -> list[str]:
    """Prints all events that the SDK knows, and returns their names."""
    arms = [field.name for field in agent_pb.AgentSessionEvent.DESCRIPTOR.oneofs[0].fields]
    emitter: Any = session  # the type stubs of the SDK lack some of its events
    for arm in arms:
        emitter.on(arm, lambda event, arm=arm: write_event(arm, event))
    return arms


def write_event(arm: str, event: agent_pb.AgentSessionEvent) -> None:
    payload = MessageToDict(getattr(event, arm), preserving_proto_field_name=True)
    write(event=arm, payload=payload, created_at=event.created_at.ToJsonString())


def requests_of(session: RemoteSession) -> list[str]:
    """Returns the requests for which the SDK has a method."""
    methods = {"ping": "wait_for_ready", "run_input": "run"}
    arms = [field.name for field in agent_pb.SessionRequest.DESCRIPTOR.oneofs[0].fields]
    return [arm for arm in arms if hasattr(session, methods.get(arm, arm))]


async def accepted_session() -> RemoteSession:
    accepted: asyncio.Queue[AcceptedTransport] = asyncio.Queue()
    server = await asyncio.start_server(
        lambda reader, writer: accepted.put_nowait(AcceptedTransport(reader, writer)), "127.0.0.1"
    )
    write(note="listening", port=server.sockets[0].getsockname()[1])
    session = RemoteSession(await accepted.get())
    server.close()
    return session


async def room_session(room: rtc.Room, url: str, token: str) -> RemoteSession:
    await room.connect(url, token)
    return RemoteSession.from_room(room, "agent")


async def main(*address: str) -> None:
    room = rtc.Room()
    session = await (room_session(room, *address) if address else accepted_session())
    driver = Driver(session)
    events = listen_to(session)
    await session.start()
    write(note="connected", requests=requests_of(session), events=events)
    assert session._recv_task is not None
    session._recv_task.add_done_callback(lambda _: write(note="ended"))
    commands: Commands = {
        "request": driver.request,
        "unknown": driver.unknown,
        "close": session.aclose,
    }
    await serve(commands)
    await session.aclose()
    if address:
        await leave(room)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
