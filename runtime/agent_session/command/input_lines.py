"""Reads lines from standard input.

A terminal is read key by key, so that the prompt can be drawn again after other output. Pipes and
files are read only as fast as their lines are used. No thread is started, so nothing has to be
waited for at the end.
"""

from __future__ import annotations

import asyncio
import codecs
import os
import signal
import sys
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from .line_editor import LineEditor, width
from .screen import Piece, Screen, Style

_CHUNK: Final = 1 << 16
_PROMPT: Final = "> "


class Lines(ABC):
    """Where lines come from.

    Attributes:
        waits: whether a line waits until the one before is answered; one that is typed does not.
        end_is_quit: whether the end of the lines says that nothing else is wanted either.
    """

    waits: bool
    end_is_quit: bool

    @abstractmethod
    async def next(self) -> str | None:
        """The next line; None if there are no more."""


class NoLines(Lines):
    """There is no standard input."""

    waits = True
    end_is_quit = False

    async def next(self) -> str | None:
        return None


class ReadLines(Lines):
    """Lines of a pipe, a file, or a terminal in its own line mode."""

    waits = True

    def __init__(self, descriptor: int) -> None:
        self.end_is_quit = os.isatty(descriptor)
        self._descriptor = descriptor
        self._data = b""
        self._ended = False

    async def next(self) -> str | None:
        while b"\n" not in self._data and not self._ended:
            data = await _read(self._descriptor)
            self._data += data
            self._ended = not data
        if not self._data:
            return None
        line, _, self._data = self._data.partition(b"\n")
        return line.decode("utf-8", "replace").rstrip("\r")


class TypedLines(Lines):
    """Lines that are typed at a prompt.

    Args:
        descriptor: the terminal's, for reading.
        screen: what shows the prompt.
    """

    waits = False
    end_is_quit = True

    def __init__(self, descriptor: int, screen: Screen) -> None:
        self._descriptor = descriptor
        self._screen = screen
        self._editor = LineEditor()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._entered: deque[str] = deque()

    async def next(self) -> str | None:
        while not self._entered and not self._editor.ended:
            data = await _read(self._descriptor)
            if not data:
                return None
            self._entered.extend(self._editor.type(self._decoder.decode(data)))
            self._screen.redraw()
        return self._entered.popleft() if self._entered else None

    def draw(self) -> str:
        """The prompt with what is typed so far, and the cursor at its place."""
        columns = os.get_terminal_size(self._descriptor).columns or 80
        text, cursor = self._editor.view(max(2, columns - width(_PROMPT)))
        prompt = self._screen.paint(Piece(_PROMPT, Style.STRONG))
        return f"{prompt}{text}\r\x1b[{width(_PROMPT) + cursor}C"


@contextmanager
def standard_input(screen: Screen, prompt: bool) -> Iterator[Lines]:
    """The lines of this process.

    Args:
        screen: where a prompt is shown.
        prompt: whether there may be one. There is none where nobody could type at it.
    """
    descriptor = None if sys.stdin is None else sys.stdin.fileno()
    if descriptor is None or sys.platform == "win32" or _in_background(descriptor):
        yield NoLines()
    elif prompt and os.isatty(descriptor):
        lines = TypedLines(descriptor, screen)
        with _key_by_key(descriptor, screen):
            screen.have_prompt(lines.draw)
            try:
                yield lines
            finally:
                screen.have_prompt(None)
    else:
        yield ReadLines(descriptor)


def _in_background(descriptor: int) -> bool:
    """Whether the terminal belongs to another job: to touch it would stop this one."""
    if not os.isatty(descriptor):
        return False
    try:
        return os.tcgetpgrp(descriptor) != os.getpgrp()
    except OSError:  # it is the terminal of no job
        return False


@contextmanager
def _key_by_key(descriptor: int, screen: Screen) -> Iterator[None]:
    """Have a terminal tell each key, and show none. Ctrl-C and Ctrl-Z do what they always do."""
    import termios

    before = termios.tcgetattr(descriptor)
    mode: list[Any] = termios.tcgetattr(descriptor)
    mode[3] &= ~(termios.ICANON | termios.ECHO)
    mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0

    def set_mode() -> None:
        if not _in_background(descriptor):
            termios.tcsetattr(descriptor, termios.TCSANOW, mode)
            screen.redraw()

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGCONT, set_mode)  # a shell sets its own in between
    try:
        set_mode()
        yield
    finally:
        loop.remove_signal_handler(signal.SIGCONT)
        termios.tcsetattr(descriptor, termios.TCSANOW, before)


async def _read(descriptor: int) -> bytes:
    """Read what is there, or wait until something is; nothing says that this is the end."""
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    try:
        loop.add_reader(descriptor, _set, ready)
    except PermissionError:
        await asyncio.sleep(0)  # a file: something always is there
    else:
        try:
            await ready
        finally:
            loop.remove_reader(descriptor)
    try:
        return os.read(descriptor, _CHUNK)
    except OSError:
        return b""  # a terminal that was hung up


def _set(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)
