"""Reads lines from standard input.

A terminal is read key by key, so that the prompt can be drawn again after other output. Pipes and
files are read only as fast as their lines are used. There is no thread, which would have to be
stopped at the end.
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
from .screen import StyledText, Screen, Style

_CHUNK: Final = 1 << 16
_PROMPT: Final = "> "


class Lines(ABC):
    """A source of lines.

    Attributes:
        sequential: whether a line waits for the response to the previous one. Lines typed at a
            prompt do not wait.
        quits_at_end: whether the command ends after the last line.
    """

    sequential: bool
    quits_at_end: bool

    @abstractmethod
    async def next(self) -> str | None:
        """Returns the next line, or None if there are no more lines."""


class NoInput(Lines):
    """No lines, if there is no standard input."""

    sequential = True
    quits_at_end = False

    async def next(self) -> str | None:
        return None


class StreamLines(Lines):
    """Lines of a pipe, a file, or a terminal in line mode."""

    sequential = True

    def __init__(self, descriptor: int) -> None:
        self.quits_at_end = os.isatty(descriptor)
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


class TerminalLines(Lines):
    """Lines that are typed at a prompt.

    Args:
        descriptor: the file descriptor of the terminal.
        screen: shows the prompt.
    """

    sequential = False
    quits_at_end = True

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
            self._entered.extend(self._editor.feed(self._decoder.decode(data)))
            self._screen.redraw()
        return self._entered.popleft() if self._entered else None

    def draw(self) -> str:
        """Returns the prompt, the current line and the escape code that places the cursor."""
        columns = os.get_terminal_size(self._descriptor).columns or 80
        text, cursor = self._editor.view(max(2, columns - width(_PROMPT)))
        prompt = self._screen.format(StyledText(_PROMPT, Style.BOLD))
        return f"{prompt}{text}\r\x1b[{width(_PROMPT) + cursor}C"


@contextmanager
def standard_input(screen: Screen, prompt: bool) -> Iterator[Lines]:
    """Yields the lines of standard input.

    Args:
        screen: shows the prompt.
        prompt: whether to show a prompt if standard input is a terminal.
    """
    descriptor = None if sys.stdin is None else sys.stdin.fileno()
    if descriptor is None or sys.platform == "win32" or _in_background(descriptor):
        yield NoInput()
    elif prompt and os.isatty(descriptor):
        lines = TerminalLines(descriptor, screen)
        with _key_mode(descriptor, screen):
            screen.set_prompt(lines.draw)
            try:
                yield lines
            finally:
                screen.set_prompt(None)
    else:
        yield StreamLines(descriptor)


def _in_background(descriptor: int) -> bool:
    """Reports whether another job owns the terminal. The use of it would then stop this process."""
    if not os.isatty(descriptor):
        return False
    try:
        return os.tcgetpgrp(descriptor) != os.getpgrp()
    except OSError:  # the terminal controls no job
        return False


@contextmanager
def _key_mode(descriptor: int, screen: Screen) -> Iterator[None]:
    """Makes a terminal deliver each key at once, without echo. Ctrl-C and Ctrl-Z send signals."""
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
    loop.add_signal_handler(signal.SIGCONT, set_mode)  # the shell has changed the mode
    try:
        set_mode()
        yield
    finally:
        loop.remove_signal_handler(signal.SIGCONT)
        termios.tcsetattr(descriptor, termios.TCSANOW, before)


async def _read(descriptor: int) -> bytes:
    """Waits for data, and returns it. Returns no bytes at the end of the input."""
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    try:
        loop.add_reader(descriptor, _set, ready)
    except PermissionError:
        await asyncio.sleep(0)  # a regular file, which is always ready
    else:
        try:
            await ready
        finally:
            loop.remove_reader(descriptor)
    try:
        return os.read(descriptor, _CHUNK)
    except OSError:
        return b""  # the terminal was disconnected


def _set(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)
