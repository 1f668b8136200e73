"""Agent sessions, observed and driven from outside.

Transports carry the messages of `agent_session_protocol` between two peers:
- `TcpSessionTransport` connects to a peer, `listen` waits for one
- `memory_pair` joins two peers in one process
"""

from .errors import (
    ConnectFailed,
    ConnectionLost,
    FrameError,
    FrameTooLarge,
    ListenerClosed,
    MalformedFrame,
    NotStarted,
    RemoteAddressRefused,
    SlowConsumer,
    TransportClosed,
    TransportError,
    TruncatedFrame,
    UnencodableMessage,
)
from .framing import MAX_FRAME_SIZE
from .limits import StreamLimits
from .memory import MemorySessionTransport, memory_pair
from .tcp import TcpListener, TcpSessionTransport, listen
from .transport import Receiver, SessionTransport

__all__ = [
    "MAX_FRAME_SIZE",
    "ConnectFailed",
    "ConnectionLost",
    "FrameError",
    "FrameTooLarge",
    "ListenerClosed",
    "MalformedFrame",
    "MemorySessionTransport",
    "NotStarted",
    "Receiver",
    "RemoteAddressRefused",
    "SessionTransport",
    "SlowConsumer",
    "StreamLimits",
    "TcpListener",
    "TcpSessionTransport",
    "TransportClosed",
    "TransportError",
    "TruncatedFrame",
    "UnencodableMessage",
    "listen",
    "memory_pair",
]
