"""Two transports joined in memory, for tests and for agent and driver in one process.

Comes in: nothing. Goes out: a connected pair. Messages pass as bytes, through the same codec,
queues and limits as over a socket; only the socket is replaced.
"""

from __future__ import annotations

import asyncio

from ..errors import TransportClosed
from .limits import DEFAULT_LIMITS, StreamLimits
from .stream import StreamTransport

_HIGH, _LOW = 1 << 16, 1 << 14


class MemorySessionTransport(StreamTransport):
    """One end of a pair; connected from the start."""

    __slots__ = ()

    async def start(self) -> None:
        if self.closed:
            raise TransportClosed(self.reason)


def memory_pair(
    limits: StreamLimits = DEFAULT_LIMITS, *, chunk: int = 1 << 16
) -> tuple[MemorySessionTransport, MemorySessionTransport]:
    """Two connected transports; what one sends, the other receives. Needs a running loop.

    Args:
        limits: what each may take.
        chunk: how many bytes arrive at a time at most; 1 puts a reader to the test.
    """
    ends = MemorySessionTransport(limits), MemorySessionTransport(limits)
    pipes = _Pipe(ends[0], chunk), _Pipe(ends[1], chunk)
    for pipe, other, end in zip(pipes, reversed(pipes), ends, strict=True):
        pipe.peer = other
        end.connection_made(pipe)
    return ends


class _Pipe(asyncio.Transport):
    """Stands in for a socket: what is written to it, its peer's protocol receives."""

    peer: _Pipe  # set when both exist

    def __init__(self, protocol: asyncio.Protocol, chunk: int) -> None:
        super().__init__()
        self._loop = asyncio.get_running_loop()
        self._protocol = protocol
        self._chunk = chunk
        self._buffer = bytearray()
        self._high, self._low = _HIGH, _LOW
        self._eof = False  # no more writes
        self._eof_told = False
        self._closing = False
        self._lost = False
        self._reading = True
        self._paused = False  # the protocol was asked to stop writing
        self._pumping = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._eof or self._closing:
            raise RuntimeError("a write after the end")
        self._buffer += data
        self._pause()
        self._wake()

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self._eof = True
        self._wake()

    def close(self) -> None:
        self._closing = True
        self._wake()

    def abort(self) -> None:
        self._buffer.clear()
        self.close()

    def is_closing(self) -> bool:
        return self._closing

    def get_write_buffer_size(self) -> int:
        return len(self._buffer)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._high = _HIGH if high is None else high
        self._low = _LOW if low is None else low
        self._pause()

    def pause_reading(self) -> None:
        self._reading = False

    def resume_reading(self) -> None:
        self._reading = True
        self.peer._wake()

    def _wake(self) -> None:
        if not self._pumping:
            self._pumping = True
            self._loop.call_soon(self._pump)

    def _pump(self) -> None:
        """Move one chunk, or the end, to the peer."""
        self._pumping = False
        peer = self.peer
        if self._buffer and peer._lost:
            self._buffer.clear()  # as a socket swallows what its peer will not read
        if self._buffer and (peer._reading or peer._closing):
            data = bytes(self._buffer[: self._chunk])
            del self._buffer[: self._chunk]
            if not peer._closing:
                peer._protocol.data_received(data)
            self._resume()
        if self._buffer:
            if peer._reading or peer._closing:
                self._wake()
            return
        self._end()

    def _pause(self) -> None:
        if not self._paused and len(self._buffer) > self._high:
            self._paused = True
            self._protocol.pause_writing()

    def _resume(self) -> None:
        if self._paused and len(self._buffer) <= self._low and not self._lost:
            self._paused = False
            self._protocol.resume_writing()

    def _end(self) -> None:
        """All is moved: tell the peer the end, and this side that its close is done."""
        peer = self.peer
        if (self._eof or self._closing) and not self._eof_told and (peer._reading or peer._closing):
            self._eof_told = True
            if not peer._closing and not peer._protocol.eof_received():
                peer.close()
        if self._closing and not self._lost:
            self._lost = True
            self._protocol.connection_lost(None)
