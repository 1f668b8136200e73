"""Lays out regular code as black would, so that black does not have to format it.

A list that does not fit on one line has one element per line and a comma after the last one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

LINE_LENGTH = 100
# What may stand before the bracket at which a call is broken.
_HEAD = re.compile(r'(?:\w+ = |\w+=|"\w+": )?[\w.]*[(\[{]')
# A comprehension has no arguments to break at.
_COMPREHENSION = re.compile(r"\bfor\b")


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


def call(text: str, indent: int, end: str = "") -> str:
    """Return a call on one line if it fits, else one argument a line, and so inside.

    One that cannot be broken at its arguments stays too long, for black to break: an empty
    call, a comprehension, and what does not end with a bracket.
    """
    margin = " " * indent
    start, inside = _opened(text)
    arguments = _arguments(inside)
    fits = len(margin + text + end) <= LINE_LENGTH
    if fits or not arguments or not _HEAD.fullmatch(start):
        return f"{margin}{text}{end}"
    lines = [call(item, indent + 4, ",") for item in arguments]
    return "\n".join([f"{margin}{start}", *lines, f"{margin}{text[-1]}{end}"])


def _opened(text: str) -> tuple[str, str]:
    """Return a call up to its opening bracket, and what stands in the brackets."""
    depth, index = 0, 0
    for index in range(len(text) - 1, -1, -1):
        depth += (text[index] in ")]}") - (text[index] in "([{")
        if depth == 0:
            break
    return text[: index + 1], text[index + 1 : -1]


def _arguments(inside: str) -> list[str]:
    """Return the arguments of a call; none if it has none to break at."""
    if not inside.strip() or _COMPREHENSION.search(inside):
        return []
    depth, start, found = 0, 0, []
    for index, item in enumerate(inside):
        depth += (item in "([{") - (item in ")]}")
        if item == "," and depth == 0:
            found.append(inside[start:index].strip())
            start = index + 1
    return [*found, inside[start:].strip()]


def quoted(text: str) -> str:
    """Return a string literal, in double quotes unless that needs more escapes."""
    literal = repr(text)
    return f'"{literal[1:-1]}"' if literal[0] == "'" and '"' not in literal else literal


def short(text: str) -> bool:
    """Whether every line is short enough to stay as it is."""
    return all(len(line) <= LINE_LENGTH for line in text.split("\n"))
