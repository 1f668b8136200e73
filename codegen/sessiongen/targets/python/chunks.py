"""Cuts a module into chunks that can be formatted separately, and joins them again.

A chunk is a definition. A long class is cut into its methods, because black needs much memory for
a long text: a union with a thousand arms gives a class with twenty thousand lines. Each chunk is
formatted as it would be in the module.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# The number of lines from which a class is cut into methods.
LIMIT = 300
_TOP = re.compile(r"^(?=(?:@\w|class |def |async def ))", re.MULTILINE)
_METHOD = re.compile(r"^(?=    (?:@\w|def |async def ))", re.MULTILINE)
_CLASS = "class _:\n"


@dataclass(frozen=True)
class Chunk:
    """A text to format.

    method: the text is a method, which needs a class around it to be formatted.
    separator: the lines between the previous chunk and this one.
    """

    text: str
    method: bool
    separator: str

    @property
    def source(self) -> str:
        """The text in the form in which it can be formatted."""
        return _CLASS + self.text if self.method else self.text

    def result(self, formatted: str) -> str:
        """Returns the formatted text of the chunk without the class around it."""
        body = formatted.removeprefix(_CLASS) if self.method else formatted
        return body.strip("\n") + "\n"


def cut(text: str) -> list[Chunk]:
    """Cuts a module between its definitions, and long classes between their methods."""
    chunks: list[Chunk] = []
    for part in _definitions(text, _TOP):
        separator = "\n\n" if chunks else ""
        methods = _definitions(part, _METHOD) if part.count("\n") > LIMIT else [part]
        chunks.append(Chunk(methods[0], False, separator))
        chunks += [Chunk(method, True, "\n") for method in methods[1:]]
    return chunks


def join(chunks: list[Chunk], formatted: list[str]) -> str:
    """Returns the module whose chunks were formatted one by one."""
    parts = zip(chunks, formatted, strict=True)
    return "".join(chunk.separator + chunk.result(text) for chunk, text in parts)


def _definitions(text: str, boundary: re.Pattern[str]) -> list[str]:
    """Splits before each definition; a decorator stays with what it decorates."""
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
