"""The forms that prettier gives to what is too long for a line."""

from __future__ import annotations

import pytest

from sessiongen.targets.typescript.layout import bracketed, imports, union
from sessiongen.targets.typescript.tsdoc import tsdoc

LONG = ["a" * 40, "b" * 40, "c" * 40]


def test_a_short_list_is_on_one_line() -> None:
    assert bracketed("f(", ["a", "b"], ");", 2) == "  f(a, b);"
    assert bracketed("import {", ["a"], "} from 'b';") == "import { a } from 'b';"
    assert bracketed("f(", [], "): void {") == "f(): void {"


def test_a_long_list_has_one_item_a_line() -> None:
    inside = "".join(f"    {item},\n" for item in LONG)
    assert bracketed("f(", LONG, ");", 2) == f"  f(\n{inside}  );"


def test_long_type_arguments_have_no_comma_at_the_end() -> None:
    inside = ",\n".join(f"  {item}" for item in LONG)
    assert bracketed("type A = B<", LONG, ">;") == f"type A = B<\n{inside}\n>;"


@pytest.mark.parametrize("length", [1, 80])
def test_a_union_is_broken_in_steps(length: int) -> None:
    short = "A" * length
    assert union(f"type {short} =", ["1", "2"]) == f"type {short} = 1 | 2;"
    either = union(f"type {short} =", ["b" * 40, "c" * 50], indent=2)
    lines = f"  type {short} =\n    | {'b' * 40}\n    | {'c' * 50};"
    assert either == f"  // prettier-ignore\n{lines}"
    assert union("type T =", LONG) == f"type T =\n  | {LONG[0]}\n  | {LONG[1]}\n  | {LONG[2]};"


def test_imports_are_sorted_by_name() -> None:
    assert imports("m", ["type C", "b", "A"]) == "import { A, type C, b } from 'm';"
    assert imports("m", ["type C", "type B"]) == "import type { B, C } from 'm';"


def test_a_comment_ends_at_its_own_end() -> None:
    assert tsdoc("One line.") == "/** One line. */\n"
    assert tsdoc("Two\n\nlines.", 2) == "  /**\n   * Two\n   *\n   * lines.\n   */\n"
    assert tsdoc("a */ b @c {d} <e>") == "/** a *\\/ b \\@c \\{d\\} \\<e\\> */\n"
    assert tsdoc("an open `quote") == "/** an open \\`quote */\n"
    assert tsdoc("") == ""
