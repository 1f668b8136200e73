"""Writes text to the terminal.

All output of the command goes through `Screen`, which adds colour, keeps the prompt below the
output and escapes control characters.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from enum import Enum
from typing import Final, NamedTuple, TextIO

_ERASE: Final = "\r\x1b[K"

# Control characters, line separators, and those that turn the order of a text around, so that it
# reads as something else.
_UNSAFE: Final = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


class Style(Enum):
    """How a piece looks; the value is what a terminal calls it."""

    PLAIN = ""
    STRONG = "1"
    FAINT = "2"
    BAD = "31"
    GOOD = "32"
    ODD = "33"
    NAME = "36"


class Piece(NamedTuple):
    """A part of a line."""

    text: str
    style: Style = Style.PLAIN


class OutputLost(Exception):
    """Nothing can be shown any more, as with a pipe whose reader is gone."""


class Screen:
    """Shows lines, above a prompt.

    Args:
        stream: where they go.
        colour: whether in colour.
    """

    def __init__(self, stream: TextIO, colour: bool) -> None:
        self._stream = stream
        self._colour = colour
        self._prompt: Callable[[], str] | None = None

    def show(self, *pieces: Piece) -> None:
        """Show a line.

        Raises:
            OutputLost: it cannot be shown.
        """
        line = "".join(self.paint(piece) for piece in pieces)
        above, below = ("", "") if self._prompt is None else (_ERASE, self._prompt())
        self.write(f"{above}{line}\n{below}")

    def paint(self, piece: Piece) -> str:
        """A piece as the terminal takes it."""
        text = clean(piece.text)
        if not self._colour or not text or piece.style is Style.PLAIN:
            return text
        return f"\x1b[{piece.style.value}m{text}\x1b[0m"

    def have_prompt(self, draw: Callable[[], str] | None) -> None:
        """Keep a prompt below the lines, or None no more. `draw` returns it, painted."""
        self._prompt = draw
        self.write(_ERASE)
        self.redraw()

    def redraw(self) -> None:
        """Show the prompt as it is now."""
        if self._prompt is not None:
            self.write(_ERASE + self._prompt())

    def write(self, text: str) -> None:
        """Write to the terminal what is known to be safe. Raises as `show` does."""
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError as error:
            raise OutputLost(error.strerror) from error


def wants_colour(given: bool | None, stream: TextIO) -> bool:
    """Whether to use colour: what was asked for, else what the terminal and its user like."""
    if given is not None:
        return given
    dull = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not dull


def clean(text: str) -> str:
    """Spell out what would steer the terminal, as `\\x1b` or `\\n`."""
    return _UNSAFE.sub(_spell, text)


def _spell(found: re.Match[str]) -> str:
    character = found.group()
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")
