"""Property tests of docstrings and comments made from any text.

The literals must equal the text, must not run code, and must be formatted as black does it.
"""

from __future__ import annotations

import ast

import black
from black.mode import TargetVersion
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sessiongen.ir.schema import clean
from sessiongen.targets.python.docstrings import comment, docstring, entry

MODE = black.Mode(line_length=100, target_versions={TargetVersion.PY310})
ODD = "ab \"\\'\t\n\r\x0b\x0c\x1c\x85\xa0\u2003\u2028\u202e\u3000\ufeff{}%#"
# What a .proto's comment becomes before it is rendered.
texts = st.text(st.sampled_from(ODD), max_size=24).map(clean).filter(lambda text: text.strip())


@settings(deadline=None, max_examples=400)
@given(texts, st.sampled_from([4, 8]))
@example('ends in a quote "', 4)
@example("ends in \\", 4)
@example("ends in \\\n  then deep\n    deeper", 4)
@example("first\n  all the rest\n\n   is indented", 8)
@example("   indented\nless", 4)
@example('\xa0"\\', 4)
@example("\xa0odd\n\xa0\xa0spaces\n \u3000too", 4)
def test_docstrings_are_as_black_leaves_them(text: str, indent: int) -> None:
    holder = "class A:\n" if indent == 4 else "class A:\n    def b(self) -> None:\n"
    source = f"{holder}{' ' * indent}{docstring(text, indent)}\n"
    assert black.format_str(source, mode=MODE) == source
    [node] = [item for item in ast.walk(ast.parse(source)) if isinstance(item, ast.Constant)][-1:]
    assert str(node.value).split() == text.split()


@settings(deadline=None, max_examples=400)
@given(texts)
@example("one\rimport os")
@example("one\x0cimport os")
@example("one\u2028import os")
def test_comments_run_nothing_and_stay(text: str) -> None:
    lines = [f"# {line}".rstrip() for line in comment(text)]
    source = "\n".join([*lines, "x = 1"]) + "\n"
    assert len(ast.parse(source).body) == 1
    assert black.format_str(source, mode=MODE) == source


def test_no_docs_are_no_comment() -> None:
    assert comment("") == []


def test_lines_of_an_entry_are_indented() -> None:
    assert entry("name", "One.\n\nTwo.") == "    name: One.\n        \n        Two."
