"""Renders comments as Python string literals or comment lines.

The result contains no code, whatever the text of the comment.
"""

from __future__ import annotations

import re

# Characters that end a line in Python, that black changes, or that are invisible.
_ESCAPED_CHARACTERS = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)

# Characters to escape in a triple-quoted literal: backslashes, and quotes at its start or
# end or beside each other.
_ESCAPED_SYNTAX = re.compile(r'\\|"{2,}|\A"|"\Z')


def docstring(text: str, indent: int) -> str:
    """Returns a docstring literal as black leaves it; `indent` is the column of its quotes."""
    escaped = _ESCAPED_SYNTAX.sub(
        lambda match: "".join(f"\\{item}" for item in match.group()), text.strip()
    )
    escaped = _ESCAPED_CHARACTERS.sub(lambda match: _escape(match.group()), escaped)
    first, *following = escaped.split("\n")
    if not following:
        # black puts a space between a quote and the closing quotes, ruff does not.
        return f'"""{first[:-2]}\\x22"""' if first.endswith('"') else f'"""{first}"""'
    # black removes the common indentation.
    common_indent = min(
        (len(line) - len(line.lstrip()) for line in following if line.strip()), default=0
    )
    margin = " " * indent
    lines = [f"{margin}{line[common_indent:]}".rstrip() for line in following]
    return "\n".join([f'"""{first}', *lines, f'{margin}"""'])


def entry(name: str, text: str) -> str:
    """Returns an entry of a section such as `Args:`."""
    return f"    {name}: {text}".replace("\n", "\n        ")


def comment(text: str) -> list[str]:
    """Returns the lines of a comment, without the `#`; [] for an empty text."""
    escaped = _ESCAPED_CHARACTERS.sub(lambda match: _escape(match.group()), text)
    return escaped.split("\n") if escaped else []


def _escape(character: str) -> str:
    if character == "\t":
        return "\\t"
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
