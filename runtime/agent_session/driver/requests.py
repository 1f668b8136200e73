"""The client of a session: a method for each request of the protocol.

It is separate from the session, so that a request can have any name, such as `close` or `start`,
without replacing a method of the session.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Final, Protocol

from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.client import SessionRequestClient

# The names of the client's methods, one for each request of the protocol.
REQUEST_NAMES: Final = frozenset(
    name for name in vars(SessionRequestClient) if name != "send" and not name.startswith("_")
)


class RequestSender(Protocol):
    """Sends a request and returns its response."""

    def send(
        self, request: pb.SessionRequest, timeout: float | None = None
    ) -> Coroutine[Any, Any, pb.SessionResponse]: ...


class SessionRequests(SessionRequestClient):
    """Sends each request through a session."""

    def __init__(self, sender: RequestSender) -> None:
        self._sender = sender

    async def send(
        self, request: pb.SessionRequest, timeout: float | None = None
    ) -> pb.SessionResponse:
        return await self._sender.send(request, timeout)
