"""Who gets what, in a room of several participants.

Comes in: who sent a request, and responses. Goes out: requests with ids that no other
participant's request in flight has, and for each frame the participant who is to get it.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Final

from agent_session_protocol.agent_session_pb2 import AgentSessionMessage

from ..framing import encode_frame
from ..base import logger

# Room for requests that are never answered. A host has 64 in flight, and refuses more at once.
MAX_ROUTES: Final = 4096


@dataclass
class Route:
    """Where the responses of one id go.

    Attributes:
        identities: who asked, oldest first: one participant, as often as it used the id.
        request_id: the id that the participant gave its request.
    """

    identities: deque[str]
    request_id: str


class Routes:
    """The requests in flight. Beyond 4,096 of them the oldest is forgotten."""

    __slots__ = ("_routes", "_renamed")

    def __init__(self) -> None:
        self._routes: OrderedDict[str, Route] = OrderedDict()
        self._renamed = 0

    def add(self, request_id: str, identity: str) -> str:
        """Note a request, and return the id for it: its own, unless somebody else's has that."""
        key = self._free_key(request_id, identity)
        if key not in self._routes:
            self._routes[key] = Route(deque(maxlen=MAX_ROUTES), request_id)
        self._routes[key].identities.append(identity)
        if len(self._routes) > MAX_ROUTES:
            self._routes.popitem(last=False)
        return key

    def find(self, key: str) -> Route | None:
        """The route for a response; None if no request waits for it."""
        return self._routes.get(key)

    def answered(self, key: str) -> None:
        """A response went along its route."""
        route = self._routes[key]
        route.identities.popleft()
        if not route.identities:
            del self._routes[key]

    def _free_key(self, request_id: str, identity: str) -> str:
        # An empty id stays empty, so that it is refused: at once, and so in order.
        key = request_id
        while request_id and key in self._routes and self._routes[key].identities[0] != identity:
            self._renamed += 1
            key = f"{request_id}~{self._renamed}"
        return key


class _Addressed(bytes):
    """A frame for one participant of several."""

    identity = ""


class Router:
    """Addresses the frames of a transport.

    Args:
        remote_identity: who gets everything; None if events go to all, and a response to whoever
            sent the request.
    """

    __slots__ = ("_remote_identity", "_routes")

    def __init__(self, remote_identity: str | None) -> None:
        self._remote_identity = remote_identity
        self._routes = Routes()

    def note(self, message: AgentSessionMessage, identity: str) -> None:
        """Take a participant's message; gives a request another id where that is needed."""
        if self._remote_identity is None and message.HasField("request"):
            message.request.request_id = self._routes.add(message.request.request_id, identity)

    def frame(self, message: AgentSessionMessage) -> bytes | None:
        """The frame of a message; None if it is a response and there is nobody to get it.

        Raises as `encode_frame` does; then the request can still be answered.
        """
        if self._remote_identity is not None or not message.HasField("response"):
            return encode_frame(message)
        key = message.response.request_id
        route = self._routes.find(key)
        if route is None:
            logger.error("a response goes to nobody: no request waits for it")
            return None
        if route.request_id != key:
            original, message = message, AgentSessionMessage()
            message.CopyFrom(original)
            message.response.request_id = route.request_id
        frame = _Addressed(encode_frame(message))
        frame.identity = route.identities[0]
        self._routes.answered(key)
        return frame

    def recipient(self, frame: bytes) -> str | None:
        """Who is to get a frame; None for all."""
        return frame.identity if isinstance(frame, _Addressed) else self._remote_identity
