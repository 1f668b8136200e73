"""Transports carry protobuf messages between two peers over TCP, memory or a LiveKit room.

`Transport` is the interface. `TcpTransport`, `MemoryTransport` and `RoomTransport` carry the
messages of any protocol, as a `MessageFormat` describes them; `TcpSessionTransport` and the like
carry agent sessions.
"""

from .base import Receiver, Transport
from .limits import StreamLimits
from .memory import MemoryTransport, memory_transports
from .message_format import MessageFormat
from .correlation import Correlation
from .room.transport import RoomTransport
from .session import (
    SESSION_FORMAT,
    MemorySessionTransport,
    RoomSessionTransport,
    SessionTransport,
    TcpListener,
    TcpSessionTransport,
    listen,
    memory_pair,
)
from .tcp import Listener, TcpTransport, listen_tcp

__all__ = [
    "SESSION_FORMAT",
    "Correlation",
    "Listener",
    "MemorySessionTransport",
    "MemoryTransport",
    "MessageFormat",
    "Receiver",
    "RoomSessionTransport",
    "RoomTransport",
    "SessionTransport",
    "StreamLimits",
    "TcpListener",
    "TcpSessionTransport",
    "TcpTransport",
    "Transport",
    "listen",
    "listen_tcp",
    "memory_pair",
    "memory_transports",
]
