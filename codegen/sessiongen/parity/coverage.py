"""Coverage: which events each SDK's host sends and its driver receives, and which
requests they answer and send.

In: a Protocol and vocabularies. Out: a Section of events and one of requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sessiongen.diagnostics import Rule
from sessiongen.parity.model import NOTHING, Cell, Finding, Row, Section
from sessiongen.protocol import Call, Event, Protocol
from sessiongen.schema import Field
from sessiongen.vocabulary.model import Vocabulary


def sections(protocol: Protocol, vocabularies: Sequence[Vocabulary]) -> list[Section]:
    """Return the sections of events and of requests."""
    columns = tuple(f"{item.sdk} {side}" for item in vocabularies for side in ("host", "driver"))
    events = tuple(
        Row(
            event.arm.name,
            tuple(
                cell
                for item in vocabularies
                for cell in (_sent(event, item), _received(event.arm, item))
            ),
        )
        for event in protocol.events
    )
    requests = tuple(
        Row(
            call.request.name,
            tuple(
                cell
                for item in vocabularies
                for cell in (_answered(call, item), _asked(call, item))
            ),
        )
        for call in protocol.calls
    )
    events += tuple(_unsent(protocol, vocabularies))
    return [Section("events", columns, events), Section("requests", columns, requests)]


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
            thing = f"sdk event {event.name}"
            finding = Finding(vocabulary.sdk, thing, message, Rule.PARITY_EVENT, span)
            cells = [Cell("")] * (2 * len(vocabularies))
            cells[2 * index] = Cell(event.name, (finding,))
            yield Row(NOTHING, tuple(cells))


def _sent(event: Event, vocabulary: Vocabulary) -> Cell:
    """Return under which SDK event a host forwards an arm; `direct` for a call of its own."""
    if vocabulary.host is None:
        return Cell("no host")
    found = [item for item in vocabulary.host.forwards if item.arm == event.arm.name]
    if not found:
        return _event(event.arm, vocabulary, "host", NOTHING, "its host does not send it")
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
    if not names and driver.by_name is None:
        return _event(arm, vocabulary, "driver", NOTHING, "its driver drops it")
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
    thing = f"event {arm.name}: {side}"
    return Cell(text, (Finding(vocabulary.sdk, thing, message, Rule.PARITY_EVENT, arm.span),))


def _answered(call: Call, vocabulary: Vocabulary) -> Cell:
    if vocabulary.host is None:
        return Cell("no host")
    found = [item for item in vocabulary.host.answers if item.arm == call.request.name]
    if not found:
        return _request(call, vocabulary, "host", NOTHING, "its host does not answer it")
    response = found[0].response or NOTHING
    if response != call.response.name:
        why = f"its host answers with {response!r}, not {call.response.name!r} ({found[0].place})"
        return _request(call, vocabulary, "host", response, why)
    return Cell(response)


def _asked(call: Call, vocabulary: Vocabulary) -> Cell:
    if vocabulary.driver is None:
        return Cell("no driver")
    methods = [item.method for item in vocabulary.driver.sends if item.arm == call.request.name]
    if methods:
        return Cell(", ".join(dict.fromkeys(methods)))
    return _request(call, vocabulary, "driver", NOTHING, "its driver cannot send it")


def _request(call: Call, vocabulary: Vocabulary, side: str, text: str, why: str) -> Cell:
    message = f"{vocabulary.sdk}: request {call.request.name}: {why}"
    thing = f"request {call.request.name}: {side}"
    span = call.request.span
    return Cell(text, (Finding(vocabulary.sdk, thing, message, Rule.PARITY_REQUEST, span),))
