"""Runs a program so that Ctrl-C cancels its main task, on every version of Python.

`asyncio.run` does so from Python 3.11 on. On 3.10 it cancels all tasks at the same time, those of the
session and its host included, and then the driver is not sent session_closed.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Coroutine
from types import FrameType
from typing import Any, TypeVar

_T = TypeVar("_T")


def run(main: Coroutine[Any, Any, _T]) -> _T:
    """Runs a coroutine as `asyncio.run` does in Python 3.11 and newer.

    Ctrl-C cancels the coroutine, so that it can close its session, and raises KeyboardInterrupt when
    the coroutine has ended. A second Ctrl-C raises it at once.
    """
    if sys.version_info >= (3, 11) or not _handles_interrupts():
        return asyncio.run(main)
    return asyncio.run(_run_cancellable(main))


def _handles_interrupts() -> bool:
    """Reports whether Ctrl-C raises KeyboardInterrupt in this thread.

    It does not in a background job, or if the program has a handler of its own.
    """
    return (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )


async def _run_cancellable(main: Coroutine[Any, Any, _T]) -> _T:
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(main)
    interrupted = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        if interrupted:
            raise KeyboardInterrupt
        interrupted = True
        loop.call_soon_threadsafe(task.cancel)

    signal.signal(signal.SIGINT, interrupt)
    try:
        return await task
    except asyncio.CancelledError:
        if interrupted and task.cancelled():
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
