"""Lays out code as prettier 3 does with a width of 100, for the forms that generated code has.

Objects, interfaces and blocks need nothing: prettier keeps them on several lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

WIDTH = 100


def fits(text: str) -> bool:
    """Whether the last line of a text is short enough."""
    return len(text.rpartition("\n")[2]) <= WIDTH


def bracketed(head: str, items: Sequence[str], tail: str, indent: int = 0) -> str:
    """Returns a list of parameters, arguments or names: on one line, or one item a line.

    head: the text before the items, with the opening bracket. tail: the text after them, with
    the closing one. Braces have spaces inside, and type arguments have no comma at the end.
    """
    margin = " " * indent
    space = " " if head.endswith("{") and items else ""
    line = f"{margin}{head}{space}{', '.join(items)}{space}{tail}"
    if not items or (fits(line) and not any("\n" in item for item in items)):
        return line
    inside = ",\n".join(f"{margin}  {item}" for item in items)
    comma = "" if head.endswith("<") else ","
    return f"{margin}{head}\n{inside}{comma}\n{margin}{tail}"


def union(head: str, members: Sequence[str], tail: str = ";", indent: int = 0) -> str:
    """Returns a union type: on one line, or one member a line.

    Versions of prettier break a union differently if its members fit on the line below the
    head: up to 3.6 one member a line, later ones on that line. It has a comment that makes all
    of them keep it.
    """
    margin = " " * indent
    joined = f"{' | '.join(members)}{tail}"
    line = f"{margin}{head} {joined}"
    if fits(line) or len(members) == 1:
        return line
    comment = f"{margin}// prettier-ignore\n" if fits(f"{margin}  {joined}") else ""
    inside = "".join(f"\n{margin}  | {item}" for item in members)
    return f"{comment}{margin}{head}{inside}{tail}"


def imports(module: str, names: Iterable[str]) -> str:
    """Returns an import statement; of types alone it is `import type`.

    names: each may begin with `type`; they are sorted without it.
    """
    listed = sorted(set(names), key=lambda name: name.removeprefix("type "))
    if all(name.startswith("type ") for name in listed):
        listed = [name.removeprefix("type ") for name in listed]
        return bracketed("import type {", listed, f"}} from '{module}';")
    return bracketed("import {", listed, f"}} from '{module}';")
