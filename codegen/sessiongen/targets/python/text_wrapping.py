"""Wraps the docstrings and comments of rendered modules at the line length.

Only paragraphs with a long line are wrapped. Lines with a layout of their own, such as indented
code and tables, stay as they are.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

_TEXT = re.compile(
    r'^ *"""(?:\\.|[^\\])*?"""$|^(?P<margin> *)#[^\n]*(?:\n(?P=margin)#[^\n]*)*', re.M
)
_SECTION = re.compile(r"(?:Args|Attributes|Raises|Returns):")
_ENTRY = re.compile(r"\w+: ")
_ITEM = re.compile(r"[-*] |\d+[.)] ")
# The first character of a line that is not prose.
_LAID_OUT = tuple("|+")


@dataclass
class _Item:
    """A paragraph, an entry of a section or an item of a list.

    indents: the indentation of the first line, and of the following ones.
    """

    lines: list[str]
    indents: tuple[int, int]
    prose: bool = True

    def wrapped(self, width: int) -> list[str]:
        if not self.prose or max(map(len, self.lines)) <= width:
            return self.lines
        first, following = self.indents
        lines = textwrap.wrap(
            " ".join(line.strip() for line in self.lines),
            width,
            initial_indent=" " * first,
            subsequent_indent=" " * following,
            break_long_words=False,
            break_on_hyphens=False,
        )
        # Spaces other than ASCII ones can remain at the end.
        return [line.rstrip() for line in lines]


def wrapped(text: str, length: int) -> str:
    """Returns a module with its docstrings and comments wrapped at a line length."""
    if all(len(line) <= length for line in text.split("\n")):
        return text
    return _TEXT.sub(lambda match: _wrapped_text(match, length), text)


def _wrapped_text(match: re.Match[str], length: int) -> str:
    lines = match.group().split("\n")
    if max(map(len, lines)) <= length:
        return match.group()
    margin = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    width = length - len(margin)
    if match["margin"] is None:
        parts = _wrapped_docstring([line.removeprefix(margin) for line in lines], width)
    else:
        comments = [re.sub("^ *# ?", "", line) for line in lines]
        parts = [f"# {line}".rstrip() for line in _wrapped_lines(comments, width - 2)]
    return "\n".join(f"{margin}{line}" if line else "" for line in parts)


def _wrapped_docstring(lines: list[str], width: int) -> list[str]:
    if len(lines) == 1:
        # The closing quotes get a line of their own, and black joins them with a single line.
        summary = lines[0].removesuffix('"""').rstrip()
        return [*_wrapped_lines([summary], min(width, len(summary) - 1)), '"""']
    return [*_wrapped_lines(lines[:-1], width), lines[-1]]


def _wrapped_lines(lines: list[str], width: int) -> list[str]:
    return [line for item in _items(lines) for line in item.wrapped(width)]


def _items(lines: list[str]) -> Iterator[_Item]:
    current: _Item | None = None
    section: int | None = None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if section is not None and line and indent <= section:
            section = None
        if current is not None and _continues(current, line, indent, section is not None):
            current.lines.append(line)
            current.indents = current.indents[0], indent
            continue
        if current is not None:
            yield current
        current = _item(line, indent, section is not None)
        if _SECTION.fullmatch(line.strip()):
            section = indent
    if current is not None:
        yield current


def _item(line: str, indent: int, in_section: bool) -> _Item:
    text = line.lstrip()
    prose = bool(text) and not text.startswith(_LAID_OUT) and (in_section or indent == 0)
    deeper = 4 if in_section and _ENTRY.match(text) else 2 if _ITEM.match(text) else 0
    return _Item([line], (indent, indent + deeper), prose and not _SECTION.fullmatch(text))


def _continues(item: _Item, line: str, indent: int, in_section: bool) -> bool:
    """Whether a line belongs to the item before it."""
    text = line.lstrip()
    if not text or not item.prose or _ITEM.match(text) or text.startswith(_LAID_OUT):
        return False
    first, following = item.indents
    if in_section and indent == first and _ENTRY.match(text):
        return False
    return indent == following or (len(item.lines) == 1 and in_section and indent > first)
