"""Compares message fields: each field of the messages that hosts send, and its source in each SDK.

There is a section for each message that events and responses reach, and for each other
message that an SDK constructs.

A field has a source if every function that constructs the message fills it, at each of the
places where that function does so. If nothing constructs the message yet, the SDK's class must
have a field of its name. A value that can be missing in the SDK needs a field with presence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sessiongen.frontend.annotations import Annotated
from sessiongen.ir.reachability import reachable, sent_by_host
from sessiongen.diagnostics import Rule
from sessiongen.ir.name_case import snake
from sessiongen.parity import field_sources
from sessiongen.parity import map_keys
from sessiongen.parity import union_members
from sessiongen.parity.field_types import FieldTypes, class_names
from sessiongen.parity.matrix import (
    ANY,
    Cell,
    Compared,
    Finding,
    MISSING,
    NOT_COMPARED,
    Row,
    SDK_ONLY,
    Section,
)
from sessiongen.ir.protocol import Protocol
from sessiongen.ir.schema import Field, Kind, Message
from sessiongen.ir.record_mapping import find_field, find_record, source_names, spellings, split
from sessiongen.parity.variants import VariantComparison
from sessiongen.vocabulary.model import Construction, FieldFact, Forward, Record, Vocabulary


def sections(
    protocol: Protocol, annotated: Annotated, vocabularies: Sequence[Vocabulary]
) -> list[Section]:
    """Returns the sections of all messages with fields."""
    common = {item.name for item in protocol.roles.event.common_fields}
    payloads = {arm.value.type_name for arm in protocol.roles.event.arms}
    result = []
    for message in _messages(protocol, annotated, vocabularies):
        common_fields = common if message.full_name in payloads else set()
        sdk_messages = [
            _SdkMessage(message, protocol, annotated, item, common_fields, vocabularies)
            for item in vocabularies
        ]
        rows = []
        for field in message.fields:
            rows.append(
                Row(field.name, tuple(sdk_message.cell(field) for sdk_message in sdk_messages))
            )
            rows += map_keys.rows(message, field, vocabularies)
        for index, sdk_message in enumerate(sdk_messages):
            rows += [
                Row(
                    SDK_ONLY,
                    tuple(cell if at == index else Cell("") for at in range(len(sdk_messages))),
                )
                for cell in sdk_message.members_without_arm()
            ]
        if rows:
            columns = tuple(item.sdk for item in vocabularies)
            result.append(Section(f"message {message.full_name}", columns, tuple(rows)))
    return result


def _messages(
    protocol: Protocol, annotated: Annotated, vocabularies: Sequence[Vocabulary]
) -> list[Message]:
    """Returns the messages to compare: those that hosts send, and others that an SDK has.

    Messages with a role, and those reachable from requests, are compared in other sections.
    """
    roles = protocol.roles
    sent = {item.full_name for item in sent_by_host(protocol)}
    compared_elsewhere = reachable(protocol, [roles.request])
    compared_elsewhere |= {
        item.full_name for item in (roles.envelope, roles.event, roles.request) if item
    }
    compared_elsewhere.add(roles.response.full_name)
    constructed = {
        construction.message for item in vocabularies for construction in item.constructions
    }
    return [
        item
        for item in protocol.schema.own_messages()
        if item.full_name in sent
        or item.full_name not in compared_elsewhere
        and (
            ".".join(item.path) in constructed
            or any(find_record(item, annotated, vocabulary) for vocabulary in vocabularies)
        )
    ]


def _is_required_value(field: Field, source: FieldFact) -> bool:
    """Whether a field of the SDK that is not a message always has a value."""
    is_optional = source.optional or source.type.startswith("NotGivenOr[")
    return field.value.kind is not Kind.MESSAGE and not is_optional


def _is_payload(arm: Field, message: Message) -> bool:
    return arm.value.type_name == message.full_name


def _field_record(
    message: Message, protocol: Protocol, annotated: Annotated, vocabulary: Vocabulary
) -> Record | None:
    """Returns the class of a message that the fields of other classes have as their type."""
    if annotated.get(message.full_name, "sdk_class") is not None:
        return None
    names: set[str] = set()
    for owner in protocol.schema.own_messages():
        fields = [it for it in owner.fields if it.value.type_name == message.full_name]
        record = find_record(owner, annotated, vocabulary) if fields else None
        for field in fields if record is not None and owner is not message else ():
            source = find_field(owner, field, annotated, record)
            if source is not None:
                names |= {part for part in class_names(source.type) if vocabulary.record(part)}
    return vocabulary.record(names.pop()) if len(names) == 1 else None


def _filled_in_place(
    message: Message, protocol: Protocol, vocabulary: Vocabulary
) -> Iterator[Construction]:
    """Yields the message as a part of others, whose fields code fills as `outer.field.name`."""
    owners = {
        (".".join(owner.path), field.name)
        for owner in protocol.schema.own_messages()
        for field in owner.fields
        if field.value.type_name == message.full_name
    }
    for path, name in sorted(owners):
        for item in vocabulary.constructions if path != ".".join(message.path) else ():
            if item.message != path:
                continue
            heads = [field.partition(".") for field in item.fields]
            fields = tuple(rest for head, _, rest in heads if head == name and rest)
            if fields:
                yield item._replace(message=".".join(message.path), fields=fields, open=False)


class _SdkMessage:
    """A message in one SDK: its source class, and the places that construct it."""

    def __init__(
        self,
        message: Message,
        protocol: Protocol,
        annotated: Annotated,
        vocabulary: Vocabulary,
        common_fields: set[str],
        vocabularies: Sequence[Vocabulary],
    ) -> None:
        self.message = message
        self._vocabulary, self._vocabularies = vocabulary, vocabularies
        self._answers = f"{'.'.join(protocol.roles.response.path)}."
        self._path = ".".join(message.path)
        self.annotated = annotated
        self.sdk = vocabulary.sdk
        self.generated = vocabulary.generated is not None
        self._field_sources = field_sources.sources_of(message, vocabulary)
        self.common_fields = common_fields
        self.note = annotated.get(message.full_name, "sdk_class")
        events = [event for event in protocol.events if _is_payload(event.arm, message)]
        arms = {event.arm.name for event in events}
        self.event = events[0].sdk_event if events else ""
        sent = vocabulary.host.forwards if vocabulary.host else ()
        self.forwards = [item for item in sent if item.arm in arms]
        self.named_record = find_record(message, annotated, vocabulary)
        self.record = (
            self._handled_record(vocabulary)
            or self.named_record
            or _field_record(message, protocol, annotated, vocabulary)
        )
        self.types = FieldTypes(vocabulary, protocol.enums)
        self.unions = union_members.UnionComparison(
            message, protocol.schema, annotated, vocabulary, self.record
        )
        self.variants = VariantComparison(message, protocol.schema, annotated, vocabulary)
        self.places: dict[str, list[Construction]] = {}
        for item in vocabulary.constructions:
            # Beside generated code, an empty message is one that nothing has to fill.
            if item.message == self._path and (item.fields or item.open or not self.generated):
                self.places.setdefault(item.within, []).append(item)
        for item in _filled_in_place(message, protocol, vocabulary):
            self.places.setdefault(item.within, []).append(item)

    def _handled_record(self, vocabulary: Vocabulary) -> Record | None:
        """Returns the class that every handler takes that sends the message, if it is one class.

        A handler that is called on another event than that of the arm fills it from elsewhere.
        """
        names = {item.event_type for item in self.forwards if item.event in (None, self.event)}
        return vocabulary.record(names.pop() or "") if len(names) == 1 else None

    @property
    def nothing(self) -> bool:
        """Whether the SDK has neither a class nor a construction of the message."""
        return not self.places and self.record is None

    def cell(self, field: Field) -> Cell:
        """Returns the source of a field; findings of the message itself are on its first field."""
        message_findings = self._message_findings() if field is self.message.fields[0] else ()
        if self.nothing:
            # The SDK's union is read, although nothing shows how the message is made.
            compared = tuple(Compared(self.sdk, item) for item in self.unions.compared(field))
            return Cell(MISSING if message_findings else NOT_COMPARED, message_findings, compared)
        source = find_field(self.message, field, self.annotated, self.record)
        unfilled = self._unfilled(field, source)
        filled = len(unfilled) < len(self.places)
        text = source.name if source is not None else "host" if filled else MISSING
        if source is not None and self.types.open_source(field, source):
            text += " (any value)"
        findings = [
            *message_findings,
            *unfilled,
            *self._absence(field, source),
            *self._partial(field, source),
            *self._type(field, source),
            *self._sources(field, source),
        ]
        findings += self.unions.of(field)
        for item, why in self.variants.faults(field):
            why = f"{why} in {item.within} ({item.place})"
            findings.append(self._finding(f"variant {item.subject}: {item.within}", why, field))
        annotation = self.annotated.get(f"{self.message.full_name}.{field.name}", "sdk_field")
        is_arm = self.generated and field.oneof is not None
        has_source = source is not None or is_arm or (self.places and not annotation)
        if not has_source and self.record is not None:
            why = f"has no source in {self.record.name} ({self.record.place})"
            findings.append(self._finding(f"field {self._path}.{field.name}", why, field))
        return Cell(text, tuple(findings), self._compared(field, source))

    def _sources(self, field: Field, source: FieldFact | None) -> Iterator[Finding]:
        """Yields a finding for each function that fills a field from something else."""
        names = source_names(self.message, field, self.annotated)
        taken = self._field_sources.get(field.name, [])
        faults = list(field_sources.faults(self.message, field, names, source, taken, self.record))
        if self._path.startswith(self._answers) and not faults:
            faults = list(
                field_sources.elsewhere(self.message, field, self._vocabulary, self._vocabularies)
            )
        for item, why in faults:
            difference_id = f"source {self._path}.{field.name}: {item.within}"
            yield self._finding(difference_id, f"{why} in {item.within} ({item.place})", field)

    def _compared(self, field: Field, source: FieldFact | None) -> tuple[Compared, ...]:
        """Returns the differences of a field that were looked for.

        A function that copies fields by name does not show whether it fills this one.
        """
        name = f"{self._path}.{field.name}"
        ids = [f"message {self._path}", *self.unions.compared(field)]
        ids += self.variants.compared(field)
        ids += [f"field {name}"] if source is not None or self.places else []
        ids += [f"absence {name}", f"presence {name}", f"type {name}"] if source is not None else []
        ids += [f"part {name}: {it.handler}" for it in self.forwards if not it.passes_event]
        ids += [f"source {name}: {item.within}" for item in self._field_sources.get(field.name, ())]
        ids += [f"sdk field {self.record.name}.{ANY}"] if self.record is not None else []
        ids += [
            f"field {name}: {within}"
            for within, constructions in self.places.items()
            if any(field.name in item.fields for item in constructions)
        ]
        return tuple(Compared(self.sdk, item) for item in ids)

    def _message_findings(self) -> tuple[Finding, ...]:
        """Returns a finding if the SDK neither has a class of the message nor constructs it."""
        if self.nothing and self.generated:
            return ()
        if self.nothing:
            why = "has no class and is constructed nowhere in this SDK"
        elif self.note is not None and self.named_record is None:
            names = " or ".join(split(self.note))
            why = f"is annotated with the class {names}, which does not exist"
        else:
            return ()
        return (self._finding(f"message {self._path}", why),)

    def _unfilled(self, field: Field, source: FieldFact | None) -> list[Finding]:
        """Returns a finding for each function that constructs the message without the field."""
        unfilled = {
            within: constructions
            for within, constructions in self.places.items()
            if not any(self._fills(item, field, source) for item in constructions)
        }
        # A function fills one arm of a oneof at each place, so one function suffices.
        if field.oneof is not None and len(unfilled) < len(self.places):
            return []
        findings = [
            self._finding(
                f"field {self._path}.{field.name}: {within}",
                f"is not filled in {within} ({constructions[0].place})",
                field,
            )
            for within, constructions in unfilled.items()
        ]
        return findings if field.oneof is not None else [*findings, *self._partly(field, source)]

    def _partly(self, field: Field, source: FieldFact | None) -> Iterator[Finding]:
        """Yields a finding for each function that fills the field at some of its places only."""
        for within, constructions in self.places.items():
            lacking = [item for item in constructions if not self._fills(item, field, source)]
            if lacking and len(lacking) < len(constructions):
                places = ", ".join(str(item.place) for item in lacking)
                yield self._finding(
                    f"field {self._path}.{field.name}: {within}",
                    f"is not filled at each place in {within} ({places})",
                    field,
                )

    def _absence(self, field: Field, source: FieldFact | None) -> list[Finding]:
        """Returns a finding if a value may be missing in the SDK only, or in the protocol only."""
        if source is None or field.repeated or field.key is not None:
            return []
        name = f"{self._path}.{field.name}"
        if source.optional and not field.presence:
            why = f"cannot be unset, and {source.name} may be missing ({source.place})"
            return [self._finding(f"absence {name}", why, field)]
        if field.presence and field.oneof is None and _is_required_value(field, source):
            why = f"may be unset, and {source.name} is never missing ({source.place})"
            return [self._finding(f"presence {name}", why, field)]
        return []

    def _partial(self, field: Field, source: FieldFact | None) -> list[Finding]:
        """Returns a finding for each handler that fills a string from a part of its source."""
        if source is None or field.value.kind is not Kind.STRING or field.repeated:
            return []
        return [
            self._finding(
                f"part {self._path}.{field.name}: {item.handler}",
                f"is filled only from {path} in {item.handler} ({item.place})",
                field,
            )
            for item in self.forwards
            for path in item.reads
            if path.startswith(f"{source.name}.") and not self._is_whole(field, source, item)
        ]

    def _is_whole(self, field: Field, source: FieldFact, forward: Forward) -> bool:
        """Whether the whole source is read for the field, and its parts for something else."""
        return any(
            item.path == source.name and item.within.rpartition(".")[2] == forward.handler
            for item in self._field_sources.get(field.name, ())
        )

    def _type(self, field: Field, source: FieldFact | None) -> list[Finding]:
        """Returns a finding if the type of the source differs from that of the field."""
        if source is None or self.record is None:
            return []
        why = self.types.difference(field, self.record, source)
        return [self._finding(f"type {self._path}.{field.name}", why, field)] if why else []

    def members_without_arm(self) -> Iterator[Cell]:
        """Yields a cell for each member or field of the SDK that the message lacks."""
        for finding in self.unions.members_without_arm():
            yield Cell(finding.id.rpartition(".")[2], (finding,))
        if self.record is None:
            return
        known = {
            snake(name)
            for field in self.message.fields
            for name in source_names(self.message, field, self.annotated)
        }
        known |= self.common_fields | {oneof.name for oneof in self.message.oneofs}
        if self.record.tag is not None:
            known.add("type")
        for fact in self.record.fields:
            if spellings(fact) & known:
                continue
            name = f"{self.record.name}.{fact.name}"
            why = f"has no field for the SDK's {name} ({fact.place})"
            yield Cell(fact.name, (self._finding(f"sdk field {name}", why),))

    def _fills(self, construction: Construction, field: Field, source: FieldFact | None) -> bool:
        # The names of fields that are copied by name are equal.
        has_name = source is not None and snake(source.name) == field.name
        copied = construction.open and (has_name or self.record is None)
        return field.name in construction.fields or copied

    def _finding(self, difference_id: str, why: str, field: Field | None = None) -> Finding:
        span = field.span if field else self.message.span
        name = f"{self._path}.{field.name}" if field else self._path
        return Finding(
            self.sdk, difference_id, f"{self.sdk}: {name} {why}", Rule.PARITY_FIELD, span
        )
