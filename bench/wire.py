"""The framing of the protocol on an `asyncio.Protocol`, for the bare peers of the benchmarks.

It has no limits, errors or flow control. Frames are written in the same batches as those of the
runtime's transports, so that a figure compares the work of the peers and not the number of writes.
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
    """Returns a message with its header."""
    data = message.SerializeToString()
    return HEADER.pack(len(data)) + data


def request(request_id: str, arm: str) -> bytes:
    """Returns the frame of a request without fields."""
    message = pb.AgentSessionMessage()
    message.request.request_id = request_id
    getattr(message.request, arm).SetInParent()
    return framed(message)


# The bytes of the first write of a tick, and of the writes after it.
FIRST_BATCH, BATCH = 1 << 9, 1 << 16


class Bare(asyncio.Protocol):
    """Passes the frames of each chunk to a function, which returns the bytes to write at once."""

    def __init__(self, take: Callable[[list[bytes]], bytes]) -> None:
        self.transport: asyncio.Transport
        self.connected = asyncio.get_running_loop().create_future()
        self.lost = asyncio.get_running_loop().create_future()
        self._take = take
        self._buffer = b""
        self._queue: list[bytes] = []
        self._queued = 0
        self._batch = FIRST_BATCH
        self._flush_due = False
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.connected.set_result(None)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._flush_due = True
        answer = self._take(list(self._frames()))
        if answer:
            self.transport.write(answer)
        if self._flush_due:
            self._flush()

    def send(self, frame: bytes) -> None:
        """Queues a frame until a batch is full or the tick ends."""
        self._queue.append(frame)
        self._queued += len(frame)
        if self._queued >= self._batch:
            self._flush()
            self._batch = BATCH
        elif not self._flush_due:
            self._flush_due = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._flush_due = False
        self._batch = FIRST_BATCH
        if self._queue:
            self.transport.write(b"".join(self._queue))
            self._queue.clear()
            self._queued = 0

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
