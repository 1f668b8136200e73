"""A transport for peers, and the generated peers of case protocols."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from types import ModuleType
from typing import Any


class QueueTransport:
    """One end of a pair of transports that satisfies `PeerTransport` and nothing more.

    Attributes:
        sent: the messages that were sent.
        failure: raised by the next `send`.
        gate: sends wait until it is set.
    """

    def __init__(self) -> None:
        self.peer = self
        self.received: asyncio.Queue[Any] = asyncio.Queue()
        self.sent: list[Any] = []
        self.failure: BaseException | None = None
        self.gate = asyncio.Event()
        self.gate.set()

    async def send(self, message: Any) -> None:
        await self.gate.wait()
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure
        self.sent.append(message)
        self.peer.received.put_nowait(type(message).FromString(message.SerializeToString()))

    async def __aiter__(self) -> AsyncIterator[Any]:
        while (message := await self.received.get()) is not None:
            if isinstance(message, BaseException):
                raise message
            yield message

    async def close(self) -> None:
        self.peer.received.put_nowait(None)


def queue_transports() -> tuple[QueueTransport, QueueTransport]:
    """Returns two connected transports."""
    ends = QueueTransport(), QueueTransport()
    ends[0].peer, ends[1].peer = ends[1], ends[0]
    return ends


def run_test(test: Callable[[], Awaitable[None]]) -> None:
    """Runs a test, for at most 20 seconds."""

    async def limited() -> None:
        await asyncio.wait_for(test(), 20)

    asyncio.run(limited())


class PeerCase:
    """The generated modules of a case, and a handler for its requests."""

    def __init__(self, name: str, module: Callable[[str], ModuleType]) -> None:
        self.pb = module(f"{name}_pb2")
        self.peer = module("peer")
        self.errors = module("errors")
        self.requests = module("requests")

    def handler(self, ask: Callable[[Any], Awaitable[Any]]) -> Any:
        """Returns a handler whose `ask` is the given function; it answers `close` with "closed"."""
        pb = self.pb

        class Handler(self.requests.RequestHandler):  # type: ignore[name-defined, misc]
            async def ask(self, request: Any) -> Any:
                return await ask(request)

            async def close(self, request: Any) -> Any:
                return pb.Ask(text="closed")

        return Handler()

    def pair(self, ask: Callable[[Any], Awaitable[Any]], **options: Any) -> tuple[Any, Any]:
        """Returns a client and a host that are connected."""
        first, second = queue_transports()
        host = self.peer.HostPeer(second, self.handler(ask), **options)
        return self.peer.ClientPeer(first, timeout=10), host


async def echo(request: Any) -> Any:
    """Answers with the request."""
    return request


async def forever(request: Any) -> Any:
    """Never answer."""
    await asyncio.Event().wait()
