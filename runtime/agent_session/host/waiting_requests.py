"""The queue of the requests that exceed the number that a host handles at a time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import KeysView
from typing import Final

from agent_session_protocol.agent_session_pb2 import SessionRequest

# The memory of a small request beyond its bytes on the wire.
_REQUEST_OVERHEAD: Final = 512


class WaitingRequests:
    """Holds requests in the order of their arrival, up to a number of bytes.

    Args:
        limit: how many bytes the requests may take, each with 512 bytes for its object.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._requests: OrderedDict[str, SessionRequest] = OrderedDict()

    def __len__(self) -> int:
        return len(self._requests)

    @property
    def ids(self) -> KeysView[str]:
        """The ids of the waiting requests, which change with them."""
        return self._requests.keys()

    def put(self, request: SessionRequest) -> bool:
        """Adds a request. Returns False, and does not add it, if there is no space for it."""
        size = _size(request)
        if self._size + size > self._limit:
            return False
        self._size += size
        self._requests[request.request_id] = request
        return True

    def take(self) -> SessionRequest:
        """Removes and returns the oldest request."""
        _, request = self._requests.popitem(last=False)
        self._size -= _size(request)
        return request


def _size(request: SessionRequest) -> int:
    return _REQUEST_OVERHEAD + request.ByteSize()
