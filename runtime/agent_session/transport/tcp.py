"""Transports over TCP: one peer listens, the other connects.

There is no authentication, so a listener accepts only loopback addresses unless `allow_remote` is
set.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl as ssl_module
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

from ..errors import ConnectFailed, ListenerClosed, RemoteAddressRefused, TransportClosed
from ..timeouts import check_timeouts
from .base import M, logger
from .buffered import State
from .limits import DEFAULT_LIMITS, StreamLimits
from .message_format import MessageFormat
from .stream import StreamTransport

# How many connections may wait to be accepted.
_BACKLOG: Final = 4096


class TcpTransport(StreamTransport[M]):
    """A transport over a TCP connection.

    `start` connects to a listening peer. The transports that a `Listener` returns are connected.

    Args:
        message_format: the messages that the transport carries.
        host: the address that the peer listens on.
        port: the port that the peer listens on.
        ssl: the context for TLS; None for a connection without TLS.
        connect_timeout: how long `start` takes at most, in seconds.
        limits: the limits of the transport.
    """

    __slots__ = ("_host", "_port", "_ssl", "_connect_timeout", "_connecting", "_listener")

    def __init__(
        self,
        message_format: MessageFormat[M],
        host: str,
        port: int,
        *,
        ssl: ssl_module.SSLContext | None = None,
        connect_timeout: float = 10.0,
        limits: StreamLimits = DEFAULT_LIMITS,
    ) -> None:
        super().__init__(message_format, limits)
        check_timeouts(connect_timeout=connect_timeout)
        self._host = host
        self._port = port
        self._ssl = ssl
        self._connect_timeout = connect_timeout
        self._connecting: asyncio.Task[None] | None = None
        self._listener: Listener[Any] | None = None

    async def start(self) -> None:
        if self._state is State.OPEN:
            return
        if self._state is not State.NEW:
            raise TransportClosed(self.reason)
        self._connecting = asyncio.ensure_future(self._connect())
        try:
            await asyncio.wait_for(self._connecting, self._connect_timeout)
        except asyncio.CancelledError:
            if self.closed:  # cancelled by close
                raise TransportClosed from None
            if self._connecting.done():
                self._fail(TransportClosed())  # it has connected, and nobody would close it
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
        # asyncio sets TCP_NODELAY by default; other event loops may not.
        connection = transport.get_extra_info("socket")
        if connection is not None:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)
        if self._listener is not None:
            self._listener._add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._listener is not None:
            self._listener._remove(self)


T = TypeVar("T", bound=TcpTransport[Any])


class Listener(Generic[T]):
    """Accepts connections. Made by `listen_tcp` or `listen`.

    Call `accept`, or iterate over the listener, to receive connected transports.

    Args:
        new_transport: returns the transport for a new connection.
        max_connections: how many peers may be connected at once; None for no limit.

    Attributes:
        host: the address that the listener is bound to.
        port: the port that the listener is bound to.
    """

    def __init__(self, new_transport: Callable[[], T], max_connections: int | None) -> None:
        self.host = ""
        self.port = 0
        self._new_transport = new_transport
        self._max_connections = max_connections
        self._server: asyncio.Server | None = None
        self._connections: set[T] = set()
        # In the order of their arrival. A dict, so that each is removed in constant time.
        self._waiting: OrderedDict[T, None] = OrderedDict()
        self._changed = asyncio.Event()
        self._closed = False

    async def bind(
        self, host: str, port: int, allow_remote: bool, ssl: ssl_module.SSLContext | None
    ) -> None:
        """Starts to listen. The arguments and errors are those of `listen_tcp`."""
        loop = asyncio.get_running_loop()
        addresses = await _resolve(host, port)
        for address in addresses:
            if not allow_remote and not ipaddress.ip_address(address).is_loopback:
                raise RemoteAddressRefused(address)
        if port == 0:
            del addresses[1:]  # otherwise each address would get a port of its own
        # Binds the addresses that were checked, since the name may resolve to others now.
        self._server = await loop.create_server(
            self._accept_transport, addresses, port, ssl=ssl, backlog=_BACKLOG
        )
        self.host, self.port = self._server.sockets[0].getsockname()[:2]

    async def accept(self) -> T:
        """Waits for the next peer, and returns a connected transport.

        Raises:
            ListenerClosed: the listener is closed, or is closed during the wait.
        """
        while not self._waiting:
            if self._closed:
                raise ListenerClosed
            self._changed.clear()
            await self._changed.wait()
        return self._waiting.popitem(last=False)[0]

    def __aiter__(self) -> Listener[T]:
        return self

    async def __anext__(self) -> T:
        try:
            return await self.accept()
        except ListenerClosed:
            raise StopAsyncIteration from None

    async def close(self) -> None:
        """Stops listening. Disconnects the peers that were not accepted yet."""
        self._closed = True
        if self._server is not None:
            self._server.close()
        waiting = list(self._waiting)
        self._waiting.clear()
        self._changed.set()
        for transport in waiting:
            await transport.close(0)

    async def __aenter__(self) -> Listener[T]:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _accept_transport(self) -> T:
        transport = self._new_transport()
        transport._listener = self
        return transport

    def _add(self, transport: T) -> None:
        if self._closed or self._is_full():
            logger.warning(
                "a connection was refused: %d peers are connected", len(self._connections)
            )
            transport._abort()
            return
        self._connections.add(transport)
        self._waiting[transport] = None
        self._changed.set()

    def _is_full(self) -> bool:
        if self._max_connections is None:
            return False
        # Includes peers that sent messages and disconnected before they were accepted.
        return len(self._connections.union(self._waiting)) >= self._max_connections

    def _remove(self, transport: T) -> None:
        self._connections.discard(transport)
        if not transport._receive_buffer.size:
            self._waiting.pop(transport, None)


async def _resolve(host: str, port: int) -> list[str]:
    """Returns the addresses of a host, without duplicates."""
    entries = await asyncio.get_running_loop().getaddrinfo(
        host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


async def listen_tcp(
    message_format: MessageFormat[M],
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    allow_remote: bool = False,
    ssl: ssl_module.SSLContext | None = None,
    max_connections: int | None = 1,
    limits: StreamLimits = DEFAULT_LIMITS,
) -> Listener[TcpTransport[M]]:
    """Listens for peers on a TCP port.

    Args:
        message_format: the messages that the transports carry.
        host: the address to listen on.
        port: the port; 0 lets the system choose one.
        allow_remote: required for addresses other than loopback, as there is no authentication.
        ssl: the context for TLS; None for connections without TLS.
        max_connections: how many peers may be connected at once; None for no limit. Further
            connections are refused.
        limits: the limits of each transport.

    Raises:
        RemoteAddressRefused: the host is not loopback, and `allow_remote` is not set.
        OSError: the address cannot be bound.
    """
    listener = Listener(
        lambda: TcpTransport(message_format, host, port, limits=limits), max_connections
    )
    await listener.bind(host, port, allow_remote, ssl)
    return listener
