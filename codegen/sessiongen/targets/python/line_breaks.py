"""Breaks long lines of generated code as black does, so that black does not have to format them.

The shapes of lines in generated code are known: definitions, calls, subscripts, conditional
expressions, conditions and unions of types. Definitions with a line of another shape are passed
to black.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_STRING = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
_TOKEN = re.compile(rf"{_STRING}|[=!<>:]=|\w+|\s+|.")
_DEFINITION = re.compile(r"(?:async )?def \w+\(")
# A statement or an argument: the text before and after its value.
_PARTS = re.compile(
    r'(?P<start>return |raise |if |elif |\w+: TypeAlias = |(?:[\w.]+|"\w+")(?:=|: | = ))?'
    r"(?P<value>.*?)(?P<end>(?: = None)?,|:| from None|)"
)
# An element of a list that is a name or a string, or an entry of two of them.
_INDIVISIBLE = re.compile(rf"(?:(?:[\w.]+|{_STRING})(?:: |=))?(?:[\w.]+|{_STRING}),")
# An import of several names.
_IMPORT = re.compile(r"(?P<head>from [\w.]+ import )(?P<names>[\w, ]+)")
# The start of an annotated table, whose entries follow.
_TABLE = re.compile(r"(?P<head>\w+: \w+\[)(?P<body>.+)(?P<tail>\] = (?P<value>\w+\(|\{))")

_OPENING, _CLOSING = tuple("([{"), tuple(")]}")
# In the order of priority: the token that identifies a delimiter, and the tokens that delimit.
_DELIMITERS = {
    "for": ("for", "if"),
    ",": (",",),
    "else": ("if", "else"),
    "or": ("or", "and"),
    "and": ("and",),
    "|": ("|",),
}
# Operators that black breaks at as well.
_OPERATORS = frozenset("== != <= >= < > in is not + - * / % @ & ^ ~ #".split())
# The start of lines in which black puts a value with such a delimiter in parentheses.
_PARENTHESIZED = {
    "else": re.compile(r'return |[\w.]+ ?= ?|"\w+": '),
    "or": re.compile(r"(?:el)?if "),
    "and": re.compile(r"(?:el)?if "),
    "|": re.compile(r"\w+: (?:TypeAlias = )?"),
}


class _UnknownShape(Exception):
    """There is no rule for a line."""


def broken(text: str, length: int) -> str | None:
    """Returns code with its long lines broken, or None if black has to format it."""
    if all(len(line) <= length for line in text.split("\n")):
        return text
    breaker = _LineBreaker(length)
    try:
        return _long_line(length).sub(breaker.replacement, text)
    except _UnknownShape:
        return None


@lru_cache
def _long_line(length: int) -> re.Pattern[str]:
    """Returns the pattern of a long line of code, or of text, whose long lines stay."""
    return re.compile(
        rf'^(?P<code>(?! *(?:"""|#))[^\n]{{{length + 1},}})$'
        rf'|"""(?:\\.|[^\\])*?"""|{_STRING}|#[^\n]*',
        re.MULTILINE | re.DOTALL,
    )


