"""Tests of the text, GitHub and JSON forms of diagnostics, and of their positions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessiongen.diagnostics import Diagnostic, InputError, Rule, Severity, Span, arrange, show
from sessiongen.frontend.source_map import SourceMap, characters

UNPAIRED = Diagnostic(
    Span("proto/a.proto", 352, 5), Rule.UNPAIRED_ARM, 'request arm "frobnicate"', "add one"
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


def test_the_text_form() -> None:
    assert UNPAIRED.text() == (
        'proto/a.proto:352:5: error[SG014]: request arm "frobnicate"\n  help: add one'
    )


def test_the_text_form_without_help_is_one_line() -> None:
    item = Diagnostic(Span("a"), Rule.PROTO, "said so", "", Severity.WARNING)
    assert item.text() == "a:1:1: warning[SG001]: said so"


def test_text_form_escapes_control_characters() -> None:
    item = Diagnostic(Span("a\nb"), Rule.PROTO, "c\x1b[31m\td", "e\r\nf ö 日本")
    assert item.text() == ("a\\nb:1:1: error[SG001]: c\\x1b[31m\\td\n  help: e\\r\\nf ö 日本")


def test_the_github_form() -> None:
    assert UNPAIRED.github() == (
        "::error file=proto/a.proto,line=352,col=5,title=SG014::"
        'request arm "frobnicate"%0Ahelp: add one'
    )


def test_github_form_escapes_separators() -> None:
    item = Diagnostic(Span("a,b:c%d\n.proto", 2, 3), Rule.DRIFT, "x%0Ay\r\n::z, w", "")
    assert item.github() == (
        "::error file=a%2Cb%3Ac%25d%0A.proto,line=2,col=3,title=SG020::x%250Ay%0D%0A::z, w"
    )


@pytest.mark.parametrize(
    ("severity", "command"),
    [(Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.NOTE, "notice")],
)
def test_github_command_of_each_severity(severity: Severity, command: str) -> None:
    item = Diagnostic(Span("a"), Rule.DRIFT, "b", "", severity)
    assert item.github() == f"::{command} file=a,line=1,col=1,title=SG020::b"


@given(TEXTS, TEXTS, TEXTS)
def test_the_github_form_can_be_read_back(file: str, message: str, help_: str) -> None:
    line = Diagnostic(Span(file, 7, 9), Rule.DRIFT, message, help_).github()
    assert not {"\n", "\r"} & set(line)
    # The first `::` ends the command, and commas separate its properties.
    command, _, body = line.removeprefix("::").partition("::")
    properties = dict(item.split("=", 1) for item in command.removeprefix("error ").split(","))
    assert list(properties) == ["file", "line", "col", "title"]
    assert unescaped(properties["file"]) == file
    assert (properties["line"], properties["col"], properties["title"]) == ("7", "9", "SG020")
    assert unescaped(body) == (f"{message}\nhelp: {help_}" if help_ else message)


def unescaped(text: str) -> str:
    for code, char in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(code, char)
    return text


def test_the_json_form() -> None:
    assert json.loads(show([UNPAIRED], "json")) == [
        {
            "file": "proto/a.proto",
            "line": 352,
            "column": 5,
            "severity": "error",
            "rule": "SG014",
            "message": 'request arm "frobnicate"',
            "help": "add one",
        }
    ]


@given(TEXTS, TEXTS, TEXTS)
def test_json_form_is_ascii(file: str, message: str, help_: str) -> None:
    text = show([Diagnostic(Span(file), Rule.DRIFT, message, help_)], "json")
    [record] = json.loads(text)
    assert text.isascii()
    assert (record["file"], record["message"], record["help"]) == (file, message, help_)


def test_no_diagnostics() -> None:
    assert (show([], "text"), show([], "github"), show([], "json")) == ("", "", "[]")


def at(
    file: str, line: int, column: int, rule: Rule = Rule.DRIFT, message: str = "m"
) -> Diagnostic:
    return Diagnostic(Span(file, line, column), rule, message, "h")


SORTED = [
    at("a", 2, 9),
    at("a", 10, 1),
    at("a", 10, 2, Rule.PROTO),
    at("a", 10, 2, Rule.DRIFT, "one"),
    at("a", 10, 2, Rule.DRIFT, "two"),
    at("b", 1, 1),
]


@given(st.permutations(SORTED), st.lists(st.sampled_from(SORTED)))
def test_diagnostics_are_sorted_and_unique(items: list[Diagnostic], more: list[Diagnostic]) -> None:
    assert arrange([*items, *more]) == SORTED
    assert InputError([*more, *items]).diagnostics == SORTED
    assert show([*more, *items], "text") == "\n".join(item.text() for item in SORTED)


def protoc_column(line: bytes) -> int:
    """Returns the column that protoc's tokenizer has reached after some bytes.

    A tab moves to the next multiple of eight; every other byte counts one, those of a
    byte order mark too. A test in test_refusals.py asks protoc itself.
    """
    column = 0
    for byte in line:
        column = (column // 8 + 1) * 8 if byte == ord("\t") else column + 1
    return column


LINES = st.text(
    st.one_of(
        st.sampled_from("\t äß日本😀"),
        st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]),
    )
)


@given(LINES, LINES)
def test_columns_count_characters(before: str, after: str) -> None:
    line = f"{before.lstrip(chr(0xFEFF))}{after}".encode()
    before = before.lstrip("\ufeff")
    assert characters(line, protoc_column(before.encode())) == len(before)


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize(
    ("before", "column"),
    [("", 1), ("\t", 2), ("  \t", 4), ("\t\t", 3), ("/* ä */ ", 9), ("/* 日本😀 */\t", 11)],
)
def test_positions_in_files(
    bom: bytes, end: bytes, before: str, column: int, tmp_path: Path
) -> None:
    lines = [before.encode() + b"x", before.encode() + b"y"]
    (tmp_path / "a.proto").write_bytes(bom + end.join(lines) + end)
    sources = SourceMap((tmp_path,))
    first = sources.span("a.proto", 0, protoc_column(bom + before.encode()))
    second = sources.span("a.proto", 1, protoc_column(before.encode()))
    assert (first.line, first.column) == (1, column)
    assert (second.line, second.column) == (2, column)


def test_position_beyond_the_end_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.proto").write_bytes(b"x\n")
    assert SourceMap((tmp_path,)).span("a.proto", 99, 7).line == 100
