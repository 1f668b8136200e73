"""Compares enum values: each proto value beside each SDK's literal for it.

There is a section for each enum of the protocol. Where an SDK's code maps literals to proto
values with a table, the table must contain each literal with its value, and the default for other
literals must be the value that the enum declares as unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sessiongen.frontend.annotations import Annotated
from sessiongen.diagnostics import Rule, Span
from sessiongen.ir.enum_mapping import EnumBinding, bind
from sessiongen.parity.matrix import (
    ANYTHING,
    Cell,
    Finding,
    MISSING,
    NOT_COMPARED,
    Row,
    SDK_ONLY,
    Section,
)
from sessiongen.ir.protocol import Protocol
from sessiongen.ir.schema import Enum, EnumValue
from sessiongen.vocabulary.model import ValueMap, Vocabulary


def sections(
    protocol: Protocol, annotated: Annotated, vocabularies: Sequence[Vocabulary]
) -> list[Section]:
    """Return the sections of all enums, including those that no SDK has."""
    return [
        _section(
            bound.enum,
            bound.fallback,
            vocabularies,
            [bind(bound.enum, annotated, item) for item in vocabularies],
        )
        for bound in protocol.enums
    ]


def _section(
    enum: Enum,
    fallback: EnumValue | None,
    vocabularies: Sequence[Vocabulary],
    bindings: Sequence[EnumBinding | None],
) -> Section:
    pairs = list(zip(vocabularies, bindings, strict=True))
    published = {value.number: value for value in reversed(enum.values)}
    rows = [
        Row(
            f"{value.name} = {value.number}",
            tuple(
                _value_cell(enum, value, fallback, item, binding, first) for item, binding in pairs
            ),
        )
        for value in sorted(published.values(), key=lambda value: value.number)
        for first in [value.number == min(published)]
    ]
    for index, (item, binding) in enumerate(pairs):
        for cell in _sdk_only_cells(enum, fallback, item, binding) if binding else ():
            cells = [Cell("")] * len(pairs)
            cells[index] = cell
            rows.append(Row(SDK_ONLY, tuple(cells)))
    defaults = tuple(_default_cell(enum, fallback, item) for item in vocabularies)
    if any(cell.text != NOT_COMPARED for cell in defaults):
        rows.append(Row("(not in the host's map)", defaults))
    return Section(f"enum {enum.full_name}", tuple(item.sdk for item in vocabularies), tuple(rows))


def _value_cell(
    enum: Enum,
    value: EnumValue,
    fallback: EnumValue | None,
    vocabulary: Vocabulary,
    binding: EnumBinding | None,
    first: bool,
) -> Cell:
    if binding is None:
        if not first:
            return Cell(NOT_COMPARED)
        message = f"{vocabulary.sdk} has no enum for {enum.full_name}"
        difference_id = f"enum {enum.full_name}"
        return _difference(MISSING, vocabulary, difference_id, message, enum.span)
    literals = [literal for literal, bound in binding.pairs if bound.number == value.number]
    if literals:
        findings = [
            item for literal in literals for item in _map_findings(enum, value, vocabulary, literal)
        ]
        return Cell(", ".join(literals), tuple(findings))
    if fallback is not None and fallback.number == value.number:
        return Cell(ANYTHING)
    message = f"{vocabulary.sdk} has no value for {value.name}; its enum is at {binding.fact.place}"
    difference_id = f"value {enum.full_name}.{value.name}"
    return _difference(MISSING, vocabulary, difference_id, message, value.span)


def _sdk_only_cells(
    enum: Enum, fallback: EnumValue | None, vocabulary: Vocabulary, binding: EnumBinding
) -> Iterator[Cell]:
    """Yield the SDK's values that the protocol lacks: literals, and any literal of an open set."""
    fact = binding.fact
    for literal in binding.lost:
        message = (
            f"{vocabulary.sdk} has the value {literal.value!r} ({fact.place.file}:{literal.line}), "
            f"which {enum.full_name} lacks: it is lost on the wire"
        )
        difference_id = f"literal {fact.name}.{literal.value}"
        yield _difference(literal.value, vocabulary, difference_id, message, enum.span)
    if fact.open and fallback is None:
        message = (
            f"{vocabulary.sdk} allows any other value too ({fact.place}), and {enum.full_name} "
            "declares no unknown value"
        )
        yield _difference(ANYTHING, vocabulary, f"literal {fact.name}.*", message, enum.span)


def _maps(enum: Enum, vocabulary: Vocabulary) -> list[ValueMap]:
    """Return the maps of an SDK's code to values of an enum."""
    names = {value.name for value in enum.values}
    return [item for item in vocabulary.maps if any(value in names for _, value in item.pairs)]


def _map_findings(
    enum: Enum, value: EnumValue, vocabulary: Vocabulary, literal: str
) -> Iterator[Finding]:
    """Yield a finding for each map that lacks a literal or has another value for it."""
    numbers = {item.name: item.number for item in enum.values}
    for value_map in _maps(enum, vocabulary):
        mapped = dict(value_map.pairs).get(literal)
        if mapped is None:
            why = f"does not contain {literal!r}"
        elif numbers.get(mapped) != value.number:
            why = f"maps {literal!r} to {mapped}, not to {value.name}"
        else:
            continue
        message = f"{vocabulary.sdk}: the map {value_map.name} {why} ({value_map.place})"
        difference_id = f"map {value_map.name}.{literal}"
        yield Finding(vocabulary.sdk, difference_id, message, Rule.PARITY_VALUE, value.span)


def _default_cell(enum: Enum, fallback: EnumValue | None, vocabulary: Vocabulary) -> Cell:
    """Return the default values that the SDK's code uses for literals not in its maps."""
    defaults = [(item, default) for item in _maps(enum, vocabulary) for default in item.defaults]
    findings = []
    for item, default in defaults:
        if fallback is not None and default.value == fallback.name:
            continue
        message = (
            f"{vocabulary.sdk}: {default.within} uses {default.value} for a literal that "
            f"{item.name} lacks ({default.place}), which {enum.full_name} does not allow"
        )
        difference_id = f"default {item.name}: {default.within}"
        findings.append(
            Finding(vocabulary.sdk, difference_id, message, Rule.PARITY_VALUE, enum.span)
        )
    text = ", ".join(dict.fromkeys(default.value for _, default in defaults))
    return Cell(text or NOT_COMPARED, tuple(findings))


def _difference(
    text: str, vocabulary: Vocabulary, difference_id: str, message: str, span: Span
) -> Cell:
    return Cell(text, (Finding(vocabulary.sdk, difference_id, message, Rule.PARITY_VALUE, span),))
