"""Cuts a long module into chunks that black formats separately, and joins them again.

black holds a whole text in memory, and a union of a thousand arms makes a class of twenty thousand
lines. Each chunk has a few hundred lines and is formatted as it would be inside the whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Lines a piece may have before it is cut.
LIMIT = 300
_TOP = re.compile(r"^(?=(?:@\w|class |def |async def ))", re.MULTILINE)
_METHOD = re.compile(r"^(?=    (?:@\w|def |async def ))", re.MULTILINE)
_HOLDER = "class _:\n"


@dataclass(frozen=True)
class Piece:
    """A text to format. `inside`: methods of a class, which need one around them.
    `joint`: what stands between the piece before and this one."""

    text: str
    inside: bool
    joint: str

    @property
    def source(self) -> str:
        """The text as black is given it."""
        return _HOLDER + self.text if self.inside else self.text

    def result(self, formatted: str) -> str:
        """Return the formatted text of the piece alone."""
        body = formatted.removeprefix(_HOLDER) if self.inside else formatted
        return body.strip("\n") + "\n"


def cut(text: str, size: int = LIMIT) -> list[Piece]:
    """Cut a module into pieces: between top-level definitions, then between methods.

    size: lines up to which neighbours stay together.
    """
    pieces: list[Piece] = []
    for part in _grouped(_definitions(text, _TOP), size):
        joint = "\n\n" if pieces else ""
        if part.count("\n") <= LIMIT:
            pieces.append(Piece(part, False, joint))
            continue
        groups = _grouped(_definitions(part, _METHOD), size)
        pieces.append(Piece(groups[0], False, joint))
        pieces += [Piece(group, True, "\n") for group in groups[1:]]
    return pieces


def join(pieces: list[Piece], formatted: list[str]) -> str:
    """Return the module whose pieces were formatted one by one."""
    parts = zip(pieces, formatted, strict=True)
    return "".join(piece.joint + piece.result(text) for piece, text in parts)


def _definitions(text: str, boundary: re.Pattern[str]) -> list[str]:
    """Split before each definition; a decorator stays with what it decorates."""
    parts: list[str] = []
    for part in boundary.split(text):
        decorated = (
            bool(parts) and parts[-1].lstrip().startswith("@") and parts[-1].count("\n") == 1
        )
        if decorated:
            parts[-1] += part
        elif part:
            parts.append(part)
    return parts


def _grouped(parts: list[str], limit: int) -> list[str]:
    """Join neighbours as long as they stay below the limit."""
    groups: list[str] = []
    size = 0
    for part in parts:
        lines = part.count("\n")
        if groups and size + lines <= limit:
            groups[-1] += part
            size += lines
        else:
            groups.append(part)
            size = lines
    return groups
