"""The requests that wait for their responses.

Each request has a future and no task of its own; one timer serves all requests of a session.
"""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from agent_session_protocol.agent_session_pb2 import SessionRequest, SessionResponse

from .errors import RequestTimedOut

_RUN: Final = "run_input"

# Deadlines this close together are met together, so that thousands of them are not thousands of
# looks through the table. In seconds.
_GRAIN: Final = 0.01

# No count of requests is longer, and Python refuses to read numbers of thousands of digits.
_MOST_DIGITS: Final = 20


def is_run(request: SessionRequest) -> bool:
    """Whether a request needs an agent that still talks: an ended session refuses it."""
    return request.WhichOneof("request") == _RUN


# The future of the caller, the request, its timeout and its deadline, both in seconds. A bare tuple,
# as it is made for each request.
_Entry: TypeAlias = tuple[asyncio.Future[SessionResponse], SessionRequest, float, float]


class PendingRequests:
    """The requests of one session.

    Args:
        timeout: how long a response is waited for when the request does not say, in seconds.
    """

    __slots__ = ("_loop", "_timeout", "_prefix", "_count", "_entries", "_timer", "_next_look")

    def __init__(self, timeout: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._timeout = timeout
        # Drivers of one room see each other's responses: their ids must differ.
        self._prefix = secrets.token_hex(4) + "-"
        self._count = 0
        self._entries: dict[str, _Entry] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._next_look = math.inf

    def add(
        self, request: SessionRequest, timeout: float | None
    ) -> asyncio.Future[SessionResponse]:
        """Give a request its id. Returns the future that its response will be set on.

        A future that somebody else ends must be taken out with `remove`.
        """
        self._count = count = self._count + 1
        request.request_id = request_id = self._prefix + str(count)
        # What create_future makes as well, in twice the time.
        future: asyncio.Future[SessionResponse] = asyncio.Future(loop=self._loop)
        if timeout is None:
            timeout = self._timeout
        deadline = self._loop.time() + timeout
        self._entries[request_id] = (future, request, timeout, deadline)
        if deadline < self._next_look:
            self._look_at(deadline)
        return future

    def remove(self, request: SessionRequest) -> None:
        """Forget a request, if it still waits."""
        self._entries.pop(request.request_id, None)

    def resolve(self, response: SessionResponse) -> bool:
        """Hand a response to its request; False if no request ever had its id.

        One that comes late, after a timeout or a cancellation, is let go.
        """
        request_id = response.request_id
        entry = self._entries.pop(request_id, None)
        if entry is None:
            return self._was_ours(request_id)
        if not (future := entry[0]).done():
            future.set_result(response)
        return True

    def fail_all(self, error: Callable[[], Exception]) -> None:
        """End every request with an error of its own."""
        entries, self._entries = self._entries, {}
        for future, *_ in entries.values():
            fail(future, error())
        if self._timer is not None:
            self._timer.cancel()

    def fail_runs(self, error: Callable[[], Exception]) -> None:
        """End every run with an error of its own."""
        runs = [entry for entry in self._entries.values() if is_run(entry[1])]
        for future, request, *_ in runs:
            self.remove(request)
            fail(future, error())

    def _was_ours(self, request_id: str) -> bool:
        number = request_id.removeprefix(self._prefix)
        if number == request_id or not number.isdecimal() or len(number) > _MOST_DIGITS:
            return False
        return 0 < int(number) <= self._count

    def _look_at(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._next_look = when
        self._timer = self._loop.call_at(when, self._look)

    def _look(self) -> None:
        """End the requests whose time is up, and come back for the next one."""
        now = self._loop.time()
        late = [entry for entry in self._entries.values() if entry[3] <= now]
        for future, request, timeout, _ in late:
            self.remove(request)
            fail(future, RequestTimedOut(request.WhichOneof("request"), timeout))
        self._timer, self._next_look = None, math.inf
        first = min((entry[3] for entry in self._entries.values()), default=math.inf)
        if first < self._next_look:
            self._look_at(max(first, now + _GRAIN))


def fail(future: asyncio.Future[Any], error: Exception) -> None:
    """End a future with an error, unless it has ended."""
    if not future.done():
        future.set_exception(error)
