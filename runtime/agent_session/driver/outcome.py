"""The states of a session as a driver sees it.

They are frozen values, so that a type checker can verify that a `match` covers all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.enums import close_reason_name

from ..errors import TransportError


@dataclass(frozen=True)
class Ended:
    """The host said that the session is over.

    Attributes:
        reason: why, as it was sent; a number that this build does not know stays what it is.
        error: the text of the error that ended it, if one did.
    """

    reason: pb.CloseReason.ValueType
    error: str | None

    def __repr__(self) -> str:
        return f"Ended(reason={self.reason_name}, error={self.error!r})"

    @property
    def reason_name(self) -> str:
        """The reason's published name, such as CR_COMPLETED; CR_UNKNOWN for one not known."""
        return close_reason_name(self.reason)


@dataclass(frozen=True)
class Lost:
    """The connection is gone, and the host had not said that the session is over.

    Attributes:
        error: why the transport ended; None after a clean EOF, or a close of this side.
        by_driver: whether this side closed it.
    """

    error: TransportError | None
    by_driver: bool = False


@dataclass(frozen=True)
class Stalled:
    """Connected, but a ping was not answered.

    Attributes:
        waited: for how many seconds.
    """

    waited: float


@dataclass(frozen=True)
class Alive:
    """Connected, and a ping was answered.

    Attributes:
        round_trip: seconds from the ping to its answer.
    """

    round_trip: float


Outcome: TypeAlias = Ended | Lost
"""How a session came to its end."""

Status: TypeAlias = Ended | Lost | Stalled | Alive
"""How a session is."""
