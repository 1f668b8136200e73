"""The driver inside livekit-agents: `python sdk_python_driver.py`.

Its TCP transport can only connect, and an agent connects too. So this program listens, and hands
the accepted connection to the transport.
"""

from __future__ import annotations

import asyncio
from typing import Any

from google.protobuf.json_format import MessageToDict
from interop_lines import Commands, say, serve
from livekit.agents.voice.remote_session import RemoteSession, TcpSessionTransport
from livekit.protocol.agent_pb import agent_session as agent_pb


class AcceptedTransport(TcpSessionTransport):
    """The SDK's transport over a connection that is there already."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        super().__init__("", 0)
        self._reader = reader
        self._writer = writer

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()


def switches(given: dict[str, dict[str, bool]]) -> dict[str, bool]:
    """The names that the SDK has for the switches of update_io."""
    return {
        f"{side}_{name}": on
        for side, given_side in given.items()
        for name, on in given_side.items()
    }


class Driver:
    """Asks what it is told to ask, through the SDK's own methods."""

    def __init__(self, session: RemoteSession) -> None:
        self._session = session

    async def request(self, name: str, given: dict[str, Any]) -> Any:
        session = self._session
        if name == "ping":
            await session.wait_for_ready()
            return {}
        if name == "run_input":
            return MessageToDict(await session.run(**given), preserving_proto_field_name=True)
        if name == "update_io":
            given = switches(given)
        response = await getattr(session, name)(**given)
        return MessageToDict(response, preserving_proto_field_name=True)

    async def unknown(self, content: str, seconds: float) -> None:
        request = agent_pb.SessionRequest.FromString(bytes.fromhex(content))
        await self._session._send_request(request, seconds)


def listen_to(session: RemoteSession) -> list[str]:
    """Print every event that the SDK knows; returns their names."""
    arms = [field.name for field in agent_pb.AgentSessionEvent.DESCRIPTOR.oneofs[0].fields]
    emitter: Any = session  # it emits whatever arm comes, also those that its stubs leave out
    for arm in arms:
        emitter.on(arm, lambda event, arm=arm: tell(arm, event))
    return arms


def tell(arm: str, event: agent_pb.AgentSessionEvent) -> None:
    payload = MessageToDict(getattr(event, arm), preserving_proto_field_name=True)
    say(event=arm, payload=payload, created_at=event.created_at.ToJsonString())


def requests_of(session: RemoteSession) -> list[str]:
    """The requests that the SDK has a method for."""
    methods = {"ping": "wait_for_ready", "run_input": "run"}
    arms = [field.name for field in agent_pb.SessionRequest.DESCRIPTOR.oneofs[0].fields]
    return [arm for arm in arms if hasattr(session, methods.get(arm, arm))]


async def main() -> None:
    accepted: asyncio.Queue[AcceptedTransport] = asyncio.Queue()
    server = await asyncio.start_server(
        lambda reader, writer: accepted.put_nowait(AcceptedTransport(reader, writer)), "127.0.0.1"
    )
    say(note="listening", port=server.sockets[0].getsockname()[1])
    session = RemoteSession(await accepted.get())
    server.close()
    driver = Driver(session)
    events = listen_to(session)
    await session.start()
    say(note="connected", requests=requests_of(session), events=events)
    assert session._recv_task is not None
    session._recv_task.add_done_callback(lambda _: say(note="over"))
    commands: Commands = {
        "request": driver.request,
        "unknown": driver.unknown,
        "close": session.aclose,
    }
    await serve(commands)
    await session.aclose()


if __name__ == "__main__":
    asyncio.run(main())
