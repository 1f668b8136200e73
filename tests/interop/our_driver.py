"""The driver of this repository: `python our_driver.py`, or in a room with `URL TOKEN`.

Without a room, it listens for a host.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from agent_session import RoomSessionTransport, SessionTransport, TransportError, listen
from agent_session.driver.session import RemoteSession
from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.dispatch import AGENT_SESSION_EVENT_ARMS, SESSION_REQUEST_ARMS
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message import Message
from livekit import rtc
from interop_commands import Commands, serve, write
from interop_rooms import leave


class Driver(RemoteSession):
    """Sends requests on command, and prints what it receives."""

    def transport_ended(self, reason: TransportError | None) -> None:
        super().transport_ended(reason)
        write(note="ended", reason=None if reason is None else type(reason).__name__)

    async def request(self, name: str, fields: dict[str, Any]) -> Any:
        if name == "update_io":
            fields = {
                "input": ParseDict(fields["input"], pb.SessionRequest.UpdateIO.Input()),
                "output": ParseDict(fields["output"], pb.SessionRequest.UpdateIO.Output()),
            }
        return plain(await getattr(self, name)(**fields))

    async def unknown(self, content: str, timeout_s: float) -> None:
        request = pb.SessionRequest.FromString(bytes.fromhex(content))
        response = await self.send(request, timeout_s)
        if response.error:
            raise RuntimeError(response.error)

    async def status(self, timeout_s: float) -> str:
        return type(await self.probe(timeout_s)).__name__

    def listen_to_all(self) -> None:
        for arm in AGENT_SESSION_EVENT_ARMS:
            getattr(self, f"on_{arm}")(
                lambda payload, event, arm=arm: write_event(arm, payload, event)
            )
        self.on_unknown(lambda number, event: write_event(f"unknown {number}", None, event))

    async def write_outcome(self) -> None:
        outcome = await self.wait_ended()
        attributes = {name: getattr(outcome, name, None) for name in ("reason_name", "by_driver")}
        error = None if outcome.error is None else str(outcome.error)
        write(note="outcome", kind=type(outcome).__name__, error=error, **attributes)


def plain(message: Message) -> Any:
    return MessageToDict(message, preserving_proto_field_name=True)


def write_event(arm: str, payload: Message | None, event: pb.AgentSessionEvent) -> None:
    content = None if payload is None else plain(payload)
    write(event=arm, payload=content, created_at=event.created_at.ToJsonString())


async def accepted_transport() -> SessionTransport:
    async with await listen() as listener:
        write(note="listening", port=listener.port)
        return await listener.accept()


async def room_transport(room: rtc.Room, url: str, token: str) -> SessionTransport:
    await room.connect(url, token)
    return RoomSessionTransport(room, "agent")


async def main(*address: str) -> None:
    room = rtc.Room()
    session = Driver(await (room_transport(room, *address) if address else accepted_transport()))
    session.listen_to_all()
    async with session:
        ending = asyncio.ensure_future(session.write_outcome())
        write(
            note="connected",
            requests=list(SESSION_REQUEST_ARMS),
            events=list(AGENT_SESSION_EVENT_ARMS),
        )
        commands: Commands = {
            "request": session.request,
            "unknown": session.unknown,
            "status": session.status,
            "close": session.close,
        }
        await serve(commands)
    await ending
    if address:
        await leave(room)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
