"""Connected pairs of TCP transports, and peers that are plain sockets."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agent_session import StreamLimits, TcpSessionTransport, listen

QUICK = StreamLimits(close_timeout=0.3)


@asynccontextmanager
async def pair(
    limits: StreamLimits = QUICK,
) -> AsyncIterator[tuple[TcpSessionTransport, TcpSessionTransport]]:
    """Yields a transport of a listener, and the transport that has connected to it."""
    async with await listen(limits=limits) as listener:
        async with TcpSessionTransport(listener.host, listener.port, limits=limits) as agent:
            async with await listener.accept() as driver:
                yield driver, agent


@asynccontextmanager
async def raw_peer(
    limits: StreamLimits = QUICK,
) -> AsyncIterator[tuple[TcpSessionTransport, socket.socket]]:
    """Yields a transport, and a plain socket as its peer."""
    async with await listen(limits=limits) as listener:
        with socket.create_connection((listener.host, listener.port), timeout=10) as peer:
            async with await listener.accept() as driver:
                yield driver, peer


def read_to_end(peer: socket.socket) -> bytes:
    chunks = list(iter(lambda: peer.recv(1 << 16), b""))
    return b"".join(chunks)
