"""Enum values: each proto value beside each SDK's spelling.

In: a Protocol and vocabularies. Out: a Section for each enum that some SDK has.
"""

from __future__ import annotations

from collections.abc import Sequence

from sessiongen.annotations import Annotated
from sessiongen.diagnostics import Rule
from sessiongen.enum_bindings import Binding, bind
from sessiongen.parity.model import NOTHING, Cell, Finding, Row, Section
from sessiongen.protocol import Protocol
from sessiongen.schema import Enum, EnumValue
from sessiongen.vocabulary.model import Vocabulary, Word


def sections(
    protocol: Protocol, annotated: Annotated, vocabularies: Sequence[Vocabulary]
) -> list[Section]:
    """Return the sections of all enums with a twin in at least one SDK."""
    result = []
    for bound in protocol.enums:
        bindings = [bind(bound.enum, annotated, item) for item in vocabularies]
        if any(bindings):
            result.append(_section(bound.enum, bound.fallback, vocabularies, bindings))
    return result


def _section(
    enum: Enum,
    fallback: EnumValue | None,
    vocabularies: Sequence[Vocabulary],
    bindings: Sequence[Binding | None],
) -> Section:
    pairs = list(zip(vocabularies, bindings, strict=True))
    published = {value.number: value for value in reversed(enum.values)}
    rows = [
        Row(
            f"{value.name} = {value.number}",
            tuple(_cell(enum, value, fallback, item, binding, first) for item, binding in pairs),
        )
        for value in sorted(published.values(), key=lambda value: value.number)
        for first in [value.number == min(published)]
    ]
    for index, (item, binding) in enumerate(pairs):
        for word in binding.lost if binding else ():
            cells = [Cell(NOTHING)] * len(pairs)
            assert binding is not None
            cells[index] = Cell(word.value, _lost(enum, item, binding, word))
            rows.append(Row(NOTHING, tuple(cells)))
    return Section(f"enum {enum.full_name}", tuple(item.sdk for item in vocabularies), tuple(rows))


def _cell(
    enum: Enum,
    value: EnumValue,
    fallback: EnumValue | None,
    vocabulary: Vocabulary,
    binding: Binding | None,
    first: bool,
) -> Cell:
    if binding is None:
        if not first:
            return Cell(NOTHING)
        message = f"{vocabulary.sdk} has no enum for {enum.full_name}"
        thing = f"enum {enum.full_name}"
        return Cell(NOTHING, Finding(vocabulary.sdk, thing, message, Rule.PARITY_VALUE, enum.span))
    words = [word for word, found in binding.pairs if found.number == value.number]
    if words:
        return Cell(", ".join(words))
    if fallback is not None and fallback.number == value.number:
        return Cell("(anything else)")
    message = f"{vocabulary.sdk} has no value for {value.name}; its enum is at {binding.fact.place}"
    thing = f"value {enum.full_name}.{value.name}"
    return Cell(NOTHING, Finding(vocabulary.sdk, thing, message, Rule.PARITY_VALUE, value.span))


def _lost(enum: Enum, vocabulary: Vocabulary, binding: Binding, word: Word) -> Finding:
    fact = binding.fact
    message = (
        f"{vocabulary.sdk} has the value {word.value!r} ({fact.place.file}:{word.line}), which "
        f"{enum.full_name} lacks: it is lost on the wire"
    )
    thing = f"word {fact.name}.{word.value}"
    return Finding(vocabulary.sdk, thing, message, Rule.PARITY_VALUE, enum.span)
