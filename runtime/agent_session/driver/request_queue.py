"""The queue of requests that wait until the host has taken earlier ones."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

from agent_session_protocol.agent_session_pb2 import AgentSessionMessage

from ..errors import TransportError
from ..transport.pacer import WINDOW, Pacer
from ..transport.session import SessionTransport
from .pending import fail


class RequestQueue:
    """Sends requests in order, as soon as the pacer allows it."""

    __slots__ = ("_transport", "_pacer", "_waiting", "_task")

    def __init__(self, transport: SessionTransport) -> None:
        self._transport = transport
        self._pacer = Pacer(transport)
        # Made when a request has to wait, since there can be thousands of idle sessions.
        self._waiting: deque[tuple[AgentSessionMessage, asyncio.Future[Any]]] | None = None
        self._task: asyncio.Task[None] | None = None

    def put(self, message: AgentSessionMessage, future: asyncio.Future[Any]) -> None:
        """Sends a request, or queues it. If a queued request cannot be sent, its future fails.

        Raises as `SessionTransport.send_nowait` does.
        """
        pacer = self._pacer
        if self._task is None and pacer.open:
            pacer.sent += self._transport.send_nowait(message)
            if pacer.sent >= WINDOW:
                pacer.flush()
            return
        if self._waiting is None:
            self._waiting = deque()
        self._waiting.append((message, future))
        if self._task is None:
            self._task = asyncio.ensure_future(self._send_waiting(self._waiting))

    async def close(self) -> None:
        """Removes the queued requests. Their futures stay pending."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        await self._pacer.close()

    async def _send_waiting(
        self, waiting: deque[tuple[AgentSessionMessage, asyncio.Future[Any]]]
    ) -> None:
        try:
            while waiting:
                await self._pacer.wait()
                self._send(*waiting.popleft())
        finally:
            self._task = self._waiting = None

    def _send(self, message: AgentSessionMessage, future: asyncio.Future[Any]) -> None:
        if future.done():
            return  # the caller was cancelled, or its timeout has passed
        try:
            self._pacer.count(self._transport.send_nowait(message))
        except TransportError as error:
            fail(future, error)
