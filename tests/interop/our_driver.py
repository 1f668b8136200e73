"""Our driver: `python our_driver.py`. It listens, as drivers do."""

from __future__ import annotations

import asyncio
from typing import Any

from agent_session import TransportError, listen
from agent_session.driver.session import RemoteSession
from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.dispatch import AGENT_SESSION_EVENT_ARMS, SESSION_REQUEST_ARMS
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message import Message
from interop_lines import Commands, say, serve


class Driver(RemoteSession):
    """Asks what it is told to ask, and tells what it hears."""

    def transport_ended(self, reason: TransportError | None) -> None:
        super().transport_ended(reason)
        say(note="over", reason=None if reason is None else type(reason).__name__)

    async def request(self, name: str, given: dict[str, Any]) -> Any:
        if name == "update_io":
            given = {
                "input": ParseDict(given["input"], pb.SessionRequest.UpdateIO.Input()),
                "output": ParseDict(given["output"], pb.SessionRequest.UpdateIO.Output()),
            }
        return plain(await getattr(self, name)(**given))

    async def unknown(self, content: str, seconds: float) -> None:
        request = pb.SessionRequest.FromString(bytes.fromhex(content))
        response = await self.send(request, seconds)
        if response.error:
            raise RuntimeError(response.error)

    async def status(self, seconds: float) -> str:
        return type(await self.probe(seconds)).__name__

    def listen_to_all(self) -> None:
        for arm in AGENT_SESSION_EVENT_ARMS:
            getattr(self, f"on_{arm}")(lambda payload, event, arm=arm: tell(arm, payload, event))
        self.on_unknown(lambda number, event: tell(f"unknown {number}", None, event))

    async def tell_outcome(self) -> None:
        outcome = await self.wait_ended()
        facts = {name: getattr(outcome, name, None) for name in ("reason_name", "by_driver")}
        error = None if outcome.error is None else str(outcome.error)
        say(note="outcome", kind=type(outcome).__name__, error=error, **facts)


def plain(message: Message) -> Any:
    return MessageToDict(message, preserving_proto_field_name=True)


def tell(arm: str, payload: Message | None, event: pb.AgentSessionEvent) -> None:
    content = None if payload is None else plain(payload)
    say(event=arm, payload=content, created_at=event.created_at.ToJsonString())


async def main() -> None:
    async with await listen() as listener:
        say(note="listening", port=listener.port)
        session = Driver(await listener.accept())
    session.listen_to_all()
    async with session:
        ending = asyncio.ensure_future(session.tell_outcome())
        say(
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


if __name__ == "__main__":
    asyncio.run(main())
