"""Renders any comment as a TSDoc comment that ends nowhere but at its own end."""

from __future__ import annotations

import re

# Characters that TSDoc gives a meaning, and the end of a comment.
_SYNTAX = re.compile(r"[\\{}@<>]|\*/")
_UNSAFE = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)


def tsdoc(text: str, indent: int = 0, *, code: bool = False) -> str:
    """Returns a comment and the line end after it; nothing for an empty text.

    code: the text is the generator's own, in which backquotes mark code.
    """
    if not text.strip():
        return ""
    escaped = text.strip() if code else _escaped(text.strip())
    margin = " " * indent
    lines = [line.rstrip() for line in escaped.split("\n")]
    if len(lines) == 1:
        return f"{margin}/** {lines[0]} */\n"
    inside = "".join(f"{margin} * {line}".rstrip() + "\n" for line in lines)
    return f"{margin}/**\n{inside}{margin} */\n"


def comment(text: str) -> str:
    """Returns a text as one line that can stand behind `//`."""
    return _UNSAFE.sub(" ", text).replace("\n", " ")


def _escaped(text: str) -> str:
    text = _SYNTAX.sub(
        lambda match: "*\\/" if match.group() == "*/" else f"\\{match.group()}", text
    )
    if text.count("`") % 2:
        text = text.replace("`", "\\`")
    return _UNSAFE.sub(lambda match: f"U+{ord(match.group()):04X}", text)
