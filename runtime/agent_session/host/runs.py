"""Runs of a session: one at a time, and the newest wins.

Comes in: texts to say in the place of the user, each in a task of its own. Goes out: the items of
each run, or why it came to nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from .adapter import HostedRun, HostedSession
from ..transport.base import logger


class RunStopped(Exception):
    """A run that nobody waits for any more; the text says why."""


class _Run:
    """A run that is not answered yet."""

    def __init__(self) -> None:
        self.task = asyncio.current_task()
        self.starting = True  # it waits for the session to start
        self.hosted: HostedRun | None = None
        self.stopped: str | None = None

    def stop(self, why: str) -> None:
        """Let it end with a reason, unless it is over and only has to be answered."""
        if self.stopped is None and (self.hosted is None or not self.hosted.done()):
            self.stopped = why
            assert self.task is not None
            self.task.cancel()


class Runs:
    """The runs of one session."""

    def __init__(self, session: HostedSession) -> None:
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
        if self._ended is not None:
            raise RunStopped(self._ended)
        for older in self._open:
            older.stop("superseded by a newer run_input")
        run = _Run()
        self._open.add(run)
        try:
            return await self._say(run, text)
        except asyncio.CancelledError:
            if run.stopped is None:
                raise
            raise RunStopped(run.stopped) from None
        finally:
            self._open.discard(run)

    def end(self, why: str) -> set[asyncio.Task[Any]]:
        """Stop all runs, now and from now on. Returns the tasks that still have to answer."""
        self._ended = why
        self._over.set()
        for run in self._open:
            run.stop(why)
        return {run.task for run in self._open if run.task is not None}

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
        run.hosted = self._latest = self._session.run(text)
        items = await run.hosted.wait()
        if not items and (self._ended is not None or self._session.closing):
            # A close cuts its run off, and is told only afterwards: that is no silence.
            await self._over.wait()
            raise RunStopped(self._ended or "")
        return items

    async def _wait_for_latest(self) -> None:
        """A session has one run at a time, and one that was cut off may take a moment to end."""
        while self._latest is not None and not self._latest.done():
            try:
                await self._latest.wait()
            except Exception as error:
                logger.debug("the run before ended with %s", type(error).__name__)
