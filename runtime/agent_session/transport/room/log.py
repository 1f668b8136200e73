"""What a transport over a room tells the log, and how often.

Comes in: refused messages, and participants who are not the peer or not there. Goes out: lines
in the log, few enough that no participant can flood it, and never what somebody sent.
"""

from __future__ import annotations

from ...errors import TransportError
from ..base import logger


class RoomLog:
    """The log of one transport.

    Attributes:
        refused: how many messages were refused so far.
    """

    __slots__ = ("refused", "_strangers", "_absent")

    def __init__(self) -> None:
        self.refused = 0
        self._strangers: set[str] = set()
        self._absent: set[str] = set()

    def tell_refused(self, identity: str, error: TransportError) -> None:
        """A message is refused: the first few are told each, then when their number doubles."""
        self.refused += 1
        if self.refused <= 8 or self.refused & (self.refused - 1) == 0:
            # What broke a stream is the room's own text; what protobuf says may quote the message.
            cause = f" ({error.__cause__})" if isinstance(error.__cause__, ConnectionError) else ""
            logger.warning("%s%s; refused, %d so far of %r", error, cause, self.refused, identity)

    def tell_stranger(self, identity: str) -> None:
        """Somebody else than the peer sends."""
        if identity not in self._strangers:
            self._strangers.add(identity)
            logger.warning("messages of %r are ignored: it is not the peer", identity)

    def tell_absent(self, identity: str) -> None:
        """LiveKit drops what is sent to somebody who is not there, and says nothing."""
        if identity not in self._absent:
            self._absent.add(identity)
            logger.warning("%r is not in the room, so far as is known: messages get lost", identity)
