"""Compares enum values: each proto value beside each SDK's literal for it.

There is a section for each enum that the protocol's roles carry. Its last rows say how the SDK's
code converts literals to proto values, and what it does with a literal that it does not know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sessiongen.frontend.annotations import Annotated
from sessiongen.diagnostics import Rule, Span
from sessiongen.ir.enum_mapping import EnumBinding, bind
from sessiongen.parity.enum_conversions import EnumConversions
from sessiongen.parity.matrix import (
    ANY,
    ANYTHING,
    Cell,
    Compared,
    Finding,
    MISSING,
    NOT_COMPARED,
    Row,
    SDK_ONLY,
    Section,
    UNVERIFIED,
)
from sessiongen.ir.protocol import Protocol
from sessiongen.ir.reachability import reachable_enums
from sessiongen.ir.schema import Enum, EnumValue
from sessiongen.vocabulary.model import Vocabulary


def sections(
    protocol: Protocol, annotated: Annotated, vocabularies: Sequence[Vocabulary]
) -> list[Section]:
    """Returns the sections of the enums that the roles carry, including those that no SDK has."""
    carried = reachable_enums(protocol)
    return [
        _section(
            bound.enum,
            bound.fallback,
            vocabularies,
            [bind(bound.enum, annotated, item) for item in vocabularies],
            [
                EnumConversions(bound.enum, bound.fallback, protocol.schema, item)
                for item in vocabularies
            ],
        )
        for bound in protocol.enums
        if bound.enum.full_name in carried
    ]


def _section(
    enum: Enum,
    fallback: EnumValue | None,
    vocabularies: Sequence[Vocabulary],
    bindings: Sequence[EnumBinding | None],
    conversions: Sequence[EnumConversions],
) -> Section:
    pairs = list(zip(vocabularies, bindings, strict=True))
    triples = list(zip(vocabularies, bindings, conversions, strict=True))
    published = {value.number: value for value in reversed(enum.values)}
    rows = [
        Row(
            f"{value.name} = {value.number}",
            tuple(
                _value_cell(enum, value, fallback, item, binding, first, conversion)
                for item, binding, conversion in triples
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
    rows += _conversion_rows(fallback, conversions)
    return Section(f"enum {enum.full_name}", tuple(item.sdk for item in vocabularies), tuple(rows))


def _value_cell(
    enum: Enum,
    value: EnumValue,
    fallback: EnumValue | None,
    vocabulary: Vocabulary,
    binding: EnumBinding | None,
    first: bool,
    conversions: EnumConversions,
) -> Cell:
    if binding is None:
        if not first:
            return Cell(NOT_COMPARED)
        message = f"{vocabulary.sdk} has no enum for {enum.full_name}"
        difference_id = f"enum {enum.full_name}"
        return _difference(MISSING, vocabulary, difference_id, message, enum.span)
    compared: tuple[Compared, ...] = (
        Compared(vocabulary.sdk, f"enum {enum.full_name}"),
        Compared(vocabulary.sdk, f"value {enum.full_name}.{value.name}"),
        Compared(vocabulary.sdk, f"literal {binding.fact.name}.{ANY}"),
    )
    literals = [literal for literal, bound in binding.pairs if bound.number == value.number]
    if literals:
        findings = [
            item for literal in literals for item in conversions.value_findings(value, literal)
        ]
        unused = list(_unused(enum, value, vocabulary, binding, literals))
        findings += unused
        text = ", ".join(literals) + (" (never used)" if unused else "")
        text = f"{text} ({UNVERIFIED})" if conversions.unread else text
        compared += conversions.compared_values(literals, findings)
        compared += tuple(
            Compared(vocabulary.sdk, f"unused {binding.fact.name}.{literal}")
            for literal in literals
        )
        return Cell(text, tuple(findings), compared)
    if fallback is not None and fallback.number == value.number:
        return Cell(ANYTHING if conversions.sends_fallback else NOT_COMPARED, compared=compared)
    message = f"{vocabulary.sdk} has no value for {value.name}; its enum is at {binding.fact.place}"
    difference_id = f"value {enum.full_name}.{value.name}"
    return _difference(MISSING, vocabulary, difference_id, message, value.span)


def _unused(
    enum: Enum,
    value: EnumValue,
    vocabulary: Vocabulary,
    binding: EnumBinding,
    literals: Sequence[str],
) -> Iterator[Finding]:
    """Yields a finding for each literal that no code of the SDK uses."""
    for item in vocabulary.unused_values:
        if item.enum == binding.fact.name and item.value in literals:
            message = (
                f"{vocabulary.sdk}: no code uses the value {item.value!r} of {item.enum} "
                f"({item.place}), so {value.name} is never sent"
            )
            difference_id = f"unused {item.enum}.{item.value}"
            yield Finding(vocabulary.sdk, difference_id, message, Rule.PARITY_VALUE, value.span)


def _conversion_rows(
    fallback: EnumValue | None, conversions: Sequence[EnumConversions]
) -> Iterator[Row]:
    """Yields the rows of the tables and of the defaults, if an SDK fills a field of the enum."""
    tables = tuple(item.table_cell() for item in conversions)
    if any(cell.text != NOT_COMPARED for cell in tables):
        yield Row("(converted by)", tables)
    defaults = tuple(item.default_cell() for item in conversions)
    if any(cell.text != NOT_COMPARED for cell in defaults):
        generated = fallback.name if fallback is not None else "an error"
        yield Row(f"(any other value; generated code: {generated})", defaults)


def _sdk_only_cells(
    enum: Enum, fallback: EnumValue | None, vocabulary: Vocabulary, binding: EnumBinding
) -> Iterator[Cell]:
    """Yields the SDK's values that the protocol lacks: literals, and any literal of an open set."""
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


def _difference(
    text: str, vocabulary: Vocabulary, difference_id: str, message: str, span: Span
) -> Cell:
    return Cell(text, (Finding(vocabulary.sdk, difference_id, message, Rule.PARITY_VALUE, span),))
