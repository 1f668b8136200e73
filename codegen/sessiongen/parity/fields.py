"""Message fields: each field of the messages that hosts send, beside its source in each SDK.

There is a section for each message that events and responses reach, and for each other
message that an SDK constructs.

A field has a source if every function that constructs the message fills it, at any of the
places where that function does so. If nothing constructs the message yet, the SDK's class must
have a field of its name. A value that can be missing in the SDK needs a field with presence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sessiongen.frontend.annotations import Annotated
from sessiongen.ir.reachability import reachable, sent_by_host
from sessiongen.diagnostics import Rule
from sessiongen.ir.name_case import snake
from sessiongen.parity import map_keys
from sessiongen.parity import union_members
from sessiongen.parity.matrix import (
    Cell,
    Finding,
    MISSING,
    NOT_COMPARED,
    Row,
    SDK_ONLY,
    Section,
)
from sessiongen.ir.protocol import Protocol
from sessiongen.ir.roles import union
from sessiongen.ir.schema import Field, Kind, Message
from sessiongen.ir.record_mapping import find_field, find_record, source_names, spellings, split
from sessiongen.vocabulary.model import Construction, FieldFact, Vocabulary


def sections(
    protocol: Protocol, annotated: Annotated, vocabularies: Sequence[Vocabulary]
) -> list[Section]:
    """Return the sections of all messages that hold fields."""
    beside = {item.name for item in protocol.roles.event.outside()}
    payloads = {arm.value.type_name for arm in union(protocol.roles.event).arms}
    result = []
    for message in _messages(protocol, annotated, vocabularies):
        around = beside if message.full_name in payloads else set()
        sides = [_Side(message, protocol, annotated, item, around) for item in vocabularies]
        rows = []
        for field in message.fields:
            rows.append(Row(field.name, tuple(side.cell(field) for side in sides)))
            rows += map_keys.rows(message, field, vocabularies)
        for index, side in enumerate(sides):
            rows += [
                Row(SDK_ONLY, tuple(cell if at == index else Cell("") for at in range(len(sides))))
                for cell in side.members_without_arm()
            ]
        if rows:
            columns = tuple(item.sdk for item in vocabularies)
            result.append(Section(f"message {message.full_name}", columns, tuple(rows)))
    return result


def _messages(
    protocol: Protocol, annotated: Annotated, vocabularies: Sequence[Vocabulary]
) -> list[Message]:
    """Return the messages to compare: those that are carried, and those that some SDK has
    for another use; the roles and what requests carry are compared elsewhere."""
    roles = protocol.roles
    wanted = {item.full_name for item in sent_by_host(protocol)}
    compared_elsewhere = reachable(protocol, [roles.request])
    compared_elsewhere |= {
        item.full_name for item in (roles.envelope, roles.event, roles.request) if item
    }
    compared_elsewhere.add(roles.response.full_name)
    made = {build.message for item in vocabularies for build in item.constructions}
    return [
        item
        for item in protocol.schema.own_messages()
        if item.full_name in wanted
        or item.full_name not in compared_elsewhere
        and (
            ".".join(item.path) in made
            or any(find_record(item, annotated, vocabulary) for vocabulary in vocabularies)
        )
    ]


def _is_payload(arm: Field, message: Message) -> bool:
    return arm.value.type_name == message.full_name


class _Side:
    """One message in one SDK: its source class, and its constructions."""

    def __init__(
        self,
        message: Message,
        protocol: Protocol,
        annotated: Annotated,
        vocabulary: Vocabulary,
        around: set[str],
    ) -> None:
        self.message = message
        self._path = ".".join(message.path)
        self.annotated = annotated
        self.sdk = vocabulary.sdk
        self.around = around
        self.note = annotated.get(message.full_name, "sdk_class")
        self.record = find_record(message, annotated, vocabulary)
        arms = {event.arm.name for event in protocol.events if _is_payload(event.arm, message)}
        sent = vocabulary.host.forwards if vocabulary.host else ()
        self.forwards = [item for item in sent if item.arm in arms]
        self.unions = union_members.UnionComparison(
            message, protocol.schema, annotated, vocabulary, self.record
        )
        self.places: dict[str, list[Construction]] = {}
        for item in vocabulary.constructions:
            if item.message == self._path:
                self.places.setdefault(item.within, []).append(item)

    @property
    def nothing(self) -> bool:
        """Whether the SDK has neither a class nor a construction of the message."""
        return not self.places and self.record is None

    def cell(self, field: Field) -> Cell:
        """Return the source of a field; findings of the message itself are on its first field."""
        whole = self._whole() if field is self.message.fields[0] else ()
        if self.nothing:
            return Cell(MISSING if whole else NOT_COMPARED, whole)
        found = find_field(self.message, field, self.annotated, self.record)
        left_out = self._left_out(field, found)
        filled = len(left_out) < len(self.places)
        text = found.name if found is not None else "host" if filled else MISSING
        findings = [*whole, *left_out, *self._absent(field, found), *self._partly(field, found)]
        findings += self.unions.of(field)
        named = self.annotated.get(f"{self.message.full_name}.{field.name}", "sdk_field")
        if found is None and (not self.places or named) and self.record is not None:
            why = f"has no source in {self.record.name} ({self.record.place})"
            findings.append(self._finding(f"field {self._path}.{field.name}", why, field))
        return Cell(text, tuple(findings))

    def _whole(self) -> tuple[Finding, ...]:
        """Return the finding of a message that has no source class but needs one."""
        if self.nothing:
            why = "has nothing in this SDK that it could be made from"
        elif self.note is not None and self.record is None:
            names = " or ".join(split(self.note))
            why = f"should be made from {names}; no class has that name"
        else:
            return ()
        return (self._finding(f"message {self._path}", why),)

    def _left_out(self, field: Field, source: FieldFact | None) -> list[Finding]:
        """Return a finding for each function that constructs the message without the field."""
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

    def _absent(self, field: Field, source: FieldFact | None) -> list[Finding]:
        """Return a finding if a missing value in the SDK would be received as a value."""
        single = not field.repeated and field.key is None
        if source is None or not source.optional or field.presence or not single:
            return []
        why = f"cannot be unset, and {source.name} may be missing ({source.place})"
        return [self._finding(f"absence {self._path}.{field.name}", why, field)]

    def _partly(self, field: Field, source: FieldFact | None) -> list[Finding]:
        """Return a finding for each handler that takes a text from one part of its source."""
        if source is None or field.value.kind is not Kind.STRING or field.repeated:
            return []
        return [
            self._finding(
                f"part {self._path}.{field.name}: {item.handler}",
                f"is filled from {path} alone in {item.handler} ({item.place})",
                field,
            )
            for item in self.forwards
            for path in item.reads
            if path.startswith(f"{source.name}.")
        ]

    def members_without_arm(self) -> Iterator[Cell]:
        """Yield the fields of the SDK's class that the message lacks."""
        for finding in self.unions.members_without_arm():
            yield Cell(finding.id.rpartition(".")[2], (finding,))
        if self.record is None:
            return
        placed = {
            snake(name)
            for field in self.message.fields
            for name in source_names(self.message, field, self.annotated)
        }
        placed |= self.around | {oneof.name for oneof in self.message.oneofs}
        if self.record.tag is not None:
            placed.add("type")
        for fact in self.record.fields:
            if spellings(fact) & placed:
                continue
            name = f"{self.record.name}.{fact.name}"
            why = f"has no place for the SDK's field {name} ({fact.place})"
            yield Cell(fact.name, (self._finding(f"sdk field {name}", why),))

    def _fills(self, build: Construction, field: Field, source: FieldFact | None) -> bool:
        copied = build.open and (source is not None or self.record is None)
        return field.name in build.fields or copied

    def _finding(self, difference_id: str, why: str, field: Field | None = None) -> Finding:
        span = field.span if field else self.message.span
        name = f"{self._path}.{field.name}" if field else self._path
        return Finding(
            self.sdk, difference_id, f"{self.sdk}: {name} {why}", Rule.PARITY_FIELD, span
        )
