"""Compares the fields of messages outside their oneof: those of all events, and ids of requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sessiongen.diagnostics import Rule
from sessiongen.ir.protocol import Event, Protocol
from sessiongen.ir.record_mapping import spellings
from sessiongen.ir.schema import Field, Message
from sessiongen.parity import field_sources
from sessiongen.parity.field_types import FieldTypes
from sessiongen.parity.matrix import Cell, Compared, Finding, MISSING, NOT_COMPARED, Row
from sessiongen.vocabulary.model import FieldFact, Record, Vocabulary


def event_rows(protocol: Protocol, vocabularies: Sequence[Vocabulary]) -> Iterator[Row]:
    """Yields a row for each field of the event message outside its oneof.

    The host should fill it from the SDK's event, and the driver should pass it on.
    """
    for field in protocol.roles.event.common_fields:
        for event in protocol.events:
            first = event is protocol.events[0]
            cells = [
                cell
                for item in vocabularies
                for cell in (
                    (
                        _with_sources(_host_field_cell(event, field, item), protocol, field, item)
                        if first
                        else _host_field_cell(event, field, item)
                    ),
                    _driver_field_cell(field, first, item),
                )
            ]
            yield Row(f"{event.arm.name}.{field.name}", tuple(cells))


def _host_field_cell(event: Event, field: Field, vocabulary: Vocabulary) -> Cell:
    """Returns the field of the SDK's event from which a host fills a field beside the arm."""
    host = vocabulary.host
    forwards = [item for item in host.forwards if item.arm == event.arm.name] if host else []
    record = (
        vocabulary.record(forwards[0].event_type) if forwards and forwards[0].event_type else None
    )
    sdk_fields = record.fields if record else ()
    source = next((item for item in sdk_fields if field.name in spellings(item)), None)
    if source is None or not forwards:
        return Cell(NOT_COMPARED)
    name = f"{event.arm.name}.{field.name}"
    difference_id = f"event field {name}: host"
    if any(path.split(".")[0] == source.name for path in forwards[0].reads):
        compared = (Compared(vocabulary.sdk, difference_id),)
        return _typed_cell(Cell(source.name, compared=compared), field, source, record, vocabulary)
    if forwards[0].passes_event:
        return Cell(source.name)
    why = f"its handler does not read the event's own {source.name}"
    place = f"({forwards[0].handler or 'lambda'}, {forwards[0].place})"
    message = f"{vocabulary.sdk}: event {name}: {why} {place}"
    finding = Finding(vocabulary.sdk, difference_id, message, Rule.PARITY_EVENT, field.span)
    return Cell(MISSING, (finding,))


def _typed_cell(
    cell: Cell, field: Field, source: FieldFact, record: Record | None, vocabulary: Vocabulary
) -> Cell:
    """Adds how the type of an event's own field differs from that of a field beside the arm."""
    if record is None:
        return cell
    difference_id = f"type {record.name}.{source.name}"
    why = FieldTypes(vocabulary, ()).difference(field, record, source)
    if not why:
        compared = Compared(vocabulary.sdk, difference_id)
        return cell._replace(compared=(*cell.compared, compared))
    message = f"{vocabulary.sdk}: {field.name} {why}"
    finding = Finding(vocabulary.sdk, difference_id, message, Rule.PARITY_EVENT, field.span)
    return cell._replace(findings=(finding,))


def _with_sources(cell: Cell, protocol: Protocol, field: Field, vocabulary: Vocabulary) -> Cell:
    """Adds what is filled into a field that all events have, and how that differs."""
    event = protocol.roles.event
    sources = field_sources.sources_of(event, vocabulary).get(field.name, [])
    faults = field_sources.faults(event, field, [field.name], None, sources, None)
    name = f"{'.'.join(event.path)}.{field.name}"
    findings = tuple(
        Finding(
            vocabulary.sdk,
            f"source {name}: {source.within}",
            f"{vocabulary.sdk}: {name} {why} in {source.within} ({source.place})",
            Rule.PARITY_EVENT,
            field.span,
        )
        for source, why in faults
    )
    known = {item.id for item in findings}
    ids = {f"source {name}: {item.within}" for item in sources}
    compared = tuple(Compared(vocabulary.sdk, item) for item in sorted(ids - known))
    return cell._replace(findings=(*cell.findings, *findings), compared=(*cell.compared, *compared))


def _driver_field_cell(field: Field, first: bool, vocabulary: Vocabulary) -> Cell:
    driver = vocabulary.driver
    difference_id = f"event field {field.name}: driver"
    if driver is None:
        return Cell(NOT_COMPARED)
    if driver.emits_payload_only is None:
        return Cell("passed on", compared=(Compared(vocabulary.sdk, difference_id),))
    message = (
        f"{vocabulary.sdk}: event field {field.name}: its driver emits only the payload "
        f"({driver.emits_payload_only})"
    )
    finding = Finding(vocabulary.sdk, difference_id, message, Rule.PARITY_EVENT, field.span)
    return Cell(MISSING, (finding,)) if first else Cell(NOT_COMPARED)


def correlation_row(protocol: Protocol, vocabularies: Sequence[Vocabulary]) -> Iterator[Row]:
    """Yields the row of the field that pairs responses with requests."""
    field = protocol.roles.correlation
    if field is None:
        return
    cells = []
    for item in vocabularies:
        for role in (protocol.roles.response, protocol.roles.request):
            cells.append(_correlation_cell(role, field, item))
    yield Row(f"({field.name})", tuple(cells))


def _correlation_cell(role: Message, field: Field, vocabulary: Vocabulary) -> Cell:
    """Returns whether each place that constructs a request or response fills the field."""
    name = f"{'.'.join(role.path)}.{field.name}"
    places = [
        it
        for it in vocabulary.constructions
        if it.message == ".".join(role.path) and it.fields and not it.open
    ]
    # Where no arm is filled beside it, other code fills it for all of them.
    arms = {it.name for it in role.fields if it.oneof is not None}
    is_beside = any(field.name in it.fields and arms & {*it.fields} for it in places)
    lacking = {it.within: it for it in places if is_beside and field.name not in it.fields}
    findings = tuple(
        Finding(
            vocabulary.sdk,
            f"field {name}: {within}",
            f"{vocabulary.sdk}: {name} is not filled in {within} ({item.place})",
            Rule.PARITY_REQUEST,
            field.span,
        )
        for within, item in lacking.items()
    )
    ids = [f"field {name}: {it.within}" for it in places if it.within not in lacking]
    compared = tuple(Compared(vocabulary.sdk, item) for item in dict.fromkeys(ids))
    return Cell("filled" if places and not findings else NOT_COMPARED, findings, compared)
