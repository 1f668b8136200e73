"""Fields: each field of the messages that hosts send, beside what fills it in each SDK.

In: a Protocol, its annotations and vocabularies. Out: a Section for each message that
events and responses carry.

A field has a source where every place that makes the message fills it, or, where nothing
makes the message yet, where the SDK's class has a field of its name. Names are compared
in snake_case, a unit at the end of the SDK's does not count (`delayMs`), and `sdk_class`
and `sdk_field` name what has another name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sessiongen.annotations import Annotated
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
        self.record = _record(message, annotated, vocabulary)
        path = ".".join(message.path)
        self.builds = [item for item in vocabulary.builds if item.message == path]

    def cell(self, field: Field, first: bool) -> Cell:
        """Return what fills a field; a message that nothing makes is said once."""
        if not self.builds and self.record is None:
            thing, why = f"message {self._path}", "has nothing that this message is made from"
            return Cell(NOTHING, self._finding(thing, why) if first else None)
        found = self._source(field)
        text = found.name if found is not None else NOTHING
        leaving = [item for item in self.builds if not self._fills(item, field, found)]
        if field.oneof is not None and len(leaving) < len(self.builds):
            leaving = []
        if leaving:
            where = ", ".join(f"{item.within} ({item.place})" for item in leaving)
            return Cell(
                text,
                self._finding(
                    f"field {self._path}.{field.name}", f"leaves it out in {where}", field
                ),
            )
        if not self.builds and found is None and self.record is not None:
            why = f"has no field for it in {self.record.name} ({self.record.place})"
            return Cell(text, self._finding(f"field {self._path}.{field.name}", why, field))
        return Cell(text if found else "host")

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
            why = f"has the field {name} ({fact.place}), which the message lacks"
            yield Cell(fact.name, self._finding(f"sdk field {name}", why))

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
        note = self.annotated.get(f"{self.message.full_name}.{field.name}", "sdk_field")
        return {snake(name.strip()) for name in note.value.split(",")} if note else {field.name}

    def _finding(self, thing: str, why: str, field: Field | None = None) -> Finding:
        span = field.span if field else self.message.span
        name = f"{self._path}.{field.name}" if field else self._path
        return Finding(self.sdk, thing, f"{self.sdk}: {name}: it {why}", Rule.PARITY_FIELD, span)


def _spellings(fact: FieldFact) -> set[str]:
    name = snake(fact.name)
    return {name, *(name.removesuffix(unit) for unit in _UNITS)}


def _record(message: Message, annotated: Annotated, vocabulary: Vocabulary) -> Record | None:
    note = annotated.get(message.full_name, "sdk_class")
    name = message.path[-1]
    wanted = note.value.split(",") if note else [name, f"{name}Event"]
    for candidate in wanted:
        for record in vocabulary.records:
            if record.name.casefold() == candidate.strip().casefold():
                return record
    return None
