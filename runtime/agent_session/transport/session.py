"""The transports of agent sessions: each transport, bound to `AgentSessionMessage`."""

from __future__ import annotations

import ssl as ssl_module
from typing import TYPE_CHECKING, Final, TypeAlias

from agent_session_protocol.agent_session_pb2 import AgentSessionMessage

from .base import Transport
from .limits import DEFAULT_LIMITS, StreamLimits
from .memory import MemoryTransport, connect
from .message_format import MessageFormat
from .correlation import Correlation
from .room.transport import RoomTransport
from .tcp import Listener, TcpTransport

if TYPE_CHECKING:
    from livekit import rtc

SESSION_FORMAT: Final = MessageFormat(
    AgentSessionMessage,
    correlation=Correlation("request", "response", "request_id", "error"),
    droppable=("audio_input", "audio_output"),
)
"""The messages of agent sessions. Audio may be dropped."""

SESSION_TOPIC: Final = "lk.agent.session"
"""The topic of the byte streams that carry sessions in a room."""

SessionTransport: TypeAlias = Transport[AgentSessionMessage]
"""Any transport that carries an agent session."""


class TcpSessionTransport(TcpTransport[AgentSessionMessage]):
    """An agent session over a TCP connection. See `TcpTransport` for the arguments."""

    __slots__ = ()

    def __init__(
        self,
        host: str,
        port: int,
        *,
        ssl: ssl_module.SSLContext | None = None,
        connect_timeout: float = 10.0,
        limits: StreamLimits = DEFAULT_LIMITS,
    ) -> None:
        super().__init__(
            SESSION_FORMAT, host, port, ssl=ssl, connect_timeout=connect_timeout, limits=limits
        )


TcpListener: TypeAlias = Listener[TcpSessionTransport]
"""Accepts agents. Made by `listen`."""


async def listen(
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    allow_remote: bool = False,
    ssl: ssl_module.SSLContext | None = None,
    max_agents: int | None = 1,
    limits: StreamLimits = DEFAULT_LIMITS,
) -> TcpListener:
    """Listens for agents on a TCP port.

    Args:
        host: the address to listen on.
        port: the port; 0 lets the system choose one.
        allow_remote: required for addresses other than loopback, as there is no authentication.
        ssl: the context for TLS; None for a connection without TLS.
        max_agents: how many agents may be connected at once; None for no limit. Further agents
            are refused.
        limits: the limits of each transport.

    Raises:
        RemoteAddressRefused: the host is not loopback, and `allow_remote` is not set.
        OSError: the address cannot be bound.
    """
    listener = Listener(lambda: TcpSessionTransport(host, port, limits=limits), max_agents)
    await listener.bind(host, port, allow_remote, ssl)
    return listener


class MemorySessionTransport(MemoryTransport[AgentSessionMessage]):
    """One end of a connected pair that carries an agent session. Made by `memory_pair`."""

    __slots__ = ()


def memory_pair(
    limits: StreamLimits = DEFAULT_LIMITS, *, chunk: int = 1 << 16
) -> tuple[MemorySessionTransport, MemorySessionTransport]:
    """Returns two transports; each receives what the other sends. Needs a running event loop.

    Args:
        limits: the limits of each.
        chunk: the largest number of bytes that are delivered at a time.
    """
    first = MemorySessionTransport(SESSION_FORMAT, limits)
    second = MemorySessionTransport(SESSION_FORMAT, limits)
    connect(first, second, chunk)
    return first, second


class RoomSessionTransport(RoomTransport[AgentSessionMessage]):
    """An agent session over the byte streams of a LiveKit room.

    With a remote identity, the transport exchanges messages with that participant. Without one,
    it serves all participants: events go to everyone, and a response goes to the participant that
    sent the request. See `RoomTransport` for the details.

    Args:
        room: the room. Connect it before `start`.
        remote_identity: the identity of the peer; None for all participants.
        limits: the limits of the transport.
    """

    __slots__ = ()

    def __init__(
        self,
        room: rtc.Room,
        remote_identity: str | None = None,
        *,
        limits: StreamLimits = DEFAULT_LIMITS,
    ) -> None:
        super().__init__(
            SESSION_FORMAT,
            room,
            remote_identity,
            topic=SESSION_TOPIC,
            limits=limits,
        )
