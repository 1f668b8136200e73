"""Two transports connected in memory, for tests and for two peers in one process.

Messages pass as bytes, through the same codec, buffers and limits as over a socket.
"""

from __future__ import annotations

import asyncio
from typing import Any

from ..errors import TransportClosed
from .base import M
from .limits import DEFAULT_LIMITS, StreamLimits
from .message_format import MessageFormat
from .stream import StreamTransport

_HIGH, _LOW = 1 << 16, 1 << 14


class MemoryTransport(StreamTransport[M]):
    """One end of a connected pair. Made by `memory_transports`."""

    __slots__ = ()

    async def start(self) -> None:
        if self.closed:
            raise TransportClosed(self.reason)


def memory_transports(
    message_format: MessageFormat[M],
    limits: StreamLimits = DEFAULT_LIMITS,
    *,
    chunk: int = 1 << 16,
) -> tuple[MemoryTransport[M], MemoryTransport[M]]:
    """Returns two transports; each receives what the other sends. Needs a running event loop.

    Args:
        message_format: the messages that the transports carry.
        limits: the limits of each.
        chunk: the largest number of bytes that are delivered at a time.
    """
    first = MemoryTransport(message_format, limits)
    second = MemoryTransport(message_format, limits)
    connect(first, second, chunk)
    return first, second


def connect(first: MemoryTransport[Any], second: MemoryTransport[Any], chunk: int) -> None:
    """Connects two new transports with each other."""
    pipes = _Pipe(first, chunk), _Pipe(second, chunk)
    pipes[0].peer, pipes[1].peer = pipes[1], pipes[0]
    for pipe, end in zip(pipes, (first, second), strict=True):
        end.connection_made(pipe)


class _Pipe(asyncio.Transport):
    """An `asyncio.Transport` that passes what is written to it to the protocol of its peer."""

    peer: _Pipe  # set by `connect`

    def __init__(self, protocol: asyncio.Protocol, chunk: int) -> None:
        super().__init__()
        self._loop = asyncio.get_running_loop()
        self._protocol = protocol
        self._chunk = chunk
        self._buffer = bytearray()
        self._high, self._low = _HIGH, _LOW
        self._eof = False  # no more writes are allowed
        self._eof_delivered = False
        self._closing = False
        self._disconnected = False
        self._reading = True
        self._write_paused = False
        self._move_scheduled = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._eof or self._closing:
            raise RuntimeError("write after EOF or close")
        self._buffer += data
        self._pause_writing()
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
        self._pause_writing()

    def pause_reading(self) -> None:
        self._reading = False

    def resume_reading(self) -> None:
        self._reading = True
        self.peer._wake()

    def _wake(self) -> None:
        if not self._move_scheduled:
            self._move_scheduled = True
            self._loop.call_soon(self._move)

    def _move(self) -> None:
        """Delivers one chunk, or the end, to the peer."""
        self._move_scheduled = False
        peer = self.peer
        if self._buffer and peer._disconnected:
            self._buffer.clear()  # as a socket discards data that its peer will not read
        if self._buffer and (peer._reading or peer._closing):
            data = bytes(self._buffer[: self._chunk])
            del self._buffer[: self._chunk]
            if not peer._closing:
                peer._protocol.data_received(data)
            self._resume_writing()
        if self._buffer:
            if peer._reading or peer._closing:
                self._wake()
            return
        self._deliver_end()

    def _pause_writing(self) -> None:
        if not self._write_paused and len(self._buffer) > self._high:
            self._write_paused = True
            self._protocol.pause_writing()

    def _resume_writing(self) -> None:
        if self._write_paused and len(self._buffer) <= self._low and not self._disconnected:
            self._write_paused = False
            self._protocol.resume_writing()

    def _deliver_end(self) -> None:
        """Delivers EOF to the peer, and completes the close of this side, after all data."""
        peer = self.peer
        if (
            (self._eof or self._closing)
            and not self._eof_delivered
            and (peer._reading or peer._closing)
        ):
            self._eof_delivered = True
            if not peer._closing and not peer._protocol.eof_received():
                peer.close()
        if self._closing and not self._disconnected:
            self._disconnected = True
            self._protocol.connection_lost(None)
