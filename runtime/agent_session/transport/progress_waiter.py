"""A wait for a slow peer, with a limit on the time without progress."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class ProgressWaiter:
    """One wait, shared by all senders that wait for the same condition.

    Args:
        timeout: the longest time without progress, in seconds.
        progress: returns a number that grows as the peer takes data.
        stalled: called when there was no progress for that long; it must call `finish`.
    """

    def __init__(
        self, timeout: float, progress: Callable[[], int], stalled: Callable[[], None]
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._timeout = timeout
        self._progress = progress
        self._stalled = stalled
        self._result: asyncio.Future[bool] = self._loop.create_future()
        self._watch()

    async def wait(self) -> bool:
        """Waits for `finish`, and returns its argument."""
        return await asyncio.shield(self._result)

    def finish(self, success: bool) -> None:
        """Wakes all waiting senders; their `wait` returns `success`."""
        self._timer.cancel()
        self._result.set_result(success)

    def _watch(self) -> None:
        self._timer = self._loop.call_later(self._timeout, self._check, self._progress())

    def _check(self, last_progress: int) -> None:
        if self._progress() > last_progress:
            self._watch()
        else:
            self._stalled()