class _LineBreaker:
    """Breaks lines that are longer than a length."""

    def __init__(self, length: int) -> None:
        self._length = length

    def replacement(self, match: re.Match[str]) -> str:
        """Returns the text for a match of `_long_line`."""
        line = match["code"]
        if line is None:
            return match.group()
        text = line.lstrip()
        return "\n".join(self._lines(text, len(line) - len(text)))

    def _lines(self, text: str, indent: int) -> list[str]:
        """Returns the lines of a statement, or of one element of a list with its comma."""
        margin = " " * indent
        if indent + len(text) <= self._length or _INDIVISIBLE.fullmatch(text):
            return [margin + text]
        imported = _IMPORT.fullmatch(text)
        if imported:
            names = [f"{margin}    {name}," for name in imported["names"].split(", ")]
            return [f"{margin}{imported['head']}(", *names, f"{margin})"]
        table = _TABLE.fullmatch(text)
        if table and indent + table.start("value") + len("(") > self._length:
            return self._enclosed(table["head"], table["body"], table["tail"], indent)
        if _DEFINITION.match(text):
            return self._definition(text, indent)
        match = _PARTS.fullmatch(text)
        assert match is not None
        start, value, end = match["start"] or "", match["value"], match["end"]
        delimiter = _split(value)[0]
        if delimiter:
            parenthesized = _PARENTHESIZED.get(delimiter)
            ends_with_call = delimiter != "else" and value[-1] == ")"
            if parenthesized is None or not parenthesized.fullmatch(start) or ends_with_call:
                raise _UnknownShape(text)
            return self._enclosed(f"{start}(", value, f"){end}", indent)
        head, body, tail = _brackets(value, -1)
        if len(tail) > 1 or _split(body)[0] == "else":
            raise _UnknownShape(text)
        return self._enclosed(start + head, body, tail + end, indent)

    def _definition(self, text: str, indent: int) -> list[str]:
        """Returns the lines of the first line of a function."""
        head, parameters, tail = _brackets(text, 0)
        if _split(parameters)[0] != ",":
            parameters += ","
        lines = self._enclosed(head, parameters, "", indent)[:-1]
        if indent + len(tail) <= self._length:
            return [*lines, " " * indent + tail]
        result = tail.removeprefix(") -> ").removesuffix(":")
        if _split(result)[0] != "|":
            raise _UnknownShape(text)
        return [*lines, *self._enclosed(") -> (", result, "):", indent)]

    def _enclosed(self, head: str, body: str, tail: str, indent: int) -> list[str]:
        """Returns the lines of an expression in brackets: the body is one line if it fits."""
        margin, inner = " " * indent, indent + 4
        if indent + max(len(head), len(tail)) > self._length:
            raise _UnknownShape(head)
        delimiter, parts = _split(body)
        # A list, tuple or dict display has one element per line, unlike the arguments of a call.
        display = delimiter == "," and not (head[-2:-1].isalnum() or head[-2:-1] == "_")
        if inner + len(body) <= self._length and not display:
            inside = [" " * inner + body]
        elif delimiter == ",":
            inside = [line for part in parts for line in self._lines(f"{part},", inner)]
        elif not delimiter:
            inside = self._lines(body, inner)
        elif inner + max(map(len, parts)) <= self._length:
            inside = [" " * inner + part for part in parts]
        else:
            raise _UnknownShape(body)
        return [margin + head, *inside, margin + tail]


def _brackets(text: str, index: int) -> tuple[str, str, str]:
    """Returns a text up to a pair of brackets, what they enclose, and the rest."""
    depth, opening, pairs = 0, 0, list[tuple[int, int]]()
    for match in _TOKEN.finditer(text):
        if match.group() in _OPENING:
            opening = opening if depth else match.end()
            depth += 1
        elif match.group() in _CLOSING:
            depth -= 1
            if depth == 0:
                pairs.append((opening, match.start()))
    if depth or not pairs or (index and len(pairs) > 1):
        raise _UnknownShape(text)
    start, end = pairs[index]
    if start == end:
        raise _UnknownShape(text)
    return text[:start], text[start:end], text[end:]


def _split(text: str) -> tuple[str, list[str]]:
    """Splits an expression at its outermost delimiters of the highest priority.

    Returns:
        The delimiter, "" for none, and the parts.
    """
    tokens = list(_outermost(text))
    token_texts = {token for token, _ in tokens}
    if {"for", "else"} <= token_texts:
        raise _UnknownShape(text)
    delimiter = next((item for item in _DELIMITERS if item in token_texts), "")
    if "=" in token_texts and delimiter not in ("for", ","):
        # One keyword argument; its value is split next.
        delimiter = ""
    elif delimiter in ("|", "") and token_texts & _OPERATORS:
        raise _UnknownShape(text)
    if not delimiter:
        return "", [text]
    places = [place for token, place in tokens if token in _DELIMITERS[delimiter]]
    parts = [text[start:end] for start, end in zip([0, *places], [*places, None], strict=True)]
    return delimiter, [part for item in parts if (part := item.strip(", "))]


def _outermost(text: str) -> Iterator[tuple[str, int]]:
    """Yields the tokens outside of brackets, without the parameters of a lambda; with positions."""
    depth, parameters = 0, False
    for match in _TOKEN.finditer(text):
        token = match.group()
        depth -= token in _CLOSING
        if depth == 0 and not parameters:
            yield token, match.start()
        depth += token in _OPENING
        parameters = (parameters or token == "lambda") and token != ":"
