"""The least that speaks the protocol: what every figure of the runtime is held against.

Comes in: bytes of a socket. Goes out: frames, as many as are complete. Built on
`asyncio.Protocol` and protobuf alone, with nothing that a product would need besides.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable, Iterator

from agent_session_protocol import agent_session_pb2 as pb

HEADER = struct.Struct(">I")

# The first byte of an AgentSessionMessage that holds an event, field 3, or a response, field 5.
EVENT, RESPONSE = 0x1A, 0x2A


def framed(message: pb.AgentSessionMessage) -> bytes:
    """Return a message with its header."""
    data = message.SerializeToString()
    return HEADER.pack(len(data)) + data


def request(request_id: str, arm: str) -> bytes:
    """Return the frame of a request without fields."""
    message = pb.AgentSessionMessage()
    message.request.request_id = request_id
    getattr(message.request, arm).SetInParent()
    return framed(message)


class Bare(asyncio.Protocol):
    """Cuts frames, and gives each batch of them to a function, which returns what to write."""

    def __init__(self, take: Callable[[list[bytes]], bytes]) -> None:
        self.transport: asyncio.Transport
        self.connected = asyncio.get_running_loop().create_future()
        self.lost = asyncio.get_running_loop().create_future()
        self._take = take
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.connected.set_result(None)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        answer = self._take(list(self._frames()))
        if answer:
            self.transport.write(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.set_result(None)

    def _frames(self) -> Iterator[bytes]:
        buffer, at = self._buffer, 0
        while len(buffer) - at >= 4:
            end = at + 4 + HEADER.unpack_from(buffer, at)[0]
            if end > len(buffer):
                break
            yield buffer[at + 4 : end]
            at = end
        self._buffer = buffer[at:]
