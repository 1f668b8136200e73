"""Compares events and requests: which of them the host and the driver of each SDK implement.

The sections list the events, the fields beside an event's arm, and the requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sessiongen.diagnostics import Rule
from sessiongen.parity import common_fields
from sessiongen.parity.matrix import (
    ANY,
    ANYTHING,
    Cell,
    Compared,
    Finding,
    MISSING,
    Row,
    SDK_ONLY,
    Section,
)
from sessiongen.ir.pairing import Call
from sessiongen.ir.protocol import Event, Protocol
from sessiongen.ir.schema import Field
from sessiongen.vocabulary.behaviours import RETURNED
from sessiongen.vocabulary.model import Vocabulary


def sections(
    protocol: Protocol,
    vocabularies: Sequence[Vocabulary],
    unknown_arms: Mapping[str, set[str]],
) -> list[Section]:
    """Returns the sections of events, of the fields beside their arm, and of requests.

    unknown_arms: the event arms that the messages of an SDK do not have.
    """
    columns = tuple(f"{item.sdk} {side}" for item in vocabularies for side in ("host", "driver"))
    events, requests = [], []
    for event in protocol.events:
        cells = [
            cell
            for it in vocabularies
            for cell in (
                _host_event_cell(event, it),
                _driver_event_cell(event.arm, it, unknown_arms),
            )
        ]
        events.append(Row(event.arm.name, tuple(cells)))
    for call in protocol.calls:
        cells = []
        for item in vocabularies:
            cells += [
                _host_request_cell(call, item, vocabularies),
                _driver_request_cell(call, item),
            ]
        requests.append(Row(call.request.name, tuple(cells)))
    events += _sdk_only_events(protocol, vocabularies)
    if events:
        all_compared = tuple(item for each in vocabularies for item in _session_events(each))
        first = events[0].cells[0]
        cell = first._replace(compared=(*first.compared, *all_compared))
        events[0] = events[0]._replace(cells=(cell, *events[0].cells[1:]))
    requests.append(_unknown_request_row(protocol, vocabularies))
    requests += common_fields.correlation_row(protocol, vocabularies)
    return [
        Section("events", columns, tuple(events)),
        Section(
            "beside the event's arm",
            columns,
            tuple(common_fields.event_rows(protocol, vocabularies)),
        ),
        Section("requests", columns, tuple(requests)),
    ]


def _unknown_request_row(protocol: Protocol, vocabularies: Sequence[Vocabulary]) -> Row:
    """Returns the row that says whether hosts answer unknown requests."""
    cells = []
    for item in vocabularies:
        cells += [_unknown_request_cell(protocol, item), Cell("")]
    return Row(ANYTHING, tuple(cells))


def _unknown_request_cell(protocol: Protocol, vocabulary: Vocabulary) -> Cell:
    host = vocabulary.host
    if host is None:
        return Cell("no host")
    if host.unknown_request is not None:
        return Cell("answered", compared=(Compared(vocabulary.sdk, "request *: host"),))
    message = f"{vocabulary.sdk}: its host does not answer an unknown request ({host.place})"
    span = protocol.roles.span("request")
    finding = Finding(vocabulary.sdk, "request *: host", message, Rule.PARITY_REQUEST, span)
    return Cell(MISSING, (finding,))


def _sdk_only_events(protocol: Protocol, vocabularies: Sequence[Vocabulary]) -> Iterator[Row]:
    """Yields a row for each event of an SDK's session that no arm carries."""
    known = {event.sdk_event for event in protocol.events}
    for index, vocabulary in enumerate(vocabularies):
        host, session = vocabulary.host, vocabulary.session
        used = {item.event for item in host.forwards} if host else set()
        for event in session.events if session else ():
            if event.name in known | used:
                continue
            message = f"{vocabulary.sdk}: no arm carries the event {event.name!r} ({event.place})"
            span = protocol.roles.span("event")
            difference_id = f"sdk event {event.name}"
            finding = Finding(vocabulary.sdk, difference_id, message, Rule.PARITY_EVENT, span)
            cells = [Cell("")] * (2 * len(vocabularies))
            cells[2 * index] = Cell(event.name, (finding,))
            yield Row(SDK_ONLY, tuple(cells))


def _session_events(vocabulary: Vocabulary) -> tuple[Compared, ...]:
    """Returns the differences that the session's events would have: all its events are known."""
    return (Compared(vocabulary.sdk, f"sdk event {ANY}"),) if vocabulary.session else ()


def _host_event_cell(event: Event, vocabulary: Vocabulary) -> Cell:
    """Returns the SDK's event that makes a host send an arm.

    The cell is `direct` if the SDK calls the handler without an event.
    """
    if vocabulary.host is None:
        return Cell("no host")
    forwards = [item for item in vocabulary.host.forwards if item.arm == event.arm.name]
    if not forwards:
        return _event_difference(
            event.arm, vocabulary, "host", MISSING, "its host does not send it"
        )
    called = [item for item in forwards if item.via is not None]
    text = ", ".join(dict.fromkeys(item.event or "direct" for item in forwards))
    if not called:
        return _event_difference(
            event.arm, vocabulary, "host", text, f"nothing calls its {forwards[0].handler}"
        )
    other_events = [item.event for item in called if item.event not in (None, event.sdk_event)]
    if other_events:
        expected = event.sdk_event
        why = f"its host sends it on {other_events[0]!r}, not on {expected!r} ({called[0].via})"
        return _event_difference(event.arm, vocabulary, "host", text, why)
    emitted = {item.name for item in vocabulary.session.emits} if vocabulary.session else set()
    if vocabulary.session and all(item.event and item.event not in emitted for item in called):
        why = f"its session never emits {event.sdk_event!r}"
        return _event_difference(event.arm, vocabulary, "host", text, why)
    return _equal_event(event.arm, vocabulary, "host", text)


