"""Rendering: templates and models to text.

In: the name of a template and what it may use. Out: source text with LF line ends and
without imports that nothing uses. Undefined names in a template are errors.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sessiongen import pieces

_IMPORT = re.compile(r"^from (\S+) import ([^(]+)$")


def environment(folder: Path, filters: dict[str, Callable[..., str]]) -> Environment:
    """Return the Jinja environment of one target's templates."""
    result = Environment(
        loader=FileSystemLoader(folder, encoding="utf-8"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        newline_sequence="\n",
        # Templates write Python, in which HTML's escapes would be wrong.
        autoescape=False,
    )
    result.filters.update(filters)
    return result


def without_unused_imports(text: str) -> str:
    """Drop names that nothing uses from the one-line `from` imports at the top."""
    lines = text.split("\n")
    statements = [(index, _IMPORT.match(line)) for index, line in enumerate(lines)]
    found = [(index, match) for index, match in statements if match]
    used = {name for piece in pieces.cut(text) for name in _names(piece.source)}
    for index, match in found:
        module, names = match.groups()
        if module == "__future__":
            continue
        kept = [name for name in names.split(", ") if name.split(" as ")[-1].strip() in used]
        lines[index] = f"from {module} import {', '.join(kept)}" if kept else ""
    return "\n".join(lines)


def _names(source: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
