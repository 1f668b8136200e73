"""Finds values of an SDK's enums that no code of the SDK uses.

A member is used where its qualified name stands, a literal where its string stands, except in
the definition, in comparisons, and in tables that map it to a proto value. The text of all sources
is searched without comment lines, so that this works in each language. An enum whose members are
made from values, as in `Reason(text)`, has no unused values.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from sessiongen.vocabulary.model import (
    ENUM,
    LITERAL,
    UNION,
    EnumFact,
    LiteralValue,
    Place,
    UnusedValue,
    Vocabulary,
)
from sessiongen.vocabulary.package import Package

_COMMENT = re.compile(r"\s*(#|//|/?\*)")
_COMPARISON_BEFORE = re.compile(r"(==|!=|\bis|\bis not|\bcase)\s*$")
_COMPARISON_AFTER = re.compile(r"\s*(==|!=|is\b)")
_SOURCES = (".py", ".ts", ".mts", ".cts")
# Declarations and tests use no values.
_DECLARATIONS = (".d.ts", ".d.mts", ".d.cts", ".test.ts", ".spec.ts")


def unused_values(vocabulary: Vocabulary, package: Package) -> tuple[UnusedValue, ...]:
    """Returns the values of a vocabulary's enums that nothing in the package uses."""
    files = {
        path: data.decode("utf-8", errors="replace")
        for path, data in package.files.items()
        if path.endswith(_SOURCES) and not path.endswith(_DECLARATIONS)
    }
    return tuple(
        unused
        for enum in vocabulary.enums
        if enum.form in (ENUM, LITERAL, UNION) and not enum.open and not _is_converted(enum, files)
        for unused in _unused_of(enum, vocabulary, files)
    )


def _unused_of(enum: EnumFact, vocabulary: Vocabulary, files: dict[str, str]) -> list[UnusedValue]:
    """Returns the unused values of an enum.

    Members of an enum that are texts may be used as plain texts, if no code names a member.
    """
    unused = list(_unused(enum, vocabulary, files))
    if enum.form != ENUM or len(unused) < len(enum.literals) or not _is_text(enum, files):
        return unused
    plain = [item._replace(member=None) for item in enum.literals]
    return list(_unused(enum._replace(literals=tuple(plain)), vocabulary, files))


def _is_text(enum: EnumFact, files: dict[str, str]) -> bool:
    """Whether the members of an enum are texts, as in `class Reason(str, Enum)`."""
    lines = files.get(enum.place.file, "").splitlines()[enum.place.line - 1 :][:1]
    return any(re.search(r"\(\s*(str\b|StrEnum\b)", line) for line in lines)


def _is_converted(enum: EnumFact, files: dict[str, str]) -> bool:
    """Whether a member may be made from a value that is not constant."""
    if enum.form != ENUM:
        return False
    pattern = re.compile(rf"(?<!class )(?<!enum )\b{re.escape(enum.name)}\((?!\s*str\b)")
    return any(pattern.search(text) for text in files.values())


def _unused(enum: EnumFact, vocabulary: Vocabulary, files: dict[str, str]) -> Iterator[UnusedValue]:
    last_line = max((item.line for item in enum.literals), default=enum.place.line)
    for literal in enum.literals:
        needle = literal.value if literal.member is None else enum.name
        if literal.member is not None:
            members = "|".join(map(re.escape, _members(enum, literal, files)))
            pattern = re.compile(rf"\b{re.escape(enum.name)}\.({members})\b")
        else:
            pattern = re.compile(rf"""(["'`]){re.escape(literal.value)}\1""")
        # A regular expression is slow on files that have no match.
        mentioning = [(path, text) for path, text in files.items() if needle in text]
        uses = (place for path, text in mentioning for place in _uses(path, text, pattern))
        tables = _table_lines(vocabulary, literal.value, files)
        defining = range(enum.place.line, last_line + 1)
        if not any(
            not (place.file == enum.place.file and place.line in defining) and place not in tables
            for place in uses
        ):
            place = Place(enum.place.file, literal.line)
            yield UnusedValue(enum.name, literal.value, place)


def _members(enum: EnumFact, literal: LiteralValue, files: dict[str, str]) -> list[str]:
    """Returns the names of a value in its enum; an alias has the value of another member."""
    after = files.get(enum.place.file, "").splitlines()[enum.place.line :]
    lines = itertools.takewhile(lambda line: line[:1] in {"", " ", "\t"}, after)
    value = re.compile(rf"""\s+(\w+)\s*=\s*(["']){re.escape(literal.value)}\2""")
    names = [match.group(1) for line in lines if (match := value.match(line))]
    return list(dict.fromkeys([literal.member or "", *names]))


def _uses(path: str, text: str, pattern: re.Pattern[str]) -> Iterator[Place]:
    """Yields the lines of a file that match a pattern, except comments and comparisons."""
    for match in pattern.finditer(text):
        begin = text.rfind("\n", 0, match.start()) + 1
        compared = _COMPARISON_BEFORE.search(text[begin : match.start()])
        compared = compared or _COMPARISON_AFTER.match(text, match.end())
        if not compared and not _COMMENT.match(text, begin):
            yield Place(path, text.count("\n", 0, match.start()) + 1)


def _table_lines(vocabulary: Vocabulary, literal: str, files: dict[str, str]) -> set[Place]:
    """Returns the lines that map a literal to a proto value."""
    tables = [item.pairs for item in vocabulary.maps]
    tables += [item.pairs for item in vocabulary.conversions]
    values = {value for pairs in tables for name, value in pairs if name == literal}
    if not values:
        return set()
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, sorted(values)))})\b")
    mentioning = (item for item in files.items() if any(value in item[1] for value in values))
    return {place for path, text in mentioning for place in _uses(path, text, pattern)}
