"""The finalize hold: keeps a host open until finalize_simulation is answered.

A simulator sends finalize_simulation only after the agent has ended the session. The hold ends when
the request is answered, when it does not arrive in time, or when it can no longer arrive.
"""

from __future__ import annotations

import asyncio

from ..transport.base import logger


class FinalizeHold:
    """Waits until finalize_simulation is answered or can no longer arrive.

    Requests are counted from the start of the session, since finalize_simulation may also arrive
    before the session has closed.
    """

    def __init__(self) -> None:
        self._ended = asyncio.Event()
        self._in_progress = 0

    def finalize_arrived(self) -> None:
        """Counts a finalize_simulation that has arrived. Its handling has no time limit."""
        self._in_progress += 1

    def finalize_answered(self) -> None:
        """Ends the hold if no other finalize_simulation is in progress."""
        self._in_progress -= 1
        if not self._in_progress:
            self._ended.set()

    def run_arrived(self) -> None:
        """Ends the hold unless a finalize_simulation is in progress.

        A driver that sends a run does not know of the end, so it is not about to finalize.
        """
        if not self._in_progress:
            self._ended.set()

    def end(self) -> None:
        """Ends the hold."""
        self._ended.set()

    async def wait(self, timeout: float) -> None:
        """Waits until the hold ends.

        Args:
            timeout: how long a finalize_simulation may take to arrive, in seconds.
        """
        if self._ended.is_set():
            return  # `wait_for` with a timeout of 0 would not notice it
        logger.info("the session has closed; waiting %g s for finalize_simulation", timeout)
        try:
            await asyncio.wait_for(self._ended.wait(), timeout)
        except asyncio.TimeoutError:
            if not self._in_progress:
                logger.warning("no finalize_simulation arrived within %g s", timeout)
                return
            await self._ended.wait()
