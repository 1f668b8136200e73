"""Tests of the entries of dicts that are passed as keyword arguments."""

from __future__ import annotations

import ast

import pytest

from sessiongen.vocabulary.python.dict_entries import dict_entries


def entries(text: str) -> list[tuple[str, str]] | None:
    """Returns the names and the texts of the values of a dict, None if they are not known."""
    known = dict_entries(ast.parse(text, mode="eval").body, None)
    return None if known is None else [(name, ast.unparse(value)) for name, value in known]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{'a': x.a, 'b': 1}", [("a", "x.a"), ("b", "1")]),
        ("dict(a=x.a)", [("a", "x.a")]),
        (
            "{name: getattr(x, name) for name in ('a', 'b')}",
            [("a", "getattr(x, 'a')"), ("b", "getattr(x, 'b')")],
        ),
        ("{name: x[name] for name in ['a']}", [("a", "x['a']")]),
        ("x.model_dump(include={'a', 'b'})", [("a", "x.a"), ("b", "x.b")]),
    ],
)
def test_known_entries(text: str, expected: list[tuple[str, str]]) -> None:
    assert entries(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "{name: getattr(x, name) for name in names}",
        "{name: getattr(x, name) for name in ('a', 'b') if x}",
        "{name.upper(): getattr(x, name) for name in ('a', 'b')}",
        "{a: b for a in ('a',) for b in ('b',)}",
        "{name: value for name, value in x.items()}",
        "x.model_dump()",
        "x.model_dump(exclude={'a'})",
        "x.model_dump(include={'a'}, exclude_none=True)",
        "x.model_dump(include=names)",
        "x.items()",
    ],
)
def test_unknown_entries(text: str) -> None:
    assert entries(text) is None
