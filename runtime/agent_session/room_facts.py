"""What a LiveKit room tells about its connection and its participants.

Comes in: a room, or the reason that it gives for an end. Goes out: whether it reconnects, and
what such an end is called. livekit is imported when there is a room, and so livekit itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import ConnectionLost

if TYPE_CHECKING:
    from livekit import rtc


def is_reconnecting(room: rtc.Room) -> bool:
    """Whether the room has lost its connection, and is about to get another."""
    from livekit.rtc import ConnectionState

    return room.connection_state == ConnectionState.CONN_RECONNECTING


def fault(what: str, reason: rtc.DisconnectReason.ValueType | None) -> ConnectionLost | None:
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
