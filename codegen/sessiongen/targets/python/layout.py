"""The default line length, and source text of literals and imports in black's form."""

from __future__ import annotations

from collections.abc import Collection

LINE_LENGTH = 100


def imported(module: str, names: Collection[str]) -> str:
    """Return the statement that imports names, or "" for none."""
    return f"from {module} import {', '.join(sorted(names))}" if names else ""


def quoted(text: str) -> str:
    """Return a string literal, in double quotes unless that needs more escapes."""
    literal = repr(text)
    return f'"{literal[1:-1]}"' if literal[0] == "'" and '"' not in literal else literal
