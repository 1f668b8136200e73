"""Waits until a host can be reached and responds to a ping."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

from ..errors import ConnectFailed, TransportClosed, TransportError
from .errors import NotReady, RequestTimedOut

# The time between two attempts, in seconds.
_INTERVAL: Final = 0.25


async def wait_for_ready(
    start: Callable[[], Coroutine[Any, Any, None]],
    ping: Callable[[float], Coroutine[Any, Any, None]],
    timeout: float,
) -> None:
    """Connects and sends pings until the host responds to one of them.

    Each attempt sends a new ping, since a ping can be lost while the peer is still joining a room.
    Earlier pings keep waiting, since the connection may be slow.

    Args:
        start: connects, or raises; may be called again.
        ping: sends a ping, and waits for the response for the given number of seconds.
        timeout: how long all attempts may take, in seconds.

    Raises:
        ConnectFailed: there was no connection in time. If the last attempt raised another
            TransportError, that error is raised instead.
        NotReady: the transport connected, but there was no response in time.
        Exception: any other error of `start` or `ping`, at once.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout
    failure: TransportError | NotReady = ConnectFailed(f"no connection within {timeout:g} s")
    pings: set[asyncio.Future[None]] = set()
    try:
        while (remaining := deadline - loop.time()) > 0:
            try:
                await asyncio.wait_for(start(), remaining)
                failure = NotReady(timeout)
                pings.add(asyncio.ensure_future(ping(remaining)))
                if await _wait_for_any(pings, min(_INTERVAL, remaining)):
                    return
            except TransportClosed:
                raise
            except TransportError as error:
                failure = error
                await asyncio.sleep(min(_INTERVAL, deadline - loop.time()))
            except asyncio.TimeoutError:
                break
        raise failure
    finally:
        for pending in pings:
            pending.cancel()
        await asyncio.gather(*pings, return_exceptions=True)


async def _wait_for_any(pings: set[asyncio.Future[None]], timeout: float) -> bool:
    """Waits for a response to any ping, and removes the pings that are done from the set."""
    done, _ = await asyncio.wait(pings, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
    pings -= done
    errors = [ping.exception() for ping in done]
    if None in errors:
        return True
    for error in errors:
        if error is not None and not isinstance(error, RequestTimedOut):
            raise error
    return False
