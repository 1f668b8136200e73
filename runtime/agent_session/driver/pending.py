"""The requests that wait for their responses.

Each request has a future and no task of its own; one timer serves all requests of a session.
"""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from agent_session_protocol.agent_session_pb2 import SessionRequest, SessionResponse

from ..timeouts import check_timeouts
from .errors import RequestTimedOut

_RUN: Final = "run_input"

# Requests that expire within this time, in seconds, are handled together, since each run of the
# timer searches the whole table.
_TIMER_RESOLUTION: Final = 0.01

# The largest number of digits in a request count. Python refuses to parse much longer numbers.
_MAX_DIGITS: Final = 20


def is_run(request: SessionRequest) -> bool:
    """Reports whether a request is a run, which a session that has ended refuses."""
    return request.WhichOneof("request") == _RUN


# The future of the caller, the request, its timeout and its deadline, both in seconds. A tuple,
# since it is faster than a class.
_Entry: TypeAlias = tuple[asyncio.Future[SessionResponse], SessionRequest, float, float]


class PendingRequests:
    """The pending requests of one session.

    Args:
        timeout: how long to wait for a response, in seconds, unless the request says otherwise.
    """

    __slots__ = (
        "_loop",
        "_time",
        "_timeout",
        "_prefix",
        "_count",
        "_entries",
        "_timer",
        "_timer_due",
    )

    def __init__(self, timeout: float) -> None:
        self._loop = loop = asyncio.get_running_loop()
        # What asyncio's own event loops call, without a call of their method for each request.
        own = getattr(type(loop), "time", None) is asyncio.BaseEventLoop.time
        self._time = time.monotonic if own else loop.time
        self._timeout = timeout
        # The ids of all drivers in a room must differ, since each receives all responses.
        self._prefix = secrets.token_hex(4) + "-"
        self._count = 0
        self._entries: dict[str, _Entry] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._timer_due = math.inf

    def add(
        self, request: SessionRequest, timeout: float | None
    ) -> asyncio.Future[SessionResponse]:
        """Adds a request, and sets its id. Returns the future of its response.

        If the caller cancels the future, it must call `remove`.

        Raises:
            ValueError: the timeout is NaN.
        """
        if timeout is None:
            timeout = self._timeout
        elif timeout != timeout:
            check_timeouts(timeout=timeout)
        self._count = count = self._count + 1
        request.request_id = request_id = self._prefix + str(count)
        # Takes half the time of `loop.create_future()`.
        future: asyncio.Future[SessionResponse] = asyncio.Future(loop=self._loop)
        deadline = self._time() + timeout
        self._entries[request_id] = (future, request, timeout, deadline)
        if deadline < self._timer_due:
            self._set_timer(deadline)
        return future

    def remove(self, request: SessionRequest) -> None:
        """Removes a request, if it is still pending."""
        self._entries.pop(request.request_id, None)

    def resolve(self, response: SessionResponse) -> bool:
        """Passes a response to its request. Returns False if no request ever had its id.

        A response that arrives after a timeout or a cancellation is ignored.
        """
        request_id = response.request_id
        entry = self._entries.pop(request_id, None)
        if entry is None:
            return self._is_used_id(request_id)
        if not (future := entry[0]).done():
            future.set_result(response)
        return True

    def fail_all(self, error: Callable[[], Exception]) -> None:
        """Fails all requests, each with a new error."""
        entries, self._entries = self._entries, {}
        for future, *_ in entries.values():
            fail(future, error())
        if self._timer is not None:
            self._timer.cancel()

    def fail_runs(self, error: Callable[[], Exception]) -> None:
        """Fails all runs, each with a new error."""
        runs = [entry for entry in self._entries.values() if is_run(entry[1])]
        for future, request, *_ in runs:
            self.remove(request)
            fail(future, error())

    def _is_used_id(self, request_id: str) -> bool:
        """Reports whether a request of this session had an id."""
        number = request_id.removeprefix(self._prefix)
        if number == request_id or not number.isdecimal() or len(number) > _MAX_DIGITS:
            return False
        return 0 < int(number) <= self._count

    def _set_timer(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_due = when
        self._timer = self._loop.call_at(when, self._expire)

    def _expire(self) -> None:
        """Fails the requests whose deadline has passed, and sets the timer for the next one."""
        now = self._time()
        expired = [entry for entry in self._entries.values() if entry[3] <= now]
        for future, request, timeout, _ in expired:
            self.remove(request)
            fail(future, RequestTimedOut(request.WhichOneof("request"), timeout))
        self._timer, self._timer_due = None, math.inf
        next_deadline = min((entry[3] for entry in self._entries.values()), default=math.inf)
        if next_deadline < self._timer_due:
            self._set_timer(max(next_deadline, now + _TIMER_RESOLUTION))


def fail(future: asyncio.Future[Any], error: Exception) -> None:
    """Fails a future with an error, unless it is done."""
    if not future.done():
        future.set_exception(error)
