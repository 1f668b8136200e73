"""Reads the documentation pages: their fenced blocks, and the commands in console blocks.

A line `…` in a console block stands for any lines, and `…` within a line for any text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
_FENCE = re.compile(r"^( *)```(\S*)([^\n]*)\n(.*?)^\1```$", re.M | re.S)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, what follows the language, its text and its line."""

    language: str
    info: str
    text: str
    line: int

    def runs(self) -> list[tuple[str, str]]:
        """Returns the commands of a console block with the output printed for each."""
        parts = re.split(r"^\$ (.*)\n", self.text, flags=re.M)
        return list(zip(parts[1::2], parts[2::2]))


def pages() -> list[Path]:
    """Returns the pages that are written for readers of the repository."""
    return [
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "DESIGN.md")),
        *sorted((ROOT / "docs").glob("*.md")),
    ]


def blocks(text: str) -> list[Block]:
    """Returns the fenced blocks of a page."""
    blocks = []
    for match in _FENCE.finditer(text):
        indent, language, info, body = match.groups()
        body = re.sub(rf"^{indent}", "", body, flags=re.M)
        blocks.append(Block(language, info.strip(), body, text[: match.start()].count("\n") + 1))
    return blocks


def matches(printed: str, output: str) -> bool:
    """Tells whether an output is what a page prints."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == "…" else ".*".join(map(re.escape, line.split("…"))) + "\n"
        for line in printed.rstrip().split("\n")
        if printed.strip()
    )
    return re.fullmatch(pattern, output.rstrip() + "\n" if output.strip() else "") is not None
