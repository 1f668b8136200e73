"""Answers on their way into a transport, no faster than the peer takes them.

Comes in: how much was sent. Goes out: whether more may be. A driver that asks for much at once, and
reads what it gets, never looks like one that does not read, whose transport is closed.
"""

from __future__ import annotations

import asyncio
from typing import Final

from ..errors import TransportError
from ..transport.base import logger
from ..transport.session import SessionTransport

# How many bytes may be under way. A transport holds several times as much.
_WINDOW: Final = 1 << 20


class Window:
    """Open while little is under way.

    Attributes:
        open: whether an answer may be sent at once.
    """

    __slots__ = ("open", "_transport", "_sent", "_opened", "_task")

    def __init__(self, transport: SessionTransport) -> None:
        self.open = True
        self._transport = transport
        self._sent = 0
        self._opened = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def count(self, size: int) -> None:
        """So many bytes were sent."""
        self._sent += size
        if self._sent >= _WINDOW and self._task is None:
            self.open = False
            self._opened.clear()
            self._task = asyncio.ensure_future(self._reopen())

    async def wait(self) -> None:
        """Wait until it is open."""
        while not self.open:
            await self._opened.wait()

    async def close(self) -> None:
        """Stop counting; whoever waits may go on."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _reopen(self) -> None:
        """Let more go out when the peer, or the system on its behalf, has taken what was sent."""
        try:
            await self._transport.flush()
        except TransportError:
            pass  # the transport has ended, and tells that in its own way
        except Exception:
            logger.exception("a transport failed while it flushed")
        finally:
            self._sent = 0
            self.open = True
            self._opened.set()
            self._task = None
