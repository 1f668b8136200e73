"""Sessions over TCP: the agent connects, the driver listens.

Comes in: an address. Goes out: transports. The protocol has no authentication on TCP, so a
listener is bound to loopback unless it is told otherwise, and serves one agent at a time.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl as ssl_module
from collections import deque
from typing import Final

from ..errors import ConnectFailed, ListenerClosed, RemoteAddressRefused, TransportClosed
from .limits import DEFAULT_LIMITS, StreamLimits
from .stream import StreamTransport, State
from .base import logger

# A fleet of agents may connect at once.
_BACKLOG: Final = 1024


class TcpSessionTransport(StreamTransport):
    """A session over a TCP connection. Made here, it connects; a listener makes connected ones.

    Args:
        host: where the peer listens.
        port: its port.
        ssl: for TLS, a context.
        connect_timeout: how long `start` takes at most, in seconds.
        limits: what the transport may take.
    """

    __slots__ = ("_host", "_port", "_ssl", "_connect_timeout", "_connecting", "_listener")

    def __init__(
        self,
        host: str,
        port: int,
        *,
        ssl: ssl_module.SSLContext | None = None,
        connect_timeout: float = 10.0,
        limits: StreamLimits = DEFAULT_LIMITS,
    ) -> None:
        super().__init__(limits)
        self._host = host
        self._port = port
        self._ssl = ssl
        self._connect_timeout = connect_timeout
        self._connecting: asyncio.Task[None] | None = None
        self._listener: TcpListener | None = None

    async def start(self) -> None:
        if self._state is State.OPEN:
            return
        if self._state is not State.NEW:
            raise TransportClosed(self.reason)
        self._connecting = asyncio.ensure_future(self._connect())
        try:
            await asyncio.wait_for(self._connecting, self._connect_timeout)
        except asyncio.CancelledError:
            if self.closed:  # it was close that cancelled
                raise TransportClosed from None
            if self._connecting.done():
                self._fail(TransportClosed())  # connected all the same: nobody would close it
            raise
        except asyncio.TimeoutError as error:
            why = f"no connection within {self._connect_timeout} s"
            raise ConnectFailed(f"{self._host}:{self._port}: {why}") from error
        except OSError as error:
            raise ConnectFailed(f"{self._host}:{self._port}: {error}") from error
        finally:
            self._connecting = None

    async def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: self, self._host, self._port, ssl=self._ssl)

    async def close(self, timeout: float | None = None) -> None:
        connecting = self._connecting
        await super().close(timeout)
        if connecting is not None:
            connecting.cancel()
            await asyncio.wait([connecting])

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # asyncio asks for it since Python 3.6; other loops may not.
        connection = transport.get_extra_info("socket")
        if connection is not None:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)
        if self._listener is not None:
            self._listener._connected(self)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._listener is not None:
            self._listener._disconnected(self)


class TcpListener:
    """Waits for agents: iterate over it, or `accept` them one by one. Made by `listen`.

    Attributes:
        host: the address that it is bound to.
        port: the port, chosen by the system if 0 was asked for.
    """

    def __init__(self, max_agents: int | None, limits: StreamLimits) -> None:
        self.host = ""
        self.port = 0
        self._max_agents = max_agents
        self._limits = limits
        self._server: asyncio.Server | None = None
        self._connections: set[TcpSessionTransport] = set()
        self._waiting: deque[TcpSessionTransport] = deque()
        self._news = asyncio.Event()
        self._closed = False

    async def accept(self) -> TcpSessionTransport:
        """The next agent, connected.

        Raises:
            ListenerClosed: the listener is closed, or is while this waits.
        """
        while not self._waiting:
            if self._closed:
                raise ListenerClosed
            self._news.clear()
            await self._news.wait()
        return self._waiting.popleft()

    def __aiter__(self) -> TcpListener:
        return self

    async def __anext__(self) -> TcpSessionTransport:
        try:
            return await self.accept()
        except ListenerClosed:
            raise StopAsyncIteration from None

    async def close(self) -> None:
        """Stop listening. Agents that were accepted stay connected; others are turned away."""
        self._closed = True
        if self._server is not None:
            self._server.close()
        waiting = list(self._waiting)
        self._waiting.clear()
        self._news.set()
        for transport in waiting:
            await transport.close(0)

    async def __aenter__(self) -> TcpListener:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _make_transport(self) -> TcpSessionTransport:
        transport = TcpSessionTransport(self.host, self.port, limits=self._limits)
        transport._listener = self
        return transport

    def _connected(self, transport: TcpSessionTransport) -> None:
        # One that has left, and said something before, keeps its place until it is accepted.
        agents = len(self._connections.union(self._waiting))
        full = self._max_agents is not None and agents >= self._max_agents
        if full or len(self._waiting) >= _BACKLOG or self._closed:
            logger.warning("an agent was turned away: %d are connected", agents)
            transport._abort()
            return
        self._connections.add(transport)
        self._waiting.append(transport)
        self._news.set()

    def _disconnected(self, transport: TcpSessionTransport) -> None:
        self._connections.discard(transport)
        if transport in self._waiting and not transport._inbox.size:
            self._waiting.remove(transport)


async def listen(
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    allow_remote: bool = False,
    ssl: ssl_module.SSLContext | None = None,
    max_agents: int | None = 1,
    limits: StreamLimits = DEFAULT_LIMITS,
) -> TcpListener:
    """Listen for agents.

    Args:
        host: where to listen.
        port: 0 lets the system choose.
        allow_remote: needed for any address but loopback, as whoever reaches it is an agent.
        ssl: for TLS, a context.
        max_agents: how many may be connected at once; None sets no limit. Who comes when it is
            reached is turned away.
        limits: what each transport may take.

    Raises:
        RemoteAddressRefused: the host is not loopback, and `allow_remote` is not set.
        OSError: the address cannot be bound.
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(
        host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    for address in addresses:
        if not allow_remote and not ipaddress.ip_address(address).is_loopback:
            raise RemoteAddressRefused(address)
    listener = TcpListener(max_agents, limits)
    if port == 0:
        del addresses[1:]  # else each address would get a port of its own
    # The addresses that were checked, rather than the name, which could change its mind.
    server = await loop.create_server(
        listener._make_transport, addresses, port, ssl=ssl, backlog=_BACKLOG
    )
    listener._server = server
    listener.host, listener.port = server.sockets[0].getsockname()[:2]
    return listener
