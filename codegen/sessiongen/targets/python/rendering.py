"""Renders templates to source text with LF line ends and without unused imports.

An undefined name in a template is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

_IMPORT = re.compile(r"^from (\S+) import ([^(]+)$")
# Strings and comments, in which a name is no use of it.
_NO_CODE = re.compile(
    r'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*', re.DOTALL
)
# A name that is no attribute of something else.
_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*")


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
    code = "\n".join(line for line in lines if not _IMPORT.match(line))
    used = set(_NAME.findall(_NO_CODE.sub("", code)))
    for index, match in found:
        module, names = match.groups()
        if module == "__future__":
            continue
        kept = [name for name in names.split(", ") if name.split(" as ")[-1].strip() in used]
        lines[index] = f"from {module} import {', '.join(kept)}" if kept else ""
    return "\n".join(lines)
