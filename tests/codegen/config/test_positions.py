"""Tests of the positions of keys in TOML texts."""

from __future__ import annotations

import pytest
import tomli
from hypothesis import given
from hypothesis import strategies as st

from sessiongen.config.positions import place

TEXT = """\
# ä comment
top = 1
"quo ted" = 2
'single' = 3
"esc\\u00e4\\U0001F600ped" = 4
a.b . "c" = 5
inline = { x = 1, "日本" = { deep = 2 } } # after
many = [
  1, # one
]

  [table]
\tkey = 1

[table.sub."dot.ted"]
key = { y = 1 }

[[array]]
name = 1
"""


@pytest.mark.parametrize(
    ("keys", "position"),
    [
        (("top",), (2, 1)),
        (("quo ted",), (3, 1)),
        (("single",), (4, 1)),
        (("escä😀ped",), (5, 1)),
        (("a", "b", "c"), (6, 1)),
        (("inline",), (7, 1)),
        (("inline", "x"), (7, 12)),
        (("inline", "日本"), (7, 19)),
        (("inline", "日本", "deep"), (7, 28)),
        (("many",), (8, 1)),
        (("table",), (12, 4)),
        (("table", "key"), (13, 2)),
        (("table", "sub", "dot.ted"), (15, 2)),
        (("table", "sub", "dot.ted", "key", "y"), (16, 9)),
        (("array",), (18, 3)),
        (("array", "0", "name"), (19, 1)),
    ],
)
def test_positions(keys: tuple[str, ...], position: tuple[int, int]) -> None:
    assert place(TEXT, keys) == position


def test_missing_key_has_the_position_of_its_table() -> None:
    assert place(TEXT, ("table", "none")) == (12, 4)
    assert place(TEXT, ("none", "none")) == (1, 1)
    assert place("", ("none",)) == (1, 1)


KEYS = st.one_of(
    st.sampled_from(["a", "b", '"ä b"', "'c.d'"]),
    st.text(min_size=1, max_size=4).map(lambda text: '"' + text + '"'),
)
LINES = st.one_of(
    st.tuples(
        KEYS, st.sampled_from(["1", "[1,\n 2]", "{x = 1, y.z = 2}", "'''\nt = 1\n'''", "{}"])
    ).map(" = ".join),
    KEYS.map("[{}]".format),
    KEYS.map("[[{}]]".format),
    st.tuples(KEYS, KEYS).map(lambda pair: f"{pair[0]} . {pair[1]} = 0"),
    st.sampled_from(["# x = 1", "", "\t"]),
)


@given(st.lists(LINES, max_size=6).map("\n".join))
def test_every_key_of_any_toml_text_has_a_position(text: str) -> None:
    try:
        data = tomli.loads(text)
    except tomli.TOMLDecodeError:
        return
    lines = text.split("\n")
    for key in data:
        line, column = place(text, (key,))
        rest = lines[line - 1][column - 1 :]
        # A bare key, or one in quotes, whose escapes are not decoded here.
        assert rest.startswith((key, f"'{key}'", '"'))
