"""Enum values: each proto value beside each SDK's spelling.

In: a Protocol and vocabularies. Out: a Section for each enum of the protocol.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sessiongen.annotations import Annotated
from sessiongen.diagnostics import Rule, Span
from sessiongen.enum_bindings import Binding, bind
from sessiongen.parity.model import NOTHING, Cell, Finding, Row, Section
from sessiongen.protocol import Protocol
from sessiongen.schema import Enum, EnumValue
from sessiongen.vocabulary.model import Vocabulary

ANYTHING = "(anything else)"


def sections(
    protocol: Protocol, annotated: Annotated, vocabularies: Sequence[Vocabulary]
) -> list[Section]:
    """Return the sections of all enums; one that vanished from every SDK is there too."""
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
        for cell in _homeless(enum, fallback, item, binding) if binding else ():
            cells = [Cell(NOTHING)] * len(pairs)
            cells[index] = cell
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
        return _fault(NOTHING, vocabulary, thing, message, enum.span)
    words = [word for word, found in binding.pairs if found.number == value.number]
    if words:
        return Cell(", ".join(words))
    if fallback is not None and fallback.number == value.number:
        return Cell(ANYTHING)
    message = f"{vocabulary.sdk} has no value for {value.name}; its enum is at {binding.fact.place}"
    thing = f"value {enum.full_name}.{value.name}"
    return _fault(NOTHING, vocabulary, thing, message, value.span)


def _homeless(
    enum: Enum, fallback: EnumValue | None, vocabulary: Vocabulary, binding: Binding
) -> Iterator[Cell]:
    """Yield the SDK's values that the protocol lacks: words, and any word of an open set."""
    fact = binding.fact
    for word in binding.lost:
        message = (
            f"{vocabulary.sdk} has the value {word.value!r} ({fact.place.file}:{word.line}), "
            f"which {enum.full_name} lacks: it is lost on the wire"
        )
        thing = f"word {fact.name}.{word.value}"
        yield _fault(word.value, vocabulary, thing, message, enum.span)
    if fact.open and fallback is None:
        message = (
            f"{vocabulary.sdk} allows any other value too ({fact.place}), and {enum.full_name} "
            "declares none that stands for it"
        )
        yield _fault(ANYTHING, vocabulary, f"word {fact.name}.*", message, enum.span)


def _fault(text: str, vocabulary: Vocabulary, thing: str, message: str, span: Span) -> Cell:
    return Cell(text, (Finding(vocabulary.sdk, thing, message, Rule.PARITY_VALUE, span),))
