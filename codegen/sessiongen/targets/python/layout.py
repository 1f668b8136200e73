"""The default line length, and source text of literals and imports in black's form."""

from __future__ import annotations

from collections.abc import Collection, Sequence

LINE_LENGTH = 100


def imported(module: str, names: Collection[str]) -> str:
    """Returns the statement that imports names, or "" for none."""
    return f"from {module} import {', '.join(sorted(names))}" if names else ""


def literal_alias(name: str, literals: Sequence[str]) -> str:
    """Returns the statement that defines a type of literals."""
    return f"{name}: TypeAlias = Literal[{', '.join(literals)}]"


def quoted(text: str) -> str:
    """Returns a string literal, in double quotes unless that needs more escapes."""
    literal = repr(text)
    return f'"{literal[1:-1]}"' if literal[0] == "'" and '"' not in literal else literal


def tuple_of(texts: Collection[str]) -> str:
    """Returns the expression of a tuple of strings, or "" for none."""
    literals = ", ".join(quoted(text) for text in texts)
    return f"({literals}{',' * (len(texts) == 1)})" if texts else ""
