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
_BEGUN: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|O)?\Z")
_MOST_LINES: Final = 500


class LineEditor:
    """Edits one line at a time, with the keys that shells have.

    Attributes:
        ended: whether Ctrl-D was typed in place of a line.
    """

    def __init__(self) -> None:
        self.ended = False
        self._left = ""  # of the cursor
        self._right = ""
        self._begun = ""  # of a key that comes in parts
        self._lines: list[str] = []
        self._place = 0  # among the lines; behind them is the one that is typed
        self._entered: list[str] = []

    def type(self, keys: str) -> list[str]:
        """Take keys; return the lines that they complete."""
        keys = self._begun + keys
        begun = _BEGUN.search(keys)
        self._begun = begun.group() if begun else ""
        for key in _KEY.findall(keys[: len(keys) - len(self._begun)]):
            if (action := _ACTIONS.get(key)) is not None:
                action(self)
            elif len(key) == 1 and clean(key) == key:
                self._left += key
        entered, self._entered = self._entered, []
        return entered

    def view(self, room: int) -> tuple[str, int]:
        """The part of the line that fits into so many columns, and the column of the cursor."""
        left = _fitting(self._left[::-1], room)[::-1]
        column = width(left)
        return left + _fitting(self._right, room - column), column

    def _enter(self) -> None:
        line = self._left + self._right
        self._left = self._right = ""
        if line.strip() and self._lines[-1:] != [line]:
            self._lines = [*self._lines[1 - _MOST_LINES :], line]
        self._place = len(self._lines)
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
        self._recall(self._place - 1)

    def _newer(self) -> None:
        self._recall(self._place + 1)

    def _recall(self, place: int) -> None:
        if 0 <= place <= len(self._lines):
            self._place = place
            self._left, self._right = "".join(self._lines[place : place + 1]), ""


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
    """How many columns of a terminal a text takes."""
    return sum(map(_columns, text))


def _fitting(text: str, room: int) -> str:
    """The beginning of a text that leaves at least one column of so many free."""
    for length, character in enumerate(text):
        room -= _columns(character)
        if room < 1:
            return text[:length]
    return text


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
