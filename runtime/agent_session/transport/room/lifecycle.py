"""The events of a LiveKit room that end a transport or suspend its stall timeouts.

livekit is imported only when a room is used.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...errors import ConnectionLost
from ..base import logger

if TYPE_CHECKING:
    from livekit import rtc


class RoomLifecycle:
    """Listens to the events of a room on behalf of one transport.

    Args:
        room: the room.
        remote_identity: the participant whose disconnect ends the transport; None if only the
            disconnect of the room does.
        listing_timeout: how many seconds a server may take to list the peer in the room, after a
            message of the peer or to the peer. A server does not report a participant that leaves
            before it is listed.
        ended: called with the error that ends the transport, or None for a deliberate disconnect.
            May be called again with a more precise error.
        reconnected: called when the room has reconnected.
        other_left: called with the identity of each other participant that leaves.

    Attributes:
        disconnected: whether the room has emitted "disconnected", which is its last event.
    """

    __slots__ = (
        "disconnected",
        "_room",
        "_remote_identity",
        "_listing_timeout",
        "_ended",
        "_reconnected",
        "_other_left",
        "_received",
        "_sent",
        "_listing_timer",
    )

    def __init__(
        self,
        room: rtc.Room,
        remote_identity: str | None,
        listing_timeout: float,
        ended: Callable[[ConnectionLost | None], None],
        reconnected: Callable[[], None],
        other_left: Callable[[str], None],
    ) -> None:
        self.disconnected = False
        self._room = room
        self._remote_identity = remote_identity
        self._listing_timeout = listing_timeout
        self._ended = ended
        self._reconnected = reconnected
        self._other_left = other_left
        self._received = False
        self._sent = False
        self._listing_timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Starts to listen."""
        self._room.on("participant_disconnected", self._participant_disconnected)
        self._room.on("connection_state_changed", self._state_changed)
        self._room.on("disconnected", self._room_disconnected)
        self._room.on("reconnected", self._reconnected)

    def stop(self) -> None:
        """Stops listening."""
        self._room.off("participant_disconnected", self._participant_disconnected)
        self._room.off("connection_state_changed", self._state_changed)
        self._room.off("disconnected", self._room_disconnected)
        self._room.off("reconnected", self._reconnected)
        if self._listing_timer is not None:
            self._listing_timer.cancel()

    def peer_sent(self) -> None:
        """Records that the peer has sent a message: the transport ends unless it gets listed."""
        if not self._received:
            self._received = True
            self._check_later()

    def sent_to_peer(self) -> None:
        """Records that a message is sent to the peer: a warning follows unless it gets listed.

        LiveKit drops messages to participants that are not in the room, without an error.
        """
        if not self._sent:
            self._sent = True
            if not self._received:
                self._check_later()

    def is_reconnecting(self) -> bool:
        """Reports whether the room has lost its connection and is reconnecting."""
        from livekit.rtc import ConnectionState

        return self._room.connection_state == ConnectionState.CONN_RECONNECTING

    def _check_later(self) -> None:
        if self._listing_timer is not None:
            self._listing_timer.cancel()
        loop = asyncio.get_running_loop()
        self._listing_timer = loop.call_later(self._listing_timeout, self._check_listed)

    def _check_listed(self) -> None:
        if self.is_reconnecting():
            self._check_later()
        elif self._remote_identity in self._room.remote_participants:
            pass
        elif self._received:
            self._ended(ConnectionLost("the peer left before it was listed in the room"))
        else:
            logger.warning(
                "%r is not listed in the room: messages sent to it are lost", self._remote_identity
            )

    def _participant_disconnected(self, participant: rtc.RemoteParticipant) -> None:
        if participant.identity == self._remote_identity:
            self._ended(_fault("the peer left", participant.disconnect_reason))
        else:
            self._other_left(participant.identity)

    def _state_changed(self, state: rtc.ConnectionState.ValueType) -> None:
        """Reports a local disconnect, after which livekit does not emit "disconnected"."""
        from livekit.rtc import ConnectionState

        if state == ConnectionState.CONN_DISCONNECTED:
            self._ended(None)

    def _room_disconnected(self, reason: rtc.DisconnectReason.ValueType) -> None:
        self.disconnected = True
        self._ended(_fault("the room disconnected", reason))


def _fault(what: str, reason: rtc.DisconnectReason.ValueType | None) -> ConnectionLost | None:
    """Returns the error for a disconnect; None if it was deliberate.

    Args:
        what: what has disconnected, for the error message.
        reason: LiveKit's reason; None if it is unknown, as when another connection with the same
            identity replaces this one.
    """
    from livekit.rtc import DisconnectReason

    deliberate = (
        DisconnectReason.CLIENT_INITIATED,
        DisconnectReason.ROOM_DELETED,
        DisconnectReason.ROOM_CLOSED,
    )
    if reason in deliberate:
        return None
    name = "for an unknown reason" if reason is None else DisconnectReason.Name(reason)
    return ConnectionLost(f"{what}: {name}")
