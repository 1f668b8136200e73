"""A host that the test controls, for tests of RemoteSession, and messages for it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import pytest
from agent_session import (
    Console,
    RemoteSession,
    TransportError,
    memory_pair,
)
from agent_session.transport.stream import StreamTransport
from agent_session_protocol import agent_session_pb2 as pb

E = TypeVar("E", bound=Exception)

# Field 99 with an empty message, as a newer peer may send.
UNKNOWN_ARM = bytes([0x9A, 0x06, 0x00])


class Host:
    """The host of a driver. Records requests, or answers them with the function `answer`."""

    def __init__(self, transport: StreamTransport[pb.AgentSessionMessage]) -> None:
        self.transport = transport
        self.requests: deque[pb.SessionRequest] = deque()
        self.others: list[str | None] = []
        self.answer: Callable[[pb.SessionRequest], pb.SessionResponse | None] | None = None
        self._changed = asyncio.Event()
        transport.deliver_to(self)

    def message_received(self, message: pb.AgentSessionMessage) -> None:
        if not message.HasField("request"):
            self.others.append(message.WhichOneof("message"))
        elif self.answer is None:
            self.requests.append(message.request)
        elif (response := self.answer(message.request)) is not None:
            self.respond(response)
        self._changed.set()

    def transport_ended(self, reason: TransportError | None) -> None:
        self.others.append(f"end: {reason}")
        self._changed.set()

    async def request(self) -> pb.SessionRequest:
        """Waits for the next request, and returns it."""
        await self.until(lambda: bool(self.requests))
        return self.requests.popleft()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Waits until a condition on the received messages is true."""
        while not condition():
            self._changed.clear()
            await self._changed.wait()

    def respond(self, response: pb.SessionResponse) -> None:
        self.transport.send_nowait(pb.AgentSessionMessage(response=response))

    def emit(self, event: pb.AgentSessionEvent) -> None:
        self.transport.send_nowait(pb.AgentSessionMessage(event=event))

    def say_closed(
        self, reason: pb.CloseReason.ValueType = pb.CR_COMPLETED, error: str | None = None
    ) -> None:
        self.emit(closed_event(reason, error))


def closed_event(
    reason: pb.CloseReason.ValueType = pb.CR_COMPLETED, error: str | None = None
) -> pb.AgentSessionEvent:
    closed = pb.AgentSessionEvent.SessionClosed(reason=reason, error=error)
    return pb.AgentSessionEvent(session_closed=closed)


def transcript_event(text: str) -> pb.AgentSessionEvent:
    transcribed = pb.AgentSessionEvent.UserInputTranscribed(transcript=text)
    return pb.AgentSessionEvent(user_input_transcribed=transcribed)


def pong(request: pb.SessionRequest) -> pb.SessionResponse:
    return pb.SessionResponse(request_id=request.request_id, pong=pb.SessionResponse.Pong())


@asynccontextmanager
async def driven(
    *,
    timeout: float = 60.0,
    console: Console | None = None,
    chunk: int = 1 << 16,
) -> AsyncIterator[tuple[RemoteSession, Host]]:
    """Yields a started session and its host, connected in memory."""
    driver_end, host_end = memory_pair(chunk=chunk)
    host = Host(host_end)
    async with host_end, RemoteSession(driver_end, timeout=timeout, console=console) as session:
        yield session, host


async def run_until_waiting(*calls: asyncio.Future[Any]) -> None:
    """Lets calls run until they wait for a response."""
    for _ in range(3):
        await asyncio.sleep(0)
    assert not any(call.done() for call in calls)


async def failed(calling: Awaitable[Any], kind: type[E]) -> E:
    """Returns the error of a call."""
    with pytest.raises(kind) as caught:
        await calling
    return caught.value
