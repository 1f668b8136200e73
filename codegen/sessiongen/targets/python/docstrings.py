"""Renders any comment as a Python string literal or as comment lines.

The result never executes anything, whatever the comment holds.
"""

from __future__ import annotations

import re
import textwrap

# Characters that end a line for Python, change under black, or cannot be seen.
_UNSAFE = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)

# What a literal in triple quotes would not hold as it is: backslashes, and quotes that
# stand at its edge or beside each other.
_SYNTAX = re.compile(r'\\|"{2,}|\A"|"\Z')

# A line that wrapping would spoil: one that is indented, or an item of a list.
_LAID_OUT = re.compile(r"^(?:[ \t]+\S|[-*|]|\d+[.)])", re.MULTILINE)


def docstring(text: str, indent: int) -> str:
    """Return a docstring literal as black leaves it; `indent` is the column of its quotes."""
    escaped = _SYNTAX.sub(
        lambda match: "".join(f"\\{item}" for item in match.group()), text.strip()
    )
    escaped = _UNSAFE.sub(lambda match: _escape(match.group()), escaped)
    first, *more = escaped.split("\n")
    if not more:
        return f'"""{first} """' if first.endswith('"') else f'"""{first}"""'
    # black moves lines to the margin together.
    aside = min((len(line) - len(line.lstrip()) for line in more if line.strip()), default=0)
    margin = " " * indent
    lines = [f"{margin}{line[aside:]}".rstrip() for line in more]
    return "\n".join([f'"""{first}', *lines, f'{margin}"""'])


def entry(name: str, text: str, width: int) -> str:
    """Returns an entry of a section such as `Args:`.

    If a line would be longer than `width`, the text is wrapped, unless it has lines with a
    layout of their own, such as lists.
    """
    lines = f"    {name}: {text}".replace("\n", "\n        ").split("\n")
    if all(len(line) <= width for line in lines) or _LAID_OUT.search(text):
        return "\n".join(lines)
    paragraphs = f"{name}: {text}".split("\n\n")
    wrapped = [_wrap(item, width, "" if index else "    ") for index, item in enumerate(paragraphs)]
    return "\n\n".join(wrapped)


def _wrap(text: str, width: int, first: str) -> str:
    return textwrap.fill(
        text,
        width,
        initial_indent=first or "        ",
        subsequent_indent="        ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def comment(text: str) -> list[str]:
    """Return a text as lines that can stand behind a `#`; none for an empty text."""
    escaped = _UNSAFE.sub(lambda match: _escape(match.group()), text)
    return escaped.split("\n") if escaped else []


def _escape(character: str) -> str:
    if character == "\t":
        return "\\t"
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
