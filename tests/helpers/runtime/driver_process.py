"""A host for tests of drivers: `python driver_process.py ROLE HOST PORT [SESSIONS]`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

from agent_session import TcpSessionTransport, TransportError
from agent_session_protocol import agent_session_pb2 as pb

Answer = Callable[[pb.SessionRequest], pb.SessionResponse | None]


def answer_all(request: pb.SessionRequest) -> pb.SessionResponse:
    """Returns the response to any request. A run is answered with a message of its text."""
    response = pb.SessionResponse(request_id=request.request_id)
    if request.HasField("run_input"):
        response.run_input.items.add().message.id = request.run_input.text[:9]
    elif request.HasField("finalize_simulation"):
        response.finalize_simulation.user_verdict.reason = "the agent's own"
    else:
        response.pong.SetInParent()
    return response


def answer_pings(request: pb.SessionRequest) -> pb.SessionResponse | None:
    """Returns the response to a ping, and no response to other requests."""
    return answer_all(request) if request.HasField("ping") else None


class Host:
    def __init__(self, transport: TcpSessionTransport, answer: Answer) -> None:
        self.transport = transport
        self.answer = answer
        self.over = asyncio.Event()
        transport.deliver_to(self)

    def message_received(self, message: pb.AgentSessionMessage) -> None:
        response = self.answer(message.request)
        if response is not None:
            self.transport.send_nowait(pb.AgentSessionMessage(response=response))

    def transport_ended(self, reason: TransportError | None) -> None:
        self.over.set()


async def serve(transport: TcpSessionTransport) -> None:
    await Host(transport, answer_all).over.wait()


async def hang(transport: TcpSessionTransport) -> None:
    await Host(transport, answer_pings).over.wait()


async def cut(transport: TcpSessionTransport) -> None:
    """Answers the first ping, and sends an incomplete frame after it."""

    def answer(request: pb.SessionRequest) -> pb.SessionResponse | None:
        if request.HasField("ping"):
            asyncio.get_running_loop().call_soon(transport._put, b"\0\0\1\0half")
        return answer_pings(request)

    await Host(transport, answer).over.wait()


async def end(transport: TcpSessionTransport) -> None:
    """Closes the session on the first run. Disconnects after finalize_simulation."""
    finalized = asyncio.Event()

    def answer(request: pb.SessionRequest) -> pb.SessionResponse | None:
        if request.HasField("run_input"):
            closed = pb.AgentSessionEvent.SessionClosed(reason=pb.CR_COMPLETED)
            event = pb.AgentSessionEvent(session_closed=closed)
            transport.send_nowait(pb.AgentSessionMessage(event=event))
            return None
        if request.HasField("finalize_simulation"):
            finalized.set()
        return answer_all(request)

    Host(transport, answer)
    await finalized.wait()


ROLES = {"serve": serve, "hang": hang, "cut": cut, "end": end}


async def main(role: str, host: str, port: int, sessions: int) -> None:
    async def one() -> None:
        async with TcpSessionTransport(host, port) as transport:
            await ROLES[role](transport)

    await asyncio.gather(*(one() for _ in range(sessions)))


def command(role: str, host: str, port: int, sessions: int = 1) -> list[str]:
    return [sys.executable, str(Path(__file__)), role, host, str(port), str(sessions)]


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
