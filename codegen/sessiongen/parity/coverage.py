"""Events and requests: which of them the host and the driver of each SDK implement.

The sections list the events, the fields beside an event's arm, and the requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sessiongen.diagnostics import Rule
from sessiongen.parity.matrix import (
    ANYTHING,
    Cell,
    Finding,
    MISSING,
    NOT_COMPARED,
    Row,
    SDK_ONLY,
    Section,
)
from sessiongen.ir.protocol import Call, Event, Protocol
from sessiongen.ir.schema import Field
from sessiongen.ir.record_mapping import spellings
from sessiongen.vocabulary.model import Vocabulary


def sections(protocol: Protocol, vocabularies: Sequence[Vocabulary]) -> list[Section]:
    """Return the sections of events, of the fields beside their arm, and of requests."""
    columns = tuple(f"{item.sdk} {side}" for item in vocabularies for side in ("host", "driver"))
    events, requests = [], []
    for event in protocol.events:
        cells = [
            cell for it in vocabularies for cell in (_sent(event, it), _received(event.arm, it))
        ]
        events.append(Row(event.arm.name, tuple(cells)))
    for call in protocol.calls:
        cells = []
        for item in vocabularies:
            cells += [_answered(call, item, vocabularies), _asked(call, item)]
        requests.append(Row(call.request.name, tuple(cells)))
    events += _unsent(protocol, vocabularies)
    requests.append(_rest(protocol, vocabularies))
    return [
        Section("events", columns, tuple(events)),
        Section("beside the event's arm", columns, tuple(_beside(protocol, vocabularies))),
        Section("requests", columns, tuple(requests)),
    ]


def _beside(protocol: Protocol, vocabularies: Sequence[Vocabulary]) -> Iterator[Row]:
    """Yield a row for each field beside an event's arm.

    The host should fill it from the SDK's event, and the driver should pass it on."""
    for field in protocol.roles.event.outside():
        for event in protocol.events:
            first = event is protocol.events[0]
            cells = [
                cell
                for item in vocabularies
                for cell in (_stamped(event, field, item), _passed_on(field, first, item))
            ]
            yield Row(f"{event.arm.name}.{field.name}", tuple(cells))


def _stamped(event: Event, field: Field, vocabulary: Vocabulary) -> Cell:
    """Return the SDK's field that a host fills a field beside the arm from."""
    host = vocabulary.host
    found = [item for item in host.forwards if item.arm == event.arm.name] if host else []
    record = vocabulary.record(found[0].event_type) if found and found[0].event_type else None
    facts = record.fields if record else ()
    source = next((item for item in facts if field.name in spellings(item)), None)
    if source is None or not found:
        return Cell(NOT_COMPARED)
    if found[0].passes_event or any(path.split(".")[0] == source.name for path in found[0].reads):
        return Cell(source.name)
    name = f"{event.arm.name}.{field.name}"
    why = f"its {found[0].handler} does not read the event's own {source.name}"
    message = f"{vocabulary.sdk}: event {name}: {why} ({found[0].place})"
    finding = Finding(
        vocabulary.sdk, f"event field {name}: host", message, Rule.PARITY_EVENT, field.span
    )
    return Cell(MISSING, (finding,))


def _passed_on(field: Field, first: bool, vocabulary: Vocabulary) -> Cell:
    driver = vocabulary.driver
    if driver is None or driver.emits_payload_only is None:
        return Cell("passed on" if driver else NOT_COMPARED)
    message = (
        f"{vocabulary.sdk}: event field {field.name}: its driver emits only the payload "
        f"({driver.emits_payload_only})"
    )
    difference_id = f"event field {field.name}: driver"
    finding = Finding(vocabulary.sdk, difference_id, message, Rule.PARITY_EVENT, field.span)
    return Cell(MISSING, (finding,)) if first else Cell(NOT_COMPARED)


def _rest(protocol: Protocol, vocabularies: Sequence[Vocabulary]) -> Row:
    """Return the row of unknown requests."""
    cells = []
    for item in vocabularies:
        cells += [_rest_cell(protocol, item), Cell("")]
    return Row(ANYTHING, tuple(cells))


def _rest_cell(protocol: Protocol, vocabulary: Vocabulary) -> Cell:
    host = vocabulary.host
    if host is None or host.unknown_request is not None:
        return Cell("answered" if host else "no host")
    message = f"{vocabulary.sdk}: its host does not answer an unknown request " f"({host.place})"
    span = protocol.roles.request.span
    finding = Finding(vocabulary.sdk, "request *: host", message, Rule.PARITY_REQUEST, span)
    return Cell(MISSING, (finding,))


def _unsent(protocol: Protocol, vocabularies: Sequence[Vocabulary]) -> Iterator[Row]:
    """Yield a row for each event of an SDK's session that no arm carries."""
    known = {event.sdk_event for event in protocol.events}
    for index, vocabulary in enumerate(vocabularies):
        host, session = vocabulary.host, vocabulary.session
        used = {item.event for item in host.forwards} if host else set()
        for event in session.events if session else ():
            if event.name in known | used:
                continue
            message = f"{vocabulary.sdk}: no arm carries the event {event.name!r} ({event.place})"
            span = protocol.roles.event.span
            difference_id = f"sdk event {event.name}"
            finding = Finding(vocabulary.sdk, difference_id, message, Rule.PARITY_EVENT, span)
            cells = [Cell("")] * (2 * len(vocabularies))
            cells[2 * index] = Cell(event.name, (finding,))
            yield Row(SDK_ONLY, tuple(cells))


