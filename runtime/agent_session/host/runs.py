"""The runs of a session: one at a time, and a newer run supersedes an older one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, NoReturn

from .adapter import HostedRun, SessionAdapter
from ..transport.base import logger


class RunStopped(Exception):
    """A run was superseded or cut off. The text is the reason."""


class _Run:
    """A run that is not answered yet."""

    def __init__(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.task: asyncio.Task[Any] = task
        # Set once the run is answered, or cut off by the end of the session.
        self.settled = asyncio.Event()
        task.add_done_callback(lambda _: self.settled.set())
        self.starting = True  # waits for the session to start
        self.hosted: HostedRun | None = None
        self.stop_reason: str | None = None
        self.returned = False  # whether `Runs.run` has returned or raised

    def stop(self, reason: str) -> None:
        """Cancels the run, unless it has finished and only has to be answered."""
        if self.stop_reason is None and not self.finished:
            self.stop_reason = reason
            self.task.cancel()

    @property
    def finished(self) -> bool:
        """Whether the result of the run is known, so that it only has to be answered."""
        return self.returned or (self.hosted is not None and self.hosted.done())


class Runs:
    """The runs of one session."""

    def __init__(self, session: SessionAdapter) -> None:
        self._session = session
        self._open: set[_Run] = set()
        self._latest: HostedRun | None = None
        # The reason why runs are refused; None while they are accepted.
        self._end_reason: str | None = None
        # Set once session_closed is sent, so that runs can be refused.
        self._end_sent = asyncio.Event()

    async def run(self, text: str) -> Sequence[Any]:
        """Runs a text as the user's input, and returns the items of the run.

        Stops older runs that have not finished.

        Raises:
            RunStopped: a newer run superseded this one, or the session ended.
            Exception: any error of the session.
        """
        run = _Run()
        if self._end_reason is not None:
            await self._refuse(run)
        for older in self._open:
            older.stop("superseded by a newer run_input")
        self._open.add(run)
        # The run stays open after this method has returned, until its response is sent.
        run.task.add_done_callback(lambda _: self._open.discard(run))
        try:
            return await self._run(run, text)
        except asyncio.CancelledError:
            if run.stop_reason is None:
                raise
            raise RunStopped(run.stop_reason) from None
        finally:
            run.returned = True

    async def end(self, reason: str) -> None:
        """Accepts no more runs, and waits until the finished runs are answered.

        The runs that the end of the session cuts off wait for `refuse_cut_off`.
        """
        self._end_reason = reason
        for run in [run for run in self._open if run.finished]:
            await run.settled.wait()

    def refuse_cut_off(self, reason: str) -> None:
        """Refuses the runs that the end of the session has cut off, and all later runs."""
        self._end_reason = reason
        self._end_sent.set()
        for run in self._open:
            run.stop(reason)

    def stop_starting(self, reason: str) -> None:
        """Stops a run that waits for the start of the session, because the host is closing."""
        for run in self._open:
            if run.starting:
                run.stop(reason)

    async def _run(self, run: _Run, text: str) -> Sequence[Any]:
        # A host may serve before its session has started, and receive runs from then on.
        await self._session.wait_started()
        run.starting = False
        try:
            await self._session.interrupt()
        except Exception as error:
            logger.debug("the current speech cannot be interrupted: %s", type(error).__name__)
        await self._wait_for_latest()
        await self._session.wait_agent_ready()
        if self._end_reason is not None:
            await self._refuse(run)
        run.hosted = self._latest = self._session.run(text)
        items = await run.hosted.wait()
        if not items and (self._end_reason is not None or self._session.closing):
            # A session that is closing ends its run without items, before it emits the close event.
            await self._refuse(run)
        return items

    async def _refuse(self, run: _Run) -> NoReturn:
        """Refuses a run, after session_closed has been sent."""
        run.settled.set()
        await self._end_sent.wait()
        raise RunStopped(self._end_reason or "")

    async def _wait_for_latest(self) -> None:
        """Waits for the end of the latest run, which may take a moment after an interruption."""
        while self._latest is not None and not self._latest.done():
            try:
                await self._latest.wait()
            except Exception as error:
                logger.debug("the previous run ended with %s", type(error).__name__)
