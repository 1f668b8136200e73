"""A host that is only a socket, and messages of a newer protocol that no peer knows."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from agent_session_protocol import agent_session_pb2 as pb

# A request with the id r-99 and the unknown arm 99, an empty length-delimited field. Its key is
# 99 << 3 | 2 = 794, as a varint 9a 06.
UNKNOWN_REQUEST = b"\x0a\x04r-99\x9a\x06\x00".hex()
# An event with the arm 99.
UNKNOWN_EVENT = b"\x9a\x06\x00"

_HEADER = struct.Struct(">I")
_TIMEOUT = 30.0


class RawHost:
    """Sends and receives frames."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._stream = connection.makefile("rb")

    def send(self, message: pb.AgentSessionMessage) -> None:
        content = message.SerializeToString()
        self._connection.sendall(_HEADER.pack(len(content)) + content)

    def request(self) -> pb.SessionRequest:
        """Returns the next request of the driver."""
        (length,) = _HEADER.unpack(self._stream.read(_HEADER.size))
        return pb.AgentSessionMessage.FromString(self._stream.read(length)).request

    def close(self) -> None:
        self._stream.close()
        self._connection.close()


@contextmanager
def raw_host(port: int) -> Iterator[RawHost]:
    """Yields a host that is connected to a driver."""
    host = RawHost(socket.create_connection(("127.0.0.1", port), _TIMEOUT))
    try:
        yield host
    finally:
        host.close()