def _driver_event_cell(
    arm: Field, vocabulary: Vocabulary, unknown_arms: Mapping[str, set[str]]
) -> Cell:
    driver = vocabulary.driver
    if driver is None:
        return Cell("no driver")
    names = [item.event for item in driver.receives if item.arm == arm.name]
    if not names and driver.emits_by_arm_name is None:
        return _event_difference(
            arm, vocabulary, "driver", MISSING, "its driver does not receive it"
        )
    if not names and arm.name in unknown_arms.get(vocabulary.sdk, ()):
        why = "its driver cannot receive it, as its messages have no such arm"
        return _event_difference(arm, vocabulary, "driver", MISSING, why)
    # A driver may emit both the arm's name and an older name.
    name = arm.name if arm.name in names or not names else names[0]
    if name != arm.name:
        return _event_difference(
            arm, vocabulary, "driver", name, f"its driver emits it as {name!r}"
        )
    if name not in {item.name for item in driver.events}:
        why = f"its driver's event type does not include it ({driver.place})"
        return _event_difference(arm, vocabulary, "driver", f"{name} (untyped)", why)
    return _equal_event(arm, vocabulary, "driver", name)


def _equal_event(arm: Field, vocabulary: Vocabulary, side: str, text: str) -> Cell:
    return Cell(text, compared=(Compared(vocabulary.sdk, f"event {arm.name}: {side}"),))


def _event_difference(arm: Field, vocabulary: Vocabulary, side: str, text: str, why: str) -> Cell:
    message = f"{vocabulary.sdk}: event {arm.name}: {why}"
    difference_id = f"event {arm.name}: {side}"
    return Cell(
        text, (Finding(vocabulary.sdk, difference_id, message, Rule.PARITY_EVENT, arm.span),)
    )


def _host_request_cell(
    call: Call, vocabulary: Vocabulary, all_vocabularies: Sequence[Vocabulary]
) -> Cell:
    if vocabulary.host is None:
        return Cell("no host")
    answers = [item for item in vocabulary.host.answers if item.arm == call.request.name]
    if not answers:
        return _request_difference(call, vocabulary, "host", MISSING, "its host does not answer it")
    response = answers[0].response or "no response"
    expected = call.response.name if call.response else "no response"
    if response != expected:
        why = f"its host answers with {response!r}, not {expected!r} ({answers[0].place})"
        return _request_difference(call, vocabulary, "host", response, why)
    findings = tuple(_error_findings(call, vocabulary, all_vocabularies))
    compared = [f"request {call.request.name}: host"]
    # A text that the host no longer has may only have become a computed one.
    compared += [
        _error_id(call, text)
        for text in _error_texts(call, vocabulary)
        if _error_id(call, text) not in {item.id for item in findings}
    ]
    return Cell(response, findings, tuple(Compared(vocabulary.sdk, item) for item in compared))


def _error_id(call: Call, text: str) -> str:
    return f"request error {call.request.name} {text!r}: host"


def _error_findings(
    call: Call, vocabulary: Vocabulary, all_vocabularies: Sequence[Vocabulary]
) -> Iterator[Finding]:
    """Yields a finding for each error text that only this SDK's host sends."""
    texts = [(item, text) for item in all_vocabularies for text in _error_texts(call, item)]
    for text in _error_texts(call, vocabulary):
        others = {item.sdk for item in all_vocabularies if item.sdk != vocabulary.sdk and item.host}
        if others and not any(item.sdk in others and other == text for item, other in texts):
            difference_id = _error_id(call, text)
            message = (
                f"{vocabulary.sdk}: request {call.request.name}: only its host answers with "
                f"the error {text!r}"
            )
            span = call.request.span
            yield Finding(vocabulary.sdk, difference_id, message, Rule.PARITY_REQUEST, span)


def _error_texts(call: Call, vocabulary: Vocabulary) -> Iterator[str]:
    for answer in vocabulary.host.answers if vocabulary.host else ():
        if answer.arm == call.request.name:
            yield from answer.errors


def _driver_request_cell(call: Call, vocabulary: Vocabulary) -> Cell:
    if vocabulary.driver is None:
        return Cell("no driver")
    methods = [item.method for item in vocabulary.driver.sends if item.arm == call.request.name]
    for item in vocabulary.behaviours:
        if item.kind == RETURNED and item.subject == call.request.name:
            expected = call.response.name if call.response else ""
            if expected and item.value != expected:
                why = f"{item.within} returns {item.value}, not {expected} ({item.place})"
                return _request_difference(call, vocabulary, "driver", item.value, why)
    if methods:
        compared = Compared(vocabulary.sdk, f"request {call.request.name}: driver")
        return Cell(", ".join(dict.fromkeys(methods)), compared=(compared,))
    return _request_difference(call, vocabulary, "driver", MISSING, "its driver cannot send it")


def _request_difference(call: Call, vocabulary: Vocabulary, side: str, text: str, why: str) -> Cell:
    message = f"{vocabulary.sdk}: request {call.request.name}: {why}"
    difference_id = f"request {call.request.name}: {side}"
    span = call.request.span
    return Cell(text, (Finding(vocabulary.sdk, difference_id, message, Rule.PARITY_REQUEST, span),))
