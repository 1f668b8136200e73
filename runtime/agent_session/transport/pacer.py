"""Flow control for senders that do not wait for each message.

With it, a burst of messages does not overflow the send queue, which would close the transport with
a `SlowConsumer` even if the peer reads.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from ..errors import TransportError
from .base import Transport, logger

WINDOW: Final = 1 << 20
"""How many bytes may be sent before a flush. A send queue holds several times as much."""


class Pacer:
    """Counts the bytes sent on a transport, and after 1 MiB waits until they are flushed.

    Attributes:
        open: whether more may be sent now.
        sent: the number of bytes sent since the last flush. A sender adds to it, and then calls
            `flush` if it has reached `WINDOW`; `count` does both.
    """

    __slots__ = ("open", "sent", "_transport", "_opened", "_task")

    def __init__(self, transport: Transport[Any]) -> None:
        self.open = True
        self._transport = transport
        self.sent = 0
        self._opened: asyncio.Event | None = None
        self._task: asyncio.Task[None] | None = None

    def count(self, size: int) -> None:
        """Adds to the number of bytes sent."""
        self.sent += size
        if self.sent >= WINDOW:
            self.flush()

    def flush(self) -> None:
        """Starts to wait for a flush, unless that is under way."""
        if self._task is None:
            self.open = False
            self._opened = asyncio.Event()
            self._task = asyncio.ensure_future(self._flush(self._opened))

    async def wait(self) -> None:
        """Waits until more may be sent. Also returns when the transport has ended."""
        while not self.open and self._opened is not None:
            await self._opened.wait()

    async def close(self) -> None:
        """Stops waiting for the flush."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _flush(self, opened: asyncio.Event) -> None:
        try:
            await self._transport.flush()
        except TransportError:
            pass  # the transport has ended; it passes the reason to its receiver
        except Exception:
            logger.exception("the flush of a transport failed")
        finally:
            self.sent = 0
            self.open = True
            opened.set()
            self._task = None
