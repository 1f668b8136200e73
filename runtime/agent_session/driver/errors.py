"""What can go wrong with a session beyond its transport, by name.

Comes in: facts about a request or a session. Goes out: an error that tells them, and never what
was said in the session, so that it can be logged.
"""

from __future__ import annotations

from ..errors import TransportError
from .outcome import Ended


class SessionError(Exception):
    """The root of a driver's errors that are no refusal of the host and no fault of one send."""


class RequestTimedOut(SessionError, TimeoutError):
    """No response came in time. The host may still be at work on the request.

    Attributes:
        request: the request's arm; None if this build does not know it.
        timeout: how long the response was waited for, in seconds.
    """

    def __init__(self, request: str | None, timeout: float) -> None:
        super().__init__(f"no response to {request or 'an unknown request'} within {timeout:g} s")
        self.request = request
        self.timeout = timeout


class NotReady(SessionError, TimeoutError):
    """The transport is connected, but nobody answered a ping.

    Attributes:
        timeout: how long was waited for an answer, in seconds.
    """

    def __init__(self, timeout: float) -> None:
        super().__init__(f"nobody answered a ping within {timeout:g} s")
        self.timeout = timeout


class SessionEnded(SessionError):
    """A run that comes to nothing, as the host said that the session is over.

    Attributes:
        outcome: why it is over.
    """

    def __init__(self, outcome: Ended) -> None:
        super().__init__(f"the session has ended: {outcome.reason_name}")
        self.outcome = outcome


class SessionLost(SessionError):
    """The connection is gone, and with it the response to the request.

    Attributes:
        reason: why the transport ended; None after a clean EOF.
    """

    def __init__(self, reason: TransportError | None) -> None:
        why = "the peer is done" if reason is None else str(reason)
        super().__init__(f"the connection is gone: {why}")
        self.reason = reason
        self.__cause__ = reason


class DriverClosed(SessionError):
    """This side closed the session, and the request has no response."""

    def __init__(self) -> None:
        super().__init__("the session was closed by its driver")


class EventsMissed(SessionError):
    """An iterator over events was read too slowly. It can be read on, behind the gap.

    Attributes:
        count: how many events are missing at this place.
    """

    def __init__(self, count: int) -> None:
        super().__init__(f"{count} events were missed, as they were not read in time")
        self.count = count
