"""Fields: each field of the messages that hosts send, beside what fills it in each SDK.

In: a Protocol, its annotations and vocabularies. Out: a Section for each message that
events and responses carry.

A field has a source where every function that makes the message fills it, in any of the
places that make it there; or, where nothing makes the message yet, where the SDK's class
has a field of its name. Names are compared in snake_case, a unit at the end of the SDK's
does not count (`delayMs`), and `sdk_class` and `sdk_field` name what has another name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sessiongen.annotations import Annotated, Annotation
from sessiongen.diagnostics import Rule
from sessiongen.naming import snake
from sessiongen.parity.model import NOTHING, Cell, Finding, Row, Section
from sessiongen.protocol import Protocol
from sessiongen.roles import union
from sessiongen.schema import Field, Message, Schema
from sessiongen.vocabulary.model import Build, FieldFact, Record, Vocabulary

# How SDKs that count in other units say so.
_UNITS = ("_ms", "_in_s")


def sections(
    protocol: Protocol, annotated: Annotated, vocabularies: Sequence[Vocabulary]
) -> list[Section]:
    """Return the sections of all messages that hold fields."""
    beside = {item.name for item in protocol.roles.event.outside()}
    payloads = {arm.value.type_name for arm in union(protocol.roles.event).arms}
    result = []
    for message in carried(protocol):
        around = beside if message.full_name in payloads else set()
        sides = [_Side(message, annotated, item, around) for item in vocabularies]
        rows = [
            Row(field.name, tuple(side.cell(field, first) for side in sides))
            for field in message.fields
            for first in [field is message.fields[0]]
        ]
        for index, side in enumerate(sides):
            rows += [
                Row(NOTHING, tuple(cell if at == index else Cell("") for at in range(len(sides))))
                for cell in side.homeless()
            ]
        if rows:
            columns = tuple(item.sdk for item in vocabularies)
            result.append(Section(f"message {message.full_name}", columns, tuple(rows)))
    return result


def carried(protocol: Protocol) -> list[Message]:
    """Return the protocol's own messages that events and responses can hold, in order."""
    schema = protocol.schema
    todo = [
        arm.value.type_name
        for role in (protocol.roles.event, protocol.roles.response)
        for arm in union(role).arms
    ]
    reached: set[str] = set()
    while todo:
        name = todo.pop()
        if name not in reached and name in schema.messages and _own(schema, name):
            reached.add(name)
            todo += [field.value.type_name for field in schema.messages[name].fields]
    return [item for item in schema.own_messages() if item.full_name in reached]


def _own(schema: Schema, name: str) -> bool:
    return schema.messages[name].file in schema.own


class _Side:
    """One message in one SDK: the class it is made from, and the places that make it."""

    def __init__(
        self, message: Message, annotated: Annotated, vocabulary: Vocabulary, around: set[str]
    ) -> None:
        self.message = message
        self.annotated = annotated
        self.sdk = vocabulary.sdk
        self.around = around
        self.note = annotated.get(message.full_name, "sdk_class")
        self.record = _record(message, self.note, vocabulary)
        self.places: dict[str, list[Build]] = {}
        for item in vocabulary.builds:
            if item.message == self._path:
                self.places.setdefault(item.within, []).append(item)

    @property
    def nothing(self) -> bool:
        """Whether the SDK has neither a class for the message nor a place that makes it."""
        return not self.places and self.record is None

    def cell(self, field: Field, first: bool) -> Cell:
        """Return what fills a field; what is wrong with the message itself is said once."""
        if self.nothing:
            return Cell(NOTHING, self._whole() if first else ())
        found = self._source(field)
        left_out = self._left_out(field, found)
        filled = len(left_out) < len(self.places)
        text = found.name if found is not None else "host" if filled else NOTHING
        findings = [*self._whole(), *left_out] if first else left_out
        if found is None and (not self.places or self._named(field)) and self.record is not None:
            why = f"has no source in {self.record.name} ({self.record.place})"
            findings.append(self._finding(f"field {self._path}.{field.name}", why, field))
        return Cell(text, tuple(findings))

    def _whole(self) -> tuple[Finding, ...]:
        """Return what is wrong with the message as such: it has no class, where it needs one."""
        if self.nothing:
            why = "has nothing in this SDK that it could be made from"
        elif self.note is not None and self.record is None:
            why = f"should be made from {' or '.join(_names(self.note.value))}; no class has that name"
        else:
            return ()
        return (self._finding(f"message {self._path}", why),)

    def _left_out(self, field: Field, source: FieldFact | None) -> list[Finding]:
        """Return a finding for each place that makes the message without the field."""
        leaving = {
            within: builds
            for within, builds in self.places.items()
            if not any(self._fills(item, field, source) for item in builds)
        }
        # Each arm of a oneof has a place of its own.
        if field.oneof is not None and len(leaving) < len(self.places):
            return []
        return [
            self._finding(
                f"field {self._path}.{field.name}: {within}",
                f"is left out in {within} ({builds[0].place})",
                field,
            )
            for within, builds in leaving.items()
        ]

    def homeless(self) -> Iterator[Cell]:
        """Yield the fields of the SDK's class that have no place in the message."""
        if self.record is None:
            return
        placed = {name for field in self.message.fields for name in self._names(field)}
        placed |= self.around | {oneof.name for oneof in self.message.oneofs}
        if self.record.tag is not None:
            placed.add("type")
        for fact in self.record.fields:
            if _spellings(fact) & placed:
                continue
            name = f"{self.record.name}.{fact.name}"
            why = f"has no place for the SDK's field {name} ({fact.place})"
            yield Cell(fact.name, (self._finding(f"sdk field {name}", why),))

    @property
    def _path(self) -> str:
        return ".".join(self.message.path)

    def _fills(self, build: Build, field: Field, source: FieldFact | None) -> bool:
        copied = build.open and (source is not None or self.record is None)
        return field.name in build.fields or copied

    def _source(self, field: Field) -> FieldFact | None:
        facts = self.record.fields if self.record else ()
        names = self._names(field)
        return next((item for item in facts if _spellings(item) & names), None)

    def _names(self, field: Field) -> set[str]:
        note = self._named(field)
        return {snake(name) for name in _names(note.value)} if note else {field.name}

    def _named(self, field: Field) -> Annotation | None:
        return self.annotated.get(f"{self.message.full_name}.{field.name}", "sdk_field")

    def _finding(self, thing: str, why: str, field: Field | None = None) -> Finding:
        span = field.span if field else self.message.span
        name = f"{self._path}.{field.name}" if field else self._path
        return Finding(self.sdk, thing, f"{self.sdk}: {name} {why}", Rule.PARITY_FIELD, span)


def _spellings(fact: FieldFact) -> set[str]:
    name = snake(fact.name)
    return {name, *(name.removesuffix(unit) for unit in _UNITS)}


def _names(value: str) -> list[str]:
    """Return the names that an annotation joins by commas."""
    return [name.strip() for name in value.split(",")]


def _record(message: Message, note: Annotation | None, vocabulary: Vocabulary) -> Record | None:
    name = message.path[-1]
    for candidate in _names(note.value) if note else [name, f"{name}Event"]:
        for record in vocabulary.records:
            if record.name.casefold() == candidate.casefold():
                return record
    return None
