"""Waits until a host can be reached and answers a ping.

Past the deadline the error of the last attempt is raised.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

from ..errors import ConnectFailed, TransportClosed, TransportError
from .errors import NotReady, RequestTimedOut

# How often is tried, in seconds.
_INTERVAL: Final = 0.25


async def wait_for_ready(
    start: Callable[[], Coroutine[Any, Any, None]],
    ping: Callable[[float], Coroutine[Any, Any, None]],
    timeout: float,
) -> None:
    """Start and ping until a ping is answered.

    A ping can get lost on a way that is still being built, so there is a new one at each try;
    those before it go on waiting, as the way may be slow as well.

    Args:
        start: connects, or raises; may be called again.
        ping: waits for an answer as long as its argument says, in seconds.
        timeout: how long all of it may take, in seconds.

    Raises:
        ConnectFailed: there was no connection in time; another TransportError, if the last try
            met one.
        NotReady: there was a connection, and no answer.
        Exception: whatever else the two raise, at once.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout
    failure: TransportError | NotReady = ConnectFailed(f"no connection within {timeout:g} s")
    pings: set[asyncio.Future[None]] = set()
    try:
        while (left := deadline - loop.time()) > 0:
            try:
                await asyncio.wait_for(start(), left)
                failure = NotReady(timeout)
                pings.add(asyncio.ensure_future(ping(left)))
                if await _answered(pings, min(_INTERVAL, left)):
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
        for waiting in pings:
            waiting.cancel()
        await asyncio.gather(*pings, return_exceptions=True)


async def _answered(pings: set[asyncio.Future[None]], patience: float) -> bool:
    """Wait for an answer to any ping. Those that are done leave the set."""
    done, _ = await asyncio.wait(pings, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
    pings -= done
    faults = [ping.exception() for ping in done]
    if None in faults:
        return True
    for fault in faults:
        if fault is not None and not isinstance(fault, RequestTimedOut):
            raise fault
    return False
