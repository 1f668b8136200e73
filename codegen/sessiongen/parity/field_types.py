"""Compares the types of an SDK's fields with the types of the message fields that they fill.

Only what changes the meaning on the wire is a difference: a list where one value is expected, text
where a number is expected, or an enum that has other values than the one that the protocol carries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sessiongen.ir.enum_mapping import EnumBinding
from sessiongen.ir.protocol import BoundEnum
from sessiongen.ir.schema import Field, Kind
from sessiongen.vocabulary.model import FieldFact, Record, Vocabulary

_LIST, _MAP, _TEXT, _NUMBER, _FLAG, _OTHER = "list", "map", "text", "number", "flag", "other"
_TIME = "time"
_ABSENT = {"None", "null", "undefined"}
_LISTS = ("list[", "List[", "Sequence[", "tuple[", "set[", "Array<", "ReadonlyArray<", "Set<")
_MAPS = ("dict[", "Dict[", "Mapping[", "Record<", "Map<")
_PLAIN = {
    "bool": _FLAG,
    "boolean": _FLAG,
    "float": _NUMBER,
    "int": _NUMBER,
    "number": _NUMBER,
    "str": _TEXT,
    "string": _TEXT,
}
# Classes of times. What fills a time of the protocol is a number.
_PLAIN |= dict.fromkeys(("Date", "datetime", "datetime.datetime", "timedelta"), _TIME)
_TIMES = {"google.protobuf.Timestamp", "google.protobuf.Duration"}
_WRAPPER = re.compile(r"^(?:Optional|NotGivenOr|Final|ReadOnly)\[(.*)\]$")
# Stands for an arrow, whose second character is no bracket.
_ARROW = "\0"
_NUMBERS = {Kind.INT, Kind.FLOAT}
_SECONDS = {_NUMBER, _OTHER}


class FieldTypes:
    """The types of an SDK's fields."""

    def __init__(self, vocabulary: Vocabulary, enums: Iterable[BoundEnum]) -> None:
        self._vocabulary = vocabulary
        self._enums = {item.enum.full_name: item for item in enums}

    def difference(self, field: Field, record: Record, source: FieldFact) -> str | None:
        """Returns what differs between a message's field and its source, None if nothing does."""
        parts = [part for part in alternatives(source.type) if part not in _ABSENT]
        if not parts:
            return None
        name = f"{record.name}.{source.name}"
        if field.value.kind is Kind.ENUM and not field.repeated:
            return self._enum_difference(field, name, parts, source)
        expected = _expected(field)
        kinds = {_kind(part) for part in parts}
        if not (kinds - expected if expected else kinds & {_LIST}):
            return None
        what = (
            "a list" if field.repeated else "a map" if field.key else f"a {field.value.kind.value}"
        )
        what = "a number of seconds" if expected == _SECONDS else what
        return f"is {what}, and {name} has the type `{source.type}` ({source.place})"

    def _enum_difference(
        self, field: Field, name: str, parts: list[str], source: FieldFact
    ) -> str | None:
        bound = self._enums.get(field.value.type_name)
        binding = bound.bindings.get(self._vocabulary.sdk) if bound is not None else None
        if bound is None or binding is None:
            return None
        if binding.fact.name == name and not binding.fact.open:
            return None
        wrong = [part for part in parts if not self._is_carried(part, binding)]
        open_ = [part for part in wrong if self._is_open(part)]
        if not wrong or (bound.fallback is not None and wrong == open_):
            return None
        if wrong == open_:
            why = "allows any other value too"
        else:
            why = f"is not {binding.fact.name}"
        return f"is filled from {name}, whose type `{source.type}` {why} ({source.place})"

    def open_source(self, field: Field, source: FieldFact) -> bool:
        """Whether the source of an enum's field allows values that the enum does not name."""
        if field.value.kind is not Kind.ENUM:
            return False
        return any(self._is_open(part) for part in alternatives(source.type))

    def _is_carried(self, part: str, binding: EnumBinding) -> bool:
        """Whether a type has no other values than those of the enum."""
        if part == binding.fact.name:
            return True
        known = {literal for literal, _ in binding.pairs}
        enum = self._vocabulary.enum(part)
        if enum is not None:
            return not enum.open and set(enum.values) <= known
        values = re.findall(r"""['"]([^'"]*)['"]""", part)
        return bool(values) and set(values) <= known

    def _is_open(self, part: str) -> bool:
        enum = self._vocabulary.enum(part)
        return _kind(part) == _TEXT and part in _PLAIN or (enum is not None and enum.open)


def alternatives(type_: str) -> list[str]:
    """Returns the members of a type that is written in Python or TypeScript."""
    parts = []
    for part in _split(type_):
        match = _WRAPPER.match(part)
        parts += alternatives(match.group(1)) if match is not None else [part]
    return [part for part in parts if part]


def class_names(type_: str) -> list[str]:
    """Returns the names in a type: those of its members, and of what a list of it holds."""
    return re.findall(r"[A-Za-z_]\w*", type_)


def _split(type_: str) -> Iterator[str]:
    """Yields the parts of a type between `|`, outside of brackets and quotes."""
    depth, part = 0, ""
    for character in type_.replace("=>", _ARROW):
        depth += (character in "[<({") - (character in "]>)}")
        if character == "|" and depth == 0:
            yield part.strip().replace(_ARROW, "=>")
            part = ""
        else:
            part += character
    yield part.strip().replace(_ARROW, "=>")


def _kind(part: str) -> str:
    if part.startswith(_LISTS) or part.endswith("[]"):
        return _LIST
    if part.startswith(_MAPS):
        return _MAP
    if part.startswith(("Literal[", "'", '"')):
        return _TEXT
    return _PLAIN.get(part, _OTHER)


def _expected(field: Field) -> set[str]:
    """Returns the kinds of types that can fill a field, nothing for a message."""
    if field.key is not None:
        return {_MAP, _OTHER}
    if field.repeated:
        return {_LIST, _OTHER}
    if field.value.kind is Kind.STRING:
        return {_TEXT, _OTHER}
    if field.value.kind in _NUMBERS:
        return {_NUMBER, _OTHER}
    if field.value.type_name in _TIMES:
        return _SECONDS
    return {_FLAG, _OTHER} if field.value.kind is Kind.BOOL else set()
