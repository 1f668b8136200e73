"""Tests that long lines of docstrings and comments are wrapped, and only those."""

from __future__ import annotations

import black
import pytest
from black.mode import TargetVersion

from sessiongen.targets.python.text_wrapping import wrapped

MODE = black.Mode(line_length=40, target_versions={TargetVersion.PY310})

LONG = '''def f():
    """Returns a text that is longer than a line."""


def g():
    """Short summary.

    A paragraph whose first line is too long
    for the line length. Its second line
    is not.

    A paragraph that
    fits.

    Args:
        first: An argument with a long text.
        second: Short.
        third: Two
            lines, of which the second is long.

    Returns:
        What it is, in a text that is too long.

    - an item of a list, which is also too long
    - short

        code that is laid out and longer than a line
    | a | table with a row that is longer than it |
    """
    # A comment that is longer than the line.
    # Its second line.
    x = "a string that is longer than a line stays"
'''
WRAPPED = '''def f():
    """Returns a text that is longer
    than a line.
    """


def g():
    """Short summary.

    A paragraph whose first line is too
    long for the line length. Its second
    line is not.

    A paragraph that
    fits.

    Args:
        first: An argument with a long
            text.
        second: Short.
        third: Two lines, of which the
            second is long.

    Returns:
        What it is, in a text that is
        too long.

    - an item of a list, which is also
      too long
    - short

        code that is laid out and longer than a line
    | a | table with a row that is longer than it |
    """
    # A comment that is longer than the
    # line. Its second line.
    x = "a string that is longer than a line stays"
'''


def test_paragraphs_with_a_long_line_are_wrapped() -> None:
    assert wrapped(LONG, 40) == WRAPPED
    assert wrapped(WRAPPED, 40) == WRAPPED
    assert wrapped(LONG, 80) == LONG


@pytest.mark.parametrize("length", range(36, 60))
def test_black_keeps_a_wrapped_summary(length: int) -> None:
    text = 'def f():\n    """Returns a text that is longer than it."""\n'
    mode = black.Mode(line_length=length)
    assert black.format_str(wrapped(text, length), mode=mode) == wrapped(text, length)


def test_long_words_stay() -> None:
    text = f'def f():\n    """{"x" * 50}."""\n    # {"y" * 50}\n'
    assert black.format_str(wrapped(text, 40), mode=MODE) == text
