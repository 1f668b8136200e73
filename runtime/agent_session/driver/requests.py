"""The client of a session: a method for each request of the protocol.

It is separate from the session, so that a request can have any name, such as `close` or `start`,
without replacing a method of the session.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Final, Protocol

from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.client import SessionRequestClient

# The names of the client's methods, one for each request of the protocol, and of what they use.
_REQUEST_NAMES: Final = frozenset(
    name for name in vars(SessionRequestClient) if name != "send" and not name.startswith("_")
)


class RequestSender(Protocol):
    """Sends a request, or the request of an envelope, and returns its response."""

    def send(
        self, request: pb.SessionRequest, timeout: float | None = None
    ) -> Coroutine[Any, Any, pb.SessionResponse]: ...

    def send_envelope(
        self,
        message: pb.AgentSessionMessage,
        request: pb.SessionRequest,
        timeout: float | None = None,
    ) -> Coroutine[Any, Any, pb.SessionResponse]: ...


class SessionRequests(SessionRequestClient):
    """Sends each request through a session."""

    def __init__(self, sender: RequestSender) -> None:
        self._sender = sender
        # The envelope of the last new request, and that request, until it is sent.
        self._message: pb.AgentSessionMessage | None = None
        self._request: pb.SessionRequest | None = None

    def new_request(self) -> pb.SessionRequest:
        """Returns the request of a new envelope, which `send` sends without a copy."""
        self._message = message = pb.AgentSessionMessage()
        self._request = request = message.request
        return request

    # Not `async`: a coroutine of its own would cost time for each request.
    def send(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, request: pb.SessionRequest, timeout: float | None = None
    ) -> Coroutine[Any, Any, pb.SessionResponse]:
        message = self._message
        if message is not None and request is self._request:
            self._message = self._request = None
            return self._sender.send_envelope(message, request, timeout)
        return self._sender.send(request, timeout)


class _ShortName:
    """A method of the client as an attribute of a session, whose client is `requests`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, session: Any, owner: type | None = None) -> Any:
        return getattr(SessionRequestClient if session is None else session.requests, self._name)


ShortNames: Final[type] = type(
    "ShortNames", (), {name: _ShortName(name) for name in _REQUEST_NAMES}
)
"""A base class of sessions that has the methods of the client."""
