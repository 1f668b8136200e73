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

# Control characters, line separators, and characters that change the direction of the text.
_UNSAFE: Final = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


class Style(Enum):
    """The style of a text; the value is the parameter of its escape code."""

    PLAIN = ""
    BOLD = "1"
    DIM = "2"
    ERROR = "31"
    SUCCESS = "32"
    WARNING = "33"
    NAME = "36"


class StyledText(NamedTuple):
    """A part of a line with its style."""

    text: str
    style: Style = Style.PLAIN


class OutputClosed(Exception):
    """The output cannot be written, for example because the reader of a pipe has exited."""


class Screen:
    """Writes lines above a prompt.

    Args:
        stream: the output.
        colour: whether to use colours.
    """

    def __init__(self, stream: TextIO, colour: bool) -> None:
        self._stream = stream
        self._colour = colour
        self._prompt: Callable[[], str] | None = None

    def show(self, *parts: StyledText) -> None:
        """Writes a line.

        Raises:
            OutputClosed: the output cannot be written.
        """
        line = "".join(self.format(part) for part in parts)
        erase, prompt = ("", "") if self._prompt is None else (_ERASE, self._prompt())
        self.write(f"{erase}{line}\n{prompt}")

    def format(self, part: StyledText) -> str:
        """Returns a text with the escape codes of its style."""
        text = clean(part.text)
        if not self._colour or not text or part.style is Style.PLAIN:
            return text
        return f"\x1b[{part.style.value}m{text}\x1b[0m"

    def set_prompt(self, draw: Callable[[], str] | None) -> None:
        """Sets the function that returns the formatted prompt; None to remove the prompt."""
        self._prompt = draw
        self.write(_ERASE)
        self.redraw()

    def redraw(self) -> None:
        """Writes the prompt again, after it has changed."""
        if self._prompt is not None:
            self.write(_ERASE + self._prompt())

    def write(self, text: str) -> None:
        """Writes a text without escaping it. Raises as `show` does."""
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError as error:
            raise OutputClosed(error.strerror) from error


def wants_colour(option: bool | None, stream: TextIO) -> bool:
    """Reports whether to use colours: by the option, or else by the environment and the stream."""
    if option is not None:
        return option
    disabled = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not disabled


def clean(text: str) -> str:
    """Replaces control characters by escape sequences, such as `\\x1b` or `\\n`."""
    return _UNSAFE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")
