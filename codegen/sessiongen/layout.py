"""Layout: regular code as black leaves it, so that black need not be asked.

In: the parts of a statement. Out: its lines. A list that does not fit on one line stands
one element a line, with a comma behind the last, which black keeps as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

LINE_LENGTH = 100


def bracketed(start: str, items: Sequence[str], end: str, indent: int = 0) -> str:
    """Return `start`, the items joined by commas, and `end`, on one line if it fits."""
    margin = " " * indent
    line = f"{margin}{start}{', '.join(items)}{end}"
    if len(line) <= LINE_LENGTH or not items:
        return line
    inside = "".join(f"{margin}    {item},\n" for item in items)
    return f"{margin}{start}\n{inside}{margin}{end}"


def imported(module: str, names: Collection[str]) -> str:
    """Return the statement that imports names, or "" for none."""
    if not names:
        return ""
    line = f"from {module} import {', '.join(sorted(names))}"
    if len(line) <= LINE_LENGTH:
        return line
    inside = "".join(f"    {name},\n" for name in sorted(names))
    return f"from {module} import (\n{inside})"


def short(text: str) -> bool:
    """Whether every line is short enough to stay as it is."""
    return all(len(line) <= LINE_LENGTH for line in text.split("\n"))
