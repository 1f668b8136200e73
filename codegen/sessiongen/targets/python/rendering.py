"""Renders templates to source text with LF line ends and without unused imports.

An undefined name in a template is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

_IMPORT = re.compile(r"^from (?P<module>\S+) import (?P<names>[^(\n]+)$", re.MULTILINE)
# The end of the imports and the blank lines before a constant: black leaves one.
_AFTER_IMPORTS = re.compile(r"^(from .*\n)\n{2,}(?!class |def |async |@|#)", re.MULTILINE)
# The names that a module exports, which are strings.
_ALL = re.compile(r"^__all__ = \[([^]]*)\]", re.MULTILINE)
# Strings and comments, which do not use the names in them.
_STRING_OR_COMMENT = re.compile(
    r'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*', re.DOTALL
)
# A name that is not an attribute.
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
        # The templates write Python, not HTML.
        autoescape=False,
    )
    result.filters.update(filters)
    return result


def without_unused_imports(text: str) -> str:
    """Return a module without unused names in its one-line `from` imports."""
    lines = text.split("\n")
    code = _IMPORT.sub("", text)
    used = set(_NAME.findall(_STRING_OR_COMMENT.sub("", code)))
    for exported in _ALL.findall(code):
        used.update(_NAME.findall(exported))
    result: list[str] = []
    for line in lines:
        match = _IMPORT.match(line)
        if match and match["module"] != "__future__":
            names = match["names"].split(", ")
            used_names = [name for name in names if name.split(" as ")[-1].strip() in used]
            if used_names:
                result.append(f"from {match['module']} import {', '.join(used_names)}")
            elif result and not result[-1]:
                # Without the import, one group of blank lines is enough.
                result.pop()
        else:
            result.append(line)
    return _AFTER_IMPORTS.sub(r"\1\n", "\n".join(result))
