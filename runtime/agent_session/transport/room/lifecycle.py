"""What becomes of a LiveKit room, and of the peer in it.

Comes in: the events of a room. Goes out: word of an end, with what is wrong with it, and of a
reconnect. livekit is imported when there is a room, and so livekit itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...errors import ConnectionLost

if TYPE_CHECKING:
    from livekit import rtc


class RoomWatch:
    """Listens to a room for one transport.

    Args:
        room: the room.
        remote_identity: the participant whose leaving is an end; None if nobody's is.
        ended: told what is wrong with an end; None if nothing is. May be told a second end, which
            knows better than the first.
        reconnected: told that the room has another connection.

    Attributes:
        room_gone: whether the room has told all that it will.
    """

    __slots__ = ("room_gone", "_room", "_remote_identity", "_ended", "_reconnected")

    def __init__(
        self,
        room: rtc.Room,
        remote_identity: str | None,
        ended: Callable[[ConnectionLost | None], None],
        reconnected: Callable[[], None],
    ) -> None:
        self.room_gone = False
        self._room = room
        self._remote_identity = remote_identity
        self._ended = ended
        self._reconnected = reconnected

    def start(self) -> None:
        """Listen from now on."""
        self._room.on("participant_disconnected", self._participant_left)
        self._room.on("connection_state_changed", self._state_changed)
        self._room.on("disconnected", self._disconnected)
        self._room.on("reconnected", self._reconnected)

    def stop(self) -> None:
        """Listen no longer."""
        self._room.off("participant_disconnected", self._participant_left)
        self._room.off("connection_state_changed", self._state_changed)
        self._room.off("disconnected", self._disconnected)
        self._room.off("reconnected", self._reconnected)

    def reconnecting(self) -> bool:
        """Whether the room has lost its connection, and is about to get another."""
        from livekit.rtc import ConnectionState

        return self._room.connection_state == ConnectionState.CONN_RECONNECTING

    def _participant_left(self, participant: rtc.RemoteParticipant) -> None:
        if participant.identity == self._remote_identity:
            self._ended(_fault("the peer left", participant.disconnect_reason))

    def _state_changed(self, state: rtc.ConnectionState.ValueType) -> None:
        """The reason follows, but livekit may leave it out if it is disconnected on this side."""
        from livekit.rtc import ConnectionState

        if state == ConnectionState.CONN_DISCONNECTED:
            self._ended(None)

    def _disconnected(self, reason: rtc.DisconnectReason.ValueType) -> None:
        self.room_gone = True
        self._ended(_fault("the room disconnected", reason))


def _fault(what: str, reason: rtc.DisconnectReason.ValueType | None) -> ConnectionLost | None:
    """What is wrong with an end, if anything: somebody may have left, or deleted the room.

    Args:
        what: what has ended.
        reason: why; None if it is not known, as when a connection is replaced by another.
    """
    from livekit.rtc import DisconnectReason

    wanted = (
        DisconnectReason.CLIENT_INITIATED,
        DisconnectReason.ROOM_DELETED,
        DisconnectReason.ROOM_CLOSED,
    )
    if reason in wanted:
        return None
    name = "for an unknown reason" if reason is None else DisconnectReason.Name(reason)
    return ConnectionLost(f"{what}: {name}")
