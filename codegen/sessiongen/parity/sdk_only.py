"""Finds arms, messages, fields and proto values that an SDK has and the protocol lacks.

These have no row in the other sections, which list the elements of the protocol. The section
is empty unless an SDK is ahead of the protocol.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sessiongen.diagnostics import Rule, Span
from sessiongen.parity.matrix import Cell, Finding, Row, Section
from sessiongen.ir.protocol import Protocol
from sessiongen.ir.schema import Message
from sessiongen.vocabulary.model import Place, Vocabulary


def section(protocol: Protocol, vocabularies: Sequence[Vocabulary]) -> Section:
    """Returns a row for each such element, with a cell for each SDK that has it."""
    by_difference: dict[str, dict[str, Finding]] = {}
    for vocabulary in vocabularies:
        for finding in (
            *_events(protocol, vocabulary),
            *_requests(protocol, vocabulary),
            *_messages(protocol, vocabulary),
            *_values(protocol, vocabulary),
        ):
            by_difference.setdefault(finding.id, {}).setdefault(finding.sdk, finding)
    sdks = tuple(item.sdk for item in vocabularies)
    rows = [
        Row(
            difference_id,
            tuple(Cell("yes", (by_sdk[sdk],)) if sdk in by_sdk else Cell("") for sdk in sdks),
        )
        for difference_id, by_sdk in by_difference.items()
    ]
    return Section("not in the protocol", sdks, tuple(rows))


def _events(protocol: Protocol, vocabulary: Vocabulary) -> Iterator[Finding]:
    """Yields the event arms that only the SDK's host or driver knows."""
    known = {event.arm.name for event in protocol.events}
    host, driver = vocabulary.host, vocabulary.driver
    for sent in host.forwards if host else ():
        if sent.arm not in known:
            yield _event(protocol, vocabulary, sent.arm, "host", "sends", sent.place)
    for reception in driver.receives if driver else ():
        if reception.arm not in known:
            yield _event(protocol, vocabulary, reception.arm, "driver", "receives", reception.place)
    # The names that a driver gives to arms are compared with the events.
    received = {item.event for item in driver.receives} if driver else set()
    for event in driver.events if driver else ():
        if event.name not in known | received:
            yield _event(protocol, vocabulary, event.name, "driver", "has", event.place)


def _event(
    protocol: Protocol, vocabulary: Vocabulary, arm: str, side: str, verb: str, place: Place
) -> Finding:
    detail = f"its {side} {verb} the event {arm!r} ({place}), for which there is no arm"
    span = protocol.roles.span("event")
    return _finding(vocabulary, f"event {arm}: {side}", detail, Rule.PARITY_EVENT, span)


def _requests(protocol: Protocol, vocabulary: Vocabulary) -> Iterator[Finding]:
    """Yields the request arms that only the SDK's host or driver knows."""
    known = {call.request.name for call in protocol.calls}
    host, driver = vocabulary.host, vocabulary.driver
    arms = [("host", "answers", item.arm, item.place) for item in host.answers] if host else []
    arms += [("driver", "sends", item.arm, item.place) for item in driver.sends] if driver else []
    for side, verb, arm, place in arms:
        if arm not in known:
            detail = f"its {side} {verb} the request {arm!r} ({place}), for which there is no arm"
            span = protocol.roles.span("request")
            difference_id = f"request {arm}: {side}"
            yield _finding(vocabulary, difference_id, detail, Rule.PARITY_REQUEST, span)


def _messages(protocol: Protocol, vocabulary: Vocabulary) -> Iterator[Finding]:
    """Yields the messages and fields that only the SDK constructs and fills."""
    roles = protocol.roles
    by_path = {".".join(item.path): item for item in protocol.schema.own_messages()}
    # The arms of these are compared by `_events` and `_requests`.
    compared_elsewhere = {item.full_name for item in (roles.event, roles.request, roles.response)}
    for item in vocabulary.constructions:
        message = by_path.get(item.message)
        if message is None:
            difference_id = f"message {item.message}"
            detail = f"{item.within} constructs the message {item.message} ({item.place})"
            yield _finding(
                vocabulary, difference_id, detail, Rule.PARITY_FIELD, roles.span("event")
            )
        elif message.full_name not in compared_elsewhere:
            for name in item.fields:
                if name.partition(".")[0] not in _field_names(message):
                    difference_id = f"field {item.message}.{name}"
                    detail = f"{item.within} fills {item.message}.{name} ({item.place})"
                    yield _finding(
                        vocabulary, difference_id, detail, Rule.PARITY_FIELD, message.span
                    )


def _values(protocol: Protocol, vocabulary: Vocabulary) -> Iterator[Finding]:
    """Yields the proto values that only the SDK's maps know."""
    known = {value.name for item in protocol.enums for value in item.enum.values}
    for value_map in vocabulary.maps:
        for literal, value in value_map.pairs:
            if value not in known:
                detail = f"the map {value_map.name} maps {literal!r} to {value} ({value_map.place})"
                span = protocol.roles.span("event")
                yield _finding(vocabulary, f"proto value {value}", detail, Rule.PARITY_VALUE, span)


def _field_names(message: Message) -> set[str]:
    """Returns the names of fields and oneofs; some languages assign a oneof as a field."""
    return {field.name for field in message.fields} | {oneof.name for oneof in message.oneofs}


def _finding(
    vocabulary: Vocabulary, difference_id: str, detail: str, rule: Rule, span: Span
) -> Finding:
    message = f"{vocabulary.sdk}: {detail}: the protocol lacks it"
    return Finding(vocabulary.sdk, difference_id, message, rule, span)
