"""Runs of a session: one at a time, and a newer run supersedes an older one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, NoReturn

from .adapter import HostedRun, SessionAdapter
from ..transport.base import logger


class RunStopped(Exception):
    """A run that nobody waits for any more; the text says why."""


class _Run:
    """A run that is not answered yet."""

    def __init__(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.task: asyncio.Task[Any] = task
        # Set once the run is answered, or is known to be cut off by the end of the session.
        self.settled = asyncio.Event()
        task.add_done_callback(lambda _: self.settled.set())
        self.starting = True  # it waits for the session to start
        self.hosted: HostedRun | None = None
        self.stopped: str | None = None
        self.finished = False

    def stop(self, why: str) -> None:
        """Let it end with a reason, unless it is over and only has to be answered."""
        if self.stopped is None and not self.over:
            self.stopped = why
            self.task.cancel()

    @property
    def over(self) -> bool:
        """Whether the result is known, so that only the answer is left to be sent."""
        return self.finished or (self.hosted is not None and self.hosted.done())


class Runs:
    """The runs of one session."""

    def __init__(self, session: SessionAdapter) -> None:
        self._session = session
        self._open: set[_Run] = set()
        self._latest: HostedRun | None = None
        self._ended: str | None = None
        self._over = asyncio.Event()

    async def run(self, text: str) -> Sequence[Any]:
        """Say a text; return the items of the run. Older runs that are still open are stopped.

        Raises:
            RunStopped: a newer run came, or the session ended.
            Exception: what the session raises.
        """
        run = _Run()
        if self._ended is not None:
            await self._refuse(run)
        for older in self._open:
            older.stop("superseded by a newer run_input")
        self._open.add(run)
        # Not when this method returns: the answer may have to wait until the driver has read others.
        run.task.add_done_callback(lambda _: self._open.discard(run))
        try:
            return await self._say(run, text)
        except asyncio.CancelledError:
            if run.stopped is None:
                raise
            raise RunStopped(run.stopped) from None
        finally:
            run.finished = True

    async def end(self, why: str) -> None:
        """Accepts no more runs, and waits until those that are over are answered.

        The runs that the end of the session cuts off wait for `refuse_cut_off`.
        """
        self._ended = why
        for run in [run for run in self._open if run.over]:
            await run.settled.wait()

    def refuse_cut_off(self, why: str) -> None:
        """Refuses the runs that the end of the session cut off, and all that follow."""
        self._ended = why
        self._over.set()
        for run in self._open:
            run.stop(why)

    def end_starting(self, why: str) -> None:
        """Stop the run that waits for a session which the host will not see start."""
        for run in self._open:
            if run.starting:
                run.stop(why)

    async def _say(self, run: _Run, text: str) -> Sequence[Any]:
        # A host is there before its session runs, and a driver speaks as soon as it answers.
        await self._session.wait_started()
        run.starting = False
        try:
            await self._session.interrupt()
        except Exception as error:
            logger.debug("the current speech cannot be interrupted: %s", type(error).__name__)
        await self._wait_for_latest()
        if self._ended is not None:
            await self._refuse(run)
        run.hosted = self._latest = self._session.run(text)
        items = await run.hosted.wait()
        if not items and (self._ended is not None or self._session.closing):
            # A session that closes ends its run without items, before it emits the close.
            await self._refuse(run)
        return items

    async def _refuse(self, run: _Run) -> NoReturn:
        """Refuses a run once the driver has been sent the end of the session."""
        run.settled.set()
        await self._over.wait()
        raise RunStopped(self._ended or "")

    async def _wait_for_latest(self) -> None:
        """A session has one run at a time, and one that was cut off may take a moment to end."""
        while self._latest is not None and not self._latest.done():
            try:
                await self._latest.wait()
            except Exception as error:
                logger.debug("the run before ended with %s", type(error).__name__)
