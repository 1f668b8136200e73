"""The finalize hold: keeps a host open until finalize_simulation was answered.

A simulator asks for finalize_simulation only after the agent has ended the session. The hold ends
when the request was answered, when it does not arrive in time, or when it can no longer come.
"""

from __future__ import annotations

import asyncio

from ..transport.base import logger


class FinalizeHold:
    """Waits until finalize_simulation was answered, or will not come.

    Requests are counted from the beginning of the session, as a verdict may have been asked for
    before it closed.
    """

    def __init__(self) -> None:
        self._over = asyncio.Event()
        self._at_work = 0

    def finalize_arrived(self) -> None:
        """A finalize_simulation is being handled; it may take its time."""
        self._at_work += 1

    def finalize_answered(self) -> None:
        """One that arrived is answered."""
        self._at_work -= 1
        if not self._at_work:
            self._over.set()

    def run_arrived(self) -> None:
        """A driver that runs something has no verdict to ask for, unless it has asked already."""
        if not self._at_work:
            self._over.set()

    def end(self) -> None:
        """Waiting is pointless, or not allowed, from now on."""
        self._over.set()

    async def wait(self, timeout: float) -> None:
        """Wait; `timeout` bounds, in seconds, how long a finalize_simulation takes to arrive."""
        if not self._over.is_set():
            logger.info("the session has closed, finalize_simulation may come for %g s", timeout)
        try:
            await asyncio.wait_for(self._over.wait(), timeout)
        except asyncio.TimeoutError:
            if not self._at_work:
                logger.warning("no finalize_simulation came within %g s", timeout)
                return
            await self._over.wait()
