"""Flow control for senders that do not wait for each message.

With it, a burst of messages does not overflow the send queue, which would close the transport with
a `SlowConsumer` even if the peer reads.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from ..errors import TransportError
from .base import Transport, logger

# How many bytes may be sent before a flush. A transport's send queue holds several times as much.
_WINDOW: Final = 1 << 20


class Pacer:
    """Counts the bytes sent on a transport, and after 1 MiB waits until they are flushed.

    Attributes:
        open: whether more may be sent now.
    """

    __slots__ = ("open", "_transport", "_sent", "_opened", "_task")

    def __init__(self, transport: Transport[Any]) -> None:
        self.open = True
        self._transport = transport
        self._sent = 0
        self._opened = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def count(self, size: int) -> None:
        """Adds to the number of bytes sent."""
        self._sent += size
        if self._sent >= _WINDOW and self._task is None:
            self.open = False
            self._opened.clear()
            self._task = asyncio.ensure_future(self._flush())

    async def wait(self) -> None:
        """Waits until more may be sent. Also returns when the transport has ended."""
        while not self.open:
            await self._opened.wait()

    async def close(self) -> None:
        """Stops waiting for the flush."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _flush(self) -> None:
        try:
            await self._transport.flush()
        except TransportError:
            pass  # the transport has ended; it passes the reason to its receiver
        except Exception:
            logger.exception("the flush of a transport failed")
        finally:
            self._sent = 0
            self.open = True
            self._opened.set()
            self._task = None
