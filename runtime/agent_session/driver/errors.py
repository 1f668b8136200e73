"""Errors that a driver's session raises, in addition to those of its transport.

The text of an error never contains text of the conversation, so it can be logged.
"""

from __future__ import annotations

from ..errors import AgentSessionError, TransportError
from .outcome import Ended


class SessionError(AgentSessionError):
    """The root of the errors of a driver's session.

    Error responses of the host raise `RequestError` of the generated package instead.
    """


class RequestTimedOut(SessionError, TimeoutError):
    """No response arrived in time. The host may still be working on the request.

    Attributes:
        request: the name of the request; None if this build does not know it.
        timeout: how long the session waited for the response, in seconds.
    """

    def __init__(self, request: str | None, timeout: float) -> None:
        super().__init__(f"no response to {request or 'an unknown request'} within {timeout:g} s")
        self.request = request
        self.timeout = timeout


class NotReady(SessionError, TimeoutError):
    """The transport is connected, but no ping was answered in time.

    Attributes:
        timeout: how long the session waited for an answer, in seconds.
    """

    def __init__(self, timeout: float) -> None:
        super().__init__(f"no ping was answered within {timeout:g} s")
        self.timeout = timeout


class SessionEnded(SessionError):
    """A run has no result because the host reported that the session has ended.

    Attributes:
        outcome: why the session ended.
    """

    def __init__(self, outcome: Ended) -> None:
        super().__init__(f"the session has ended: {outcome.reason_name}")
        self.outcome = outcome


class SessionLost(SessionError):
    """The connection ended before the response arrived.

    Attributes:
        reason: why the transport ended; None after a clean EOF.
    """

    def __init__(self, reason: TransportError | None) -> None:
        why = "the peer closed it" if reason is None else str(reason)
        super().__init__(f"the connection was lost: {why}")
        self.reason = reason
        self.__cause__ = reason


class DriverClosed(SessionError):
    """The driver closed the session, so the request has no response."""

    def __init__(self) -> None:
        super().__init__("the session was closed by its driver")


class EventsMissed(SessionError):
    """An iterator over events was read too slowly and dropped events.

    Iterating again continues after the gap.

    Attributes:
        count: the number of events that were dropped at this place.
    """

    def __init__(self, count: int) -> None:
        super().__init__(f"{count} events were missed because they were not read in time")
        self.count = count
