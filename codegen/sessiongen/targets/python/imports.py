"""Removes unused imports from rendered modules."""

from __future__ import annotations

import re

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
