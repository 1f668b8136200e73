"""Edits a line while it is typed, without I/O.

It takes the bytes that a terminal sends for keys and returns the entered lines and the current
state of the line, from which a prompt can be drawn exactly.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Final

from .screen import clean

_KEY: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.)|.", re.DOTALL)
_PARTIAL_KEY: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|O)?\Z")
_MAX_HISTORY: Final = 500


class LineEditor:
    """Edits one line at a time, with the keys of a shell.

    Attributes:
        ended: whether Ctrl-D was typed on an empty line.
    """

    def __init__(self) -> None:
        self.ended = False
        # The text to the left and to the right of the cursor.
        self._left = ""
        self._right = ""
        self._partial_key = ""  # the received part of a key that is not complete
        self._history: list[str] = []
        self._history_index = 0  # the length of the history for the line that is being typed
        self._entered: list[str] = []

    def feed(self, keys: str) -> list[str]:
        """Handles keys, and returns the lines that were entered."""
        keys = self._partial_key + keys
        partial = _PARTIAL_KEY.search(keys)
        self._partial_key = partial.group() if partial else ""
        for key in _KEY.findall(keys[: len(keys) - len(self._partial_key)]):
            if (action := _ACTIONS.get(key)) is not None:
                action(self)
            elif len(key) == 1 and clean(key) == key:
                self._left += key
        entered, self._entered = self._entered, []
        return entered

    def view(self, columns: int) -> tuple[str, int]:
        """Returns the part of the line that fits into some columns, and the cursor's column."""
        left = _truncate(self._left[::-1], columns)[::-1]
        cursor = width(left)
        return left + _truncate(self._right, columns - cursor), cursor

    def _enter(self) -> None:
        line = self._left + self._right
        self._left = self._right = ""
        if line.strip() and self._history[-1:] != [line]:
            self._history = [*self._history[1 - _MAX_HISTORY :], line]
        self._history_index = len(self._history)
        self._entered.append(line)

    def _erase(self) -> None:
        self._left = self._left[:-1]

    def _delete(self) -> None:
        self._right = self._right[1:]

    def _delete_or_end(self) -> None:
        if self._left or self._right:
            self._delete()
        else:
            self.ended = True

    def _back(self) -> None:
        self._left, self._right = self._left[:-1], self._left[-1:] + self._right

    def _forth(self) -> None:
        self._left, self._right = self._left + self._right[:1], self._right[1:]

    def _home(self) -> None:
        self._left, self._right = "", self._left + self._right

    def _end(self) -> None:
        self._left, self._right = self._left + self._right, ""

    def _erase_left(self) -> None:
        self._left = ""

    def _erase_right(self) -> None:
        self._right = ""

    def _erase_word(self) -> None:
        before = self._left.rstrip()
        self._left = before[: before.rfind(" ") + 1]

    def _older(self) -> None:
        self._recall(self._history_index - 1)

    def _newer(self) -> None:
        self._recall(self._history_index + 1)

    def _recall(self, index: int) -> None:
        if 0 <= index <= len(self._history):
            self._history_index = index
            self._left, self._right = "".join(self._history[index : index + 1]), ""


_ACTIONS: Final[Mapping[str, Callable[[LineEditor], None]]] = {
    "\r": LineEditor._enter,
    "\n": LineEditor._enter,
    "\x7f": LineEditor._erase,
    "\x08": LineEditor._erase,
    "\x04": LineEditor._delete_or_end,
    "\x1b[3~": LineEditor._delete,
    "\x02": LineEditor._back,
    "\x1b[D": LineEditor._back,
    "\x06": LineEditor._forth,
    "\x1b[C": LineEditor._forth,
    "\x01": LineEditor._home,
    "\x1b[H": LineEditor._home,
    "\x1bOH": LineEditor._home,
    "\x1b[1~": LineEditor._home,
    "\x05": LineEditor._end,
    "\x1b[F": LineEditor._end,
    "\x1bOF": LineEditor._end,
    "\x1b[4~": LineEditor._end,
    "\x15": LineEditor._erase_left,
    "\x0b": LineEditor._erase_right,
    "\x17": LineEditor._erase_word,
    "\x10": LineEditor._older,
    "\x1b[A": LineEditor._older,
    "\x0e": LineEditor._newer,
    "\x1b[B": LineEditor._newer,
}


def width(text: str) -> int:
    """Returns the number of terminal columns that a text takes."""
    return sum(map(_columns, text))


def _truncate(text: str, columns: int) -> str:
    """Returns the start of a text that takes fewer than `columns` columns."""
    for length, character in enumerate(text):
        columns -= _columns(character)
        if columns < 1:
            return text[:length]
    return text


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
