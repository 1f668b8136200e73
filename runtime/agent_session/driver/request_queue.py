"""Requests on their way into a transport, no faster than the peer takes them.

Comes in: requests, each with the future of its caller. Goes out: the same requests in order. They
are sent at once, until much is under way; then the next ones wait until the peer, or the system
on its behalf, has taken it. A burst of requests therefore never makes a peer that reads look like
one that does not, whose transport is closed.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Final

from agent_session_protocol.agent_session_pb2 import AgentSessionMessage

from ..errors import ConnectionLost, TransportClosed, TransportError
from .pending import fail
from ..transport.base import logger
from ..transport.session import SessionTransport

# How many bytes may be under way. A transport holds several times as much.
_WINDOW: Final = 1 << 20


class Outbox:
    """The way out of one session's requests."""

    __slots__ = ("_transport", "_sent", "_waiting", "_task")

    def __init__(self, transport: SessionTransport) -> None:
        self._transport = transport
        self._sent = 0
        self._waiting = deque[tuple[AgentSessionMessage, asyncio.Future[Any]]]()
        self._task: asyncio.Task[None] | None = None

    def put(self, message: AgentSessionMessage, future: asyncio.Future[Any]) -> None:
        """Send a request, or let it wait for its turn; if it fails then, its future does.

        Raises what `SessionTransport.send_nowait` does.
        """
        if self._task is not None:
            self._waiting.append((message, future))
            return
        self._sent += self._transport.send_nowait(message)
        if self._sent >= _WINDOW:
            self._task = asyncio.ensure_future(self._drain())

    async def close(self) -> None:
        """Forget what waits; the futures are the caller's business."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _drain(self) -> None:
        """Send what waits, a window at a time, and each time wait for the peer."""
        try:
            await self._flush()
            while self._waiting:
                self._send_late(*self._waiting.popleft())
                if self._sent >= _WINDOW:
                    await self._flush()
        except TransportError as error:
            logger.debug("requests wait for a transport that has ended: %s", error)
        except Exception as fault:
            logger.exception("a transport failed while it flushed")
            self._fail_waiting(fault)
        finally:
            self._task = None
            self._waiting.clear()

    async def _flush(self) -> None:
        await self._transport.flush()
        self._sent = 0

    def _send_late(self, message: AgentSessionMessage, future: asyncio.Future[Any]) -> None:
        if future.done():
            return  # nobody waits for the response any more
        try:
            self._sent += self._transport.send_nowait(message)
        except TransportError as error:
            fail(future, error)

    def _fail_waiting(self, fault: Exception) -> None:
        """End what would wait for its turn in vain; what is under way may still be answered."""
        for _, future in self._waiting:
            reason = ConnectionLost(type(fault).__name__)
            reason.__cause__ = fault
            fail(future, TransportClosed(reason))
