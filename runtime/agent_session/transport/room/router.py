"""Routing of requests and responses in a room with several participants."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Final, Generic

from ..base import M, logger
from ..framing import encode_frame
from ..correlation import Correlation

# Bounds the memory for requests that are never answered.
MAX_ROUTES: Final = 4096


@dataclass
class Route:
    """The recipient of the responses with one request id.

    Attributes:
        identities: the participant that sent requests with this id, once for each request.
        request_id: the id that the participant gave to its request.
    """

    identities: deque[str]
    request_id: str


class Routes:
    """The routes of the requests in flight, at most `MAX_ROUTES`. The oldest is removed first."""

    __slots__ = ("_routes", "_renamed")

    def __init__(self) -> None:
        self._routes: OrderedDict[str, Route] = OrderedDict()
        self._renamed = 0

    def add(self, request_id: str, identity: str) -> str:
        """Adds a request. Returns its id, or a new id if another participant uses the same one."""
        key = self._free_key(request_id, identity)
        if key not in self._routes:
            self._routes[key] = Route(deque(maxlen=MAX_ROUTES), request_id)
        self._routes[key].identities.append(identity)
        if len(self._routes) > MAX_ROUTES:
            self._routes.popitem(last=False)
        return key

    def get(self, key: str) -> Route | None:
        """Returns the route for a response; None if no request has this id."""
        return self._routes.get(key)

    def remove(self, key: str) -> None:
        """Removes the oldest request with this id, once its response is sent."""
        route = self._routes[key]
        route.identities.popleft()
        if not route.identities:
            del self._routes[key]

    def identities(self) -> set[str]:
        """Returns the participants that wait for responses."""
        return {identity for route in self._routes.values() for identity in route.identities}

    def _free_key(self, request_id: str, identity: str) -> str:
        # An empty id is not replaced, since the host must refuse the request.
        key = request_id
        while request_id and key in self._routes and self._routes[key].identities[0] != identity:
            self._renamed += 1
            key = f"{request_id}~{self._renamed}"
        return key


class _AddressedFrame(bytes):
    """A frame for one participant."""

    identity = ""


class Router(Generic[M]):
    """Determines the recipients of a transport's messages.

    Args:
        remote_identity: the recipient of all messages. If None, a response goes to the sender of
            the request, and other messages go to all participants.
        correlation: how responses are matched with requests; None if the protocol has none.
    """

    __slots__ = (
        "_remote_identity",
        "_correlation",
        "_routes",
        "_request_sent",
        "_responders",
        "_responder_ended",
        "_left",
    )

    def __init__(self, remote_identity: str | None, correlation: Correlation | None) -> None:
        self._remote_identity = remote_identity
        # Messages to a single peer need no routing.
        self._correlation = correlation if remote_identity is None else None
        self._routes = Routes()
        # Whether this side sends requests, as a driver does and a host does not.
        self._request_sent = False
        # The participants that have sent messages other than requests, as hosts do.
        self._responders: set[str] = set()
        self._responder_ended = False
        # The participants that left the room while they waited for a response.
        self._left: set[str] = set()

    @property
    def unanswered(self) -> bool:
        """Whether this side sends requests to all, and the participants that answered have ended."""
        return self._request_sent and self._responder_ended and not self._responders

    def ended(self, identity: str) -> None:
        """Records that a participant sends and answers nothing more."""
        self._responders.discard(identity)
        self._responder_ended = True

    def left(self, identity: str) -> None:
        """Records that a participant has left the room."""
        self._responders.discard(identity)
        self._left = (self._left | {identity}) & self._routes.identities()

    def left_after(self, key: str) -> str | None:
        """Returns the participant that left the room after it had sent a request, or None."""
        route = self._routes.get(key)
        if route is None or route.identities[0] not in self._left:
            return None
        return route.identities[0]

    def received(self, message: M, identity: str) -> None:
        """Records the sender of a request. Replaces the request id if it is already in use."""
        correlation = self._correlation
        if correlation is None:
            return
        if (request := correlation.request_in(message)) is None:
            self._responders.add(identity)
            return
        self._left.discard(identity)
        request_id: str = getattr(request, correlation.request_id)
        setattr(request, correlation.request_id, self._routes.add(request_id, identity))

    def expect_response(self, response: M, identity: str) -> None:
        """Records a participant as the recipient of a response to a request that was not received.

        Gives the response another id if it must have one.
        """
        correlation = self._correlation
        if correlation is not None:
            part = correlation.response_in(response)
            request_id: str = getattr(part, correlation.request_id)
            setattr(part, correlation.request_id, self._routes.add(request_id, identity))

    def encode(self, message: M, limit: int) -> bytes | None:
        """Returns the frame of a message; None if it is a response to an unknown request.

        Raises as `encode_frame` does. The request can then still be answered.
        """
        correlation = self._correlation
        if correlation is None:
            return encode_frame(message, limit)
        if (response := correlation.response_in(message)) is None:
            if not self._request_sent:
                self._request_sent = correlation.request_in(message) is not None
            return encode_frame(message, limit)
        key: str = getattr(response, correlation.request_id)
        route = self._routes.get(key)
        if route is None:
            logger.error("a response was dropped: no request has its request id")
            return None
        if route.request_id != key:
            original, message = message, type(message)()
            message.CopyFrom(original)
            response = correlation.response_in(message)
            setattr(response, correlation.request_id, route.request_id)
        frame = _AddressedFrame(encode_frame(message, limit))
        frame.identity = route.identities[0]
        self._routes.remove(key)
        return frame

    def recipient(self, frame: bytes) -> str | None:
        """Returns the identity of a frame's recipient; None for all participants.

        A hidden participant sends without an identity, so that it can only be reached with all.
        """
        if isinstance(frame, _AddressedFrame):
            return frame.identity or None
        return self._remote_identity
