"""The states of a session as a driver sees it.

Each state is a frozen dataclass, so that a type checker can verify that a `match` covers all states.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.enums import close_reason_name

from ..errors import TransportError


@dataclass(frozen=True)
class Ended:
    """The host has sent session_closed.

    Attributes:
        reason: the reason as it was sent, even if this build does not know the number.
        error: the text of the error that ended the session, if there was one.
    """

    reason: pb.CloseReason.ValueType
    error: str | None

    def __repr__(self) -> str:
        return f"Ended(reason={self.reason_name}, error={self.error!r})"

    @property
    def reason_name(self) -> str:
        """The name of the reason in the protocol; CR_UNKNOWN if this build does not know it."""
        return close_reason_name(self.reason)


@dataclass(frozen=True)
class Lost:
    """The connection ended before the host sent session_closed.

    Attributes:
        error: why the transport ended; None after a clean EOF, or if the driver closed it.
        by_driver: whether the driver closed the session.
    """

    error: TransportError | None
    by_driver: bool = False


@dataclass(frozen=True)
class Stalled:
    """The session is connected, but the host did not respond to a ping.

    Attributes:
        waited: how long the driver waited for the response, in seconds.
    """

    waited: float


@dataclass(frozen=True)
class Alive:
    """The session is connected, and the host responded to a ping.

    Attributes:
        round_trip: the time from the ping to the response, in seconds.
    """

    round_trip: float


Outcome: TypeAlias = Ended | Lost
"""How a session ended."""

Status: TypeAlias = Ended | Lost | Stalled | Alive
"""The state of a session."""
