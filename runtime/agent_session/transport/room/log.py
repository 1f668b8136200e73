"""Log entries about the participants of a room, written once for each participant."""

from __future__ import annotations

from ..base import logger


class ParticipantLog:
    """The log entries of one transport. They never contain what a participant sent."""

    __slots__ = ("_ignored",)

    def __init__(self) -> None:
        self._ignored: set[str] = set()

    def log_ignored(self, identity: str) -> None:
        """Logs that messages of a participant are ignored because it is not the peer."""
        if identity not in self._ignored:
            self._ignored.add(identity)
            logger.warning("messages of %r are ignored: it is not the peer", identity)
