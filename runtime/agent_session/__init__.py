"""Hosts and drivers of agent sessions.

`SessionHost` serves the session of an agent; `RemoteSession` is a driver, which sends requests and
receives events. Transports carry the messages of `agent_session_protocol` between the two:

- `TcpSessionTransport` connects to a peer, `listen` accepts connections
- `RoomSessionTransport` uses a LiveKit room; importing it does not import livekit
- `memory_pair` connects two peers in one process
"""

from .errors import (
    AgentSessionError,
    ConnectFailed,
    ConnectionLost,
    FrameError,
    FrameTooLarge,
    ListenerClosed,
    MalformedFrame,
    NotStarted,
    RemoteAddressRefused,
    SlowConsumer,
    SlowReader,
    TopicInUse,
    TransportClosed,
    TransportError,
    TruncatedFrame,
    UnencodableMessage,
)
from .main_task import run
from .transport.framing import MAX_FRAME_SIZE
from .host.host import SessionHost
from .host.adapter import HostedSession, SdkHostRunning, SessionAdapter
from .transport.limits import StreamLimits
from .driver.outcome import Alive, Ended, Lost, Outcome, Stalled, Status
from .driver.session import RemoteSession
from .driver.console import Console
from .driver.events import EventStream, ReceivedEvent
from .driver.errors import (
    DriverClosed,
    EventsMissed,
    NotReady,
    RequestTimedOut,
    SessionEnded,
    SessionError,
    SessionLost,
)
from .transport.base import Receiver
from .transport.session import (
    MemorySessionTransport,
    RoomSessionTransport,
    SessionTransport,
    TcpListener,
    TcpSessionTransport,
    listen,
    memory_pair,
)

__version__ = "0.1.0"

__all__ = [
    "MAX_FRAME_SIZE",
    "AgentSessionError",
    "Alive",
    "ConnectFailed",
    "ConnectionLost",
    "Console",
    "DriverClosed",
    "Ended",
    "EventStream",
    "EventsMissed",
    "FrameError",
    "FrameTooLarge",
    "HostedSession",
    "ListenerClosed",
    "Lost",
    "MalformedFrame",
    "MemorySessionTransport",
    "NotReady",
    "NotStarted",
    "Outcome",
    "ReceivedEvent",
    "Receiver",
    "RemoteAddressRefused",
    "RemoteSession",
    "RequestTimedOut",
    "SdkHostRunning",
    "SessionAdapter",
    "SessionEnded",
    "SessionError",
    "SessionHost",
    "SessionLost",
    "RoomSessionTransport",
    "SessionTransport",
    "SlowConsumer",
    "SlowReader",
    "Stalled",
    "Status",
    "StreamLimits",
    "TcpListener",
    "TcpSessionTransport",
    "TopicInUse",
    "TransportClosed",
    "TransportError",
    "TruncatedFrame",
    "UnencodableMessage",
    "listen",
    "memory_pair",
    "run",
]
