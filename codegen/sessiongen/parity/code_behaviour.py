"""Compares what SDKs do beside filling fields: lists, unknown kinds, parts of texts, timeouts.

A list should keep its order and its items, a text its parts, a message should be passed on under no
condition, and a document beside the messages should have the names of the proto's enum. What an item of an unknown kind becomes and the timeout
of a request are only compared among the SDKs, since the protocol allows any of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sessiongen.diagnostics import Rule, Span
from sessiongen.ir.protocol import Protocol
from sessiongen.parity.matrix import Cell, Compared, Finding, NOT_COMPARED, Row, UNVERIFIED
from sessiongen.vocabulary.behaviours import (
    ALWAYS,
    CONDITION,
    COPY,
    DEFAULT_TIME,
    FIELDS,
    NAMES_OF,
    NOTHING,
    OMISSION,
    ORDER,
    PARTS,
    SOURCE_ORDER,
    TEXT,
    TIME_OF_DAY,
    TIMEOUT,
    UNKNOWN_KIND,
)
from sessiongen.vocabulary.model import Behaviour, Vocabulary

# What each kind of behaviour should be; the others are compared among the SDKs.
_EXPECTED = {
    ORDER: SOURCE_ORDER,
    OMISSION: NOTHING,
    PARTS: NOTHING,
    CONDITION: ALWAYS,
    COPY: NOTHING,
    DEFAULT_TIME: TIME_OF_DAY,
}
_LABELS = {
    FIELDS: "the fields of {}",
    ORDER: "order of {}",
    OMISSION: "items left out of {}",
    UNKNOWN_KIND: "an unknown kind of {}",
    PARTS: "parts left out of {}",
    TIMEOUT: "timeout of {}",
    TEXT: "{} in documents",
    CONDITION: "condition of {}",
    COPY: "changes by {}",
    DEFAULT_TIME: "default of {}",
}
_MESSAGES = {
    FIELDS: "the fields of {subject} are {value} in {within}",
    ORDER: "{subject} is {value} in {within}",
    OMISSION: "{subject} lacks items {value} in {within}",
    UNKNOWN_KIND: "an item of an unknown kind of {subject} is {value} in {within}",
    PARTS: "{subject} lacks the parts {value} in {within}",
    TIMEOUT: "request {subject}: its timeout is {value} in {within}",
    TEXT: "{subject} is {value} in {within}",
    COPY: "fields that {subject} copies by name are {value}",
    DEFAULT_TIME: "{subject} is {value} by default in {within}",
    CONDITION: "{subject} is passed on only if {value} in {within}",
}


def rows(protocol: Protocol, vocabularies: Sequence[Vocabulary]) -> Iterator[Row]:
    """Yields a row for each behaviour that the code of an SDK shows."""
    spans = _spans(protocol)
    keys = {(item.kind, item.subject) for each in vocabularies for item in each.behaviours}
    for kind in _LABELS:
        for subject in sorted(subject for key, subject in keys if key == kind):
            behaviours = [_of(kind, subject, item) for item in vocabularies]
            cells = [
                _cell(kind, subject, index, vocabularies, behaviours, spans)
                for index in range(len(vocabularies))
            ]
            yield Row(_LABELS[kind].format(subject), tuple(cells))


def _of(kind: str, subject: str, vocabulary: Vocabulary) -> list[Behaviour]:
    own = [item for item in vocabulary.behaviours if (item.kind, item.subject) == (kind, subject)]
    if kind == TIMEOUT and vocabulary.generated is not None:
        # The methods of a generated client leave the timeout to the code that sends.
        own = [item for item in own if item.value]
    return own


def _spans(protocol: Protocol) -> dict[str, Span]:
    """Returns the positions of the messages, fields and requests of a protocol by their names."""
    spans = {"": protocol.roles.span("response")}
    for message in protocol.schema.own_messages():
        name = ".".join(message.path)
        spans[name] = message.span
        spans |= {f"{name}.{field.name}": field.span for field in message.fields}
    return spans | {call.request.name: call.request.span for call in protocol.calls}


def _cell(
    kind: str,
    subject: str,
    index: int,
    vocabularies: Sequence[Vocabulary],
    behaviours: Sequence[list[Behaviour]],
    spans: Mapping[str, Span],
) -> Cell:
    vocabulary, own = vocabularies[index], behaviours[index]
    if not own:
        own = _unread(kind, subject, vocabulary)
    if not own:
        return Cell(NOT_COMPARED)
    others = {
        item.value
        for position, items in enumerate(behaviours)
        for item in items
        if position != index and item.value
    }
    findings, compared = [], []
    for item in own:
        difference_id = _id(item)
        why = _difference(item, others)
        if why:
            message = f"{vocabulary.sdk}: {why}" + (f" ({item.place})" if item.place else "")
            span = spans.get(subject, spans[""])
            finding = Finding(vocabulary.sdk, difference_id, message, Rule.PARITY_FIELD, span)
            findings.append(finding)
        elif others or kind in _EXPECTED:
            compared.append(Compared(vocabulary.sdk, difference_id))
    text = ", ".join(dict.fromkeys(item.value or UNVERIFIED for item in own))
    return Cell(text, tuple(findings), tuple(compared))


def _unread(kind: str, subject: str, vocabulary: Vocabulary) -> list[Behaviour]:
    """Returns the behaviour of code that constructs a message in a form that cannot be read."""
    message = subject if kind == UNKNOWN_KIND else subject.rpartition(".")[0]
    if kind not in (UNKNOWN_KIND, PARTS):
        return []
    return [
        Behaviour(kind, subject, item.within, "", item.place)
        for item in vocabulary.constructions
        if item.message == message
    ][:1]


def _id(item: Behaviour) -> str:
    if item.kind in (TIMEOUT, TEXT):
        return f"{item.kind} {item.subject}"
    if item.kind == COPY:
        return f"{item.kind} {item.subject}"
    return f"{item.kind} {item.subject}: {item.within}"


def _difference(item: Behaviour, others: set[str]) -> str:
    """Returns how a behaviour differs, "" if it does not."""
    if not item.value:
        return f"{_LABELS[item.kind].format(item.subject)} cannot be read in {item.within}"
    text = _MESSAGES[item.kind].format(**item._asdict())
    if item.kind in _EXPECTED:
        return text if item.value != _EXPECTED[item.kind] else ""
    if not others or others == {item.value} or item.value.startswith(NAMES_OF):
        return ""
    return f"{text}, elsewhere {', '.join(sorted(others - {item.value}) or sorted(others))}"
