"""Senders that wait for a slow peer.

Comes in: tasks that wait, and how much the peer has taken so far. Goes out: whether they may go
on, or word that the peer takes nothing at all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class SendRoom:
    """One wait for room, shared by all that wait for it; made when the first one has to.

    Args:
        timeout: how long the peer may take nothing, in seconds.
        progress: tells how many bytes it has taken.
        stalled: called when it took nothing for that long; it must `end` the wait.
    """

    def __init__(
        self, timeout: float, progress: Callable[[], int], stalled: Callable[[], None]
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._timeout = timeout
        self._progress = progress
        self._stalled = stalled
        self._made: asyncio.Future[bool] = self._loop.create_future()
        self._watch()

    async def wait(self) -> bool:
        """Wait for room; False says that there will be none."""
        return await asyncio.shield(self._made)

    def end(self, room: bool) -> None:
        """Wake all that wait."""
        self._timer.cancel()
        self._made.set_result(room)

    def _watch(self) -> None:
        self._timer = self._loop.call_later(self._timeout, self._check, self._progress())

    def _check(self, mark: int) -> None:
        if self._progress() > mark:
            self._watch()
        else:
            self._stalled()