def _sent(event: Event, vocabulary: Vocabulary) -> Cell:
    """Return the SDK event on which a host sends an arm; `direct` if the SDK calls the handler."""
    if vocabulary.host is None:
        return Cell("no host")
    found = [item for item in vocabulary.host.forwards if item.arm == event.arm.name]
    if not found:
        return _event(event.arm, vocabulary, "host", MISSING, "its host does not send it")
    used = [item for item in found if item.via is not None]
    text = ", ".join(dict.fromkeys(item.event or "direct" for item in found))
    if not used:
        return _event(event.arm, vocabulary, "host", text, f"nothing calls its {found[0].handler}")
    wrong = [item.event for item in used if item.event not in (None, event.sdk_event)]
    if wrong:
        why = f"its host sends it on {wrong[0]!r}, not on {event.sdk_event!r} ({used[0].via})"
        return _event(event.arm, vocabulary, "host", text, why)
    emitted = {item.name for item in vocabulary.session.emits} if vocabulary.session else set()
    if vocabulary.session and all(item.event and item.event not in emitted for item in used):
        why = f"its session never emits {event.sdk_event!r}"
        return _event(event.arm, vocabulary, "host", text, why)
    return Cell(text)


def _received(arm: Field, vocabulary: Vocabulary) -> Cell:
    driver = vocabulary.driver
    if driver is None:
        return Cell("no driver")
    names = [item.event for item in driver.receives if item.arm == arm.name]
    if not names and driver.emits_by_arm_name is None:
        return _event(arm, vocabulary, "driver", MISSING, "its driver drops it")
    # A driver that moves to the arm's name may keep an older one beside it.
    name = arm.name if arm.name in names or not names else names[0]
    if name != arm.name:
        return _event(arm, vocabulary, "driver", name, f"its driver calls it {name!r}")
    if name not in {item.name for item in driver.events}:
        why = f"its driver's event type leaves it out ({driver.place})"
        return _event(arm, vocabulary, "driver", f"{name} (untyped)", why)
    return Cell(name)


def _event(arm: Field, vocabulary: Vocabulary, side: str, text: str, why: str) -> Cell:
    message = f"{vocabulary.sdk}: event {arm.name}: {why}"
    difference_id = f"event {arm.name}: {side}"
    return Cell(
        text, (Finding(vocabulary.sdk, difference_id, message, Rule.PARITY_EVENT, arm.span),)
    )


def _answered(call: Call, vocabulary: Vocabulary, all_: Sequence[Vocabulary]) -> Cell:
    if vocabulary.host is None:
        return Cell("no host")
    found = [item for item in vocabulary.host.answers if item.arm == call.request.name]
    if not found:
        return _request(call, vocabulary, "host", MISSING, "its host does not answer it")
    response = found[0].response or "no response"
    if response != call.response.name:
        why = f"its host answers with {response!r}, not {call.response.name!r} ({found[0].place})"
        return _request(call, vocabulary, "host", response, why)
    return Cell(response, tuple(_errors(call, vocabulary, all_)))


def _errors(call: Call, vocabulary: Vocabulary, all_: Sequence[Vocabulary]) -> Iterator[Finding]:
    """Yield a finding for each error text that only this SDK's host sends."""
    texts = [(item, text) for item in all_ for text in _texts(call, item)]
    for text in _texts(call, vocabulary):
        others = {item.sdk for item in all_ if item.sdk != vocabulary.sdk and item.host}
        if others and not any(item.sdk in others and other == text for item, other in texts):
            difference_id = f"request error {call.request.name} {text!r}: host"
            message = (
                f"{vocabulary.sdk}: request {call.request.name}: its host alone answers with "
                f"the error {text!r}"
            )
            span = call.request.span
            yield Finding(vocabulary.sdk, difference_id, message, Rule.PARITY_REQUEST, span)


def _texts(call: Call, vocabulary: Vocabulary) -> Iterator[str]:
    for answer in vocabulary.host.answers if vocabulary.host else ():
        if answer.arm == call.request.name:
            yield from answer.errors


def _asked(call: Call, vocabulary: Vocabulary) -> Cell:
    if vocabulary.driver is None:
        return Cell("no driver")
    methods = [item.method for item in vocabulary.driver.sends if item.arm == call.request.name]
    if methods:
        return Cell(", ".join(dict.fromkeys(methods)))
    return _request(call, vocabulary, "driver", MISSING, "its driver cannot send it")


def _request(call: Call, vocabulary: Vocabulary, side: str, text: str, why: str) -> Cell:
    message = f"{vocabulary.sdk}: request {call.request.name}: {why}"
    difference_id = f"request {call.request.name}: {side}"
    span = call.request.span
    return Cell(text, (Finding(vocabulary.sdk, difference_id, message, Rule.PARITY_REQUEST, span),))
