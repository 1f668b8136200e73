"""Compares how an SDK converts its literals: what the values of an enum's fields are made of.

Every place that fills a field of the enum must convert each literal to its proto value, and any
other value to the one that the enum declares as unknown, or fail. A place whose code cannot be read
is unverified, which is a finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sessiongen.diagnostics import Rule
from sessiongen.ir.schema import Enum, EnumValue, Schema
from sessiongen.parity.matrix import NOT_COMPARED, UNVERIFIED, Cell, Compared, Finding
from sessiongen.vocabulary.model import Construction, Conversion, Place, Vocabulary

# The words of the languages for a missing value, which leaves a field at its zero value.
_MISSING_VALUES = {"None", "undefined"}


class _Table(NamedTuple):
    """A table or function that converts literals. default: None if it is not known."""

    name: str
    place: Place
    pairs: tuple[tuple[str, str], ...]
    default: str | None


class _UsedDefault(NamedTuple):
    """What a place makes of a literal that its table lacks."""

    table: str
    within: str
    place: Place
    value: str


class EnumConversions:
    """The conversions of an enum in one SDK."""

    def __init__(
        self, enum: Enum, fallback: EnumValue | None, schema: Schema, vocabulary: Vocabulary
    ) -> None:
        self._enum = enum
        self._fallback = fallback
        self._sdk = vocabulary.sdk
        fields = {
            (".".join(message.path), field.name)
            for message in schema.own_messages()
            for field in message.fields
            if field.value.type_name == enum.full_name
        }
        self._conversions = [
            item for item in vocabulary.conversions if (item.message, item.field) in fields
        ]
        read = {(item.message, item.field, item.place) for item in self._conversions}
        self._unread = [
            (item, name)
            for message, name in sorted(fields)
            for item in vocabulary.constructions
            if item.message == message and (name in item.fields or item.open)
            if (message, name, item.place) not in read
        ]
        self._tables = list(self._all_tables(vocabulary))
        self._defaults = list(self._all_defaults(vocabulary))

    @property
    def unread(self) -> bool:
        """Whether the SDK fills a field of the enum, and none of its conversions can be read."""
        return bool(self._unread) and not self._tables

    @property
    def sends_fallback(self) -> bool:
        """Whether a literal that no table has becomes the value that the enum declares as unknown."""
        return self._fallback is not None and any(
            self._is_allowed(item.value) for item in self._defaults
        )

    def value_findings(self, value: EnumValue, literal: str) -> Iterator[Finding]:
        """Yields a finding for each table that lacks a literal or has another value for it."""
        numbers = {item.name: item.number for item in self._enum.values}
        for table in self._tables:
            mapped = dict(table.pairs).get(literal)
            if mapped is None and table.default is not None and table.default in numbers:
                mapped = table.default
            if numbers.get(mapped or "") == value.number or not table.pairs:
                continue
            if mapped is None:
                why = f"does not contain {literal!r}"
            else:
                why = f"maps {literal!r} to {mapped}, not to {value.name}"
            message = f"{self._sdk}: the map {table.name} {why} ({table.place})"
            yield self._finding(f"map {table.name}.{literal}", message, value)

    def compared_values(
        self, literals: Iterable[str], findings: Iterable[Finding]
    ) -> tuple[Compared, ...]:
        """Returns the ids of the literals that every table converts to the right value."""
        different = {item.id for item in findings}
        ids = [f"map {table.name}.{literal}" for table in self._tables for literal in literals]
        return tuple(Compared(self._sdk, item) for item in ids if item not in different)

    def table_cell(self) -> Cell:
        """Returns what converts the literals; a place that cannot be read is a finding."""
        findings = [self._unread_finding(item, name) for item, name in self._unread]
        findings += [self._constant_finding(item) for item in self._conversions if not item.pairs]
        names = [item.table if item.pairs else item.default for item in self._conversions]
        names += [UNVERIFIED] if self._unread else []
        unread = {item.id for item in findings}
        ids = [
            f"{kind} {item.message}.{item.field}: {item.within}"
            for item in self._conversions
            for kind in ("unverified", "constant")
        ]
        compared = tuple(Compared(self._sdk, item) for item in ids if item not in unread)
        return Cell(", ".join(dict.fromkeys(names)) or NOT_COMPARED, tuple(findings), compared)

    def default_cell(self) -> Cell:
        """Returns what the SDK's code makes of a literal that it does not know."""
        findings = [
            self._finding(
                f"default {self._enum.full_name}: {item.within}",
                f"{self._sdk}: {item.within} {self._why(item)}",
            )
            for item in self._defaults
            if not self._is_allowed(item.value)
        ]
        text = ", ".join(dict.fromkeys(item.value for item in self._defaults))
        return Cell(text or NOT_COMPARED, tuple(dict.fromkeys(findings)), self._compared_defaults())

    def _compared_defaults(self) -> tuple[Compared, ...]:
        """Returns the ids of the places of which every default is read, whatever their tables."""
        unread = {item.within for item, _ in self._unread}
        places = {item.within for item in self._defaults} - unread
        name = self._enum.full_name
        return tuple(Compared(self._sdk, f"default {name}: {within}") for within in sorted(places))

    def _all_tables(self, vocabulary: Vocabulary) -> Iterator[_Table]:
        """Yields the tables that convert to values of the enum, each form of it once."""
        names = {value.name for value in self._enum.values}
        seen: set[tuple[str, tuple[tuple[str, str], ...]]] = set()
        for item in self._conversions:
            if (item.table, item.pairs) not in seen:
                seen.add((item.table, item.pairs))
                yield _Table(item.table, item.place, item.pairs, item.default)
        for value_map in vocabulary.maps:
            if (value_map.name, value_map.pairs) in seen:
                continue
            if any(value in names for _, value in value_map.pairs):
                yield _Table(value_map.name, value_map.place, value_map.pairs, None)

    def _all_defaults(self, vocabulary: Vocabulary) -> Iterator[_UsedDefault]:
        names = {value.name for value in self._enum.values}
        for item in self._conversions:
            if item.pairs:
                yield _UsedDefault(item.table, item.within, item.place, item.default)
        for value_map in vocabulary.maps:
            if any(value in names for _, value in value_map.pairs):
                for default in value_map.defaults:
                    yield _UsedDefault(value_map.name, default.within, default.place, default.value)

    def _is_allowed(self, value: str) -> bool:
        if self._fallback is not None:
            zero = self._fallback.number == 0 and value in _MISSING_VALUES
            return zero or value == self._fallback.name
        return not value.isupper() and value not in _MISSING_VALUES

    def _why(self, item: _UsedDefault) -> str:
        # The name of the table is no part of the state, so that a gap follows it to another one.
        literal = f"a literal that its table lacks ({item.table}, {item.place})"
        if item.value in _MISSING_VALUES:
            zero = next((value.name for value in self._enum.values if value.number == 0), "zero")
            return f"sends no value for {literal}, so it is received as {zero}"
        if item.value.isupper():
            return f"uses {item.value} for {literal}, which {self._enum.full_name} does not allow"
        declared = self._fallback.name if self._fallback is not None else ""
        return f"raises {item.value} for {literal}, for which the protocol declares {declared}"

    def _unread_finding(self, item: Construction, name: str) -> Finding:
        field = f"{item.message}.{name}"
        message = (
            f"{self._sdk}: how {item.within} converts the value of {field} cannot be read "
            f"({item.place})"
        )
        return self._finding(f"unverified {field}: {item.within}", message)

    def _constant_finding(self, item: Conversion) -> Finding:
        field = f"{item.message}.{item.field}"
        message = (
            f"{self._sdk}: {item.within} fills {field} always with {item.default} ({item.place})"
        )
        return self._finding(f"constant {field}: {item.within}", message)

    def _finding(self, difference_id: str, message: str, value: EnumValue | None = None) -> Finding:
        span = value.span if value is not None else self._enum.span
        return Finding(self._sdk, difference_id, message, Rule.PARITY_VALUE, span)
