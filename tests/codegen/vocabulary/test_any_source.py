"""Property test: reading a damaged package returns facts or diagnostics and does not raise."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_sdks import PYTHON_SDK, TYPESCRIPT_SDK

from scopes import PYTHON, TYPESCRIPT
from sessiongen.vocabulary import Reading, dump
from sessiongen.vocabulary.scope import Scope
from sessiongen.vocabulary import python as python_reader
from sessiongen.vocabulary import typescript as typescript_reader
from sessiongen.vocabulary.package import Package

PYTHON_FILES = {f"livekit/agents/{path}": text for path, text in PYTHON_SDK.items()}
FRAGMENTS = st.sampled_from(
    [
        "",
        "[",
        "(",
        "}",
        "'",
        '"""',
        ":",
        ",",
        ".",
        "|",
        "=",
        "\n",
        "\0",
        "*",
        "?",
        "é",
        "class ",
        "x",
    ]
)
EDITS = st.lists(
    st.tuples(st.integers(0, 3000), st.integers(0, 40), FRAGMENTS), min_size=1, max_size=4
)


def edited(files: Mapping[str, str], path: str, edits: list[tuple[int, int, str]]) -> Package:
    """Returns the files, with parts of one file replaced by fragments."""
    text = files[path]
    for position, length, fragment in edits:
        position %= len(text) + 1
        text = text[:position] + fragment + text[position + length :]
    return Package("sdk", {name: value.encode() for name, value in {**files, path: text}.items()})


@pytest.mark.parametrize(
    ("read", "scope", "files"),
    [
        (python_reader.read, PYTHON, PYTHON_FILES),
        (typescript_reader.read, TYPESCRIPT, TYPESCRIPT_SDK),
    ],
    ids=["python", "typescript"],
)
@settings(max_examples=150, deadline=None)
@given(data=st.data(), edits=EDITS)
def test_edited_package_is_read_without_an_exception(
    read: Callable[[Package, Scope], Reading],
    scope: Scope,
    files: Mapping[str, str],
    data: st.DataObject,
    edits: list[tuple[int, int, str]],
) -> None:
    path = data.draw(st.sampled_from(sorted(set(files) - {"package.json"})))
    reading = read(edited(files, path, edits), scope)
    if reading.vocabulary is not None:
        dump(reading.vocabulary)
    for item in reading.diagnostics:
        assert item.span.line >= 1 and item.span.column >= 1 and item.help
