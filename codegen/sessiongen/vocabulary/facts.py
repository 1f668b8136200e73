"""States the facts of a vocabulary one by one, so that two versions can be compared.

A fact has a name, such as `value Reason.error`, and details that can change, such as the type
of a field. Places are no part of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sessiongen.vocabulary.model import Driver, Host, Session, Vocabulary

Facts = Mapping[str, str]
_Pairs = Iterator[tuple[str, str]]


def facts(vocabulary: Vocabulary) -> Facts:
    """Returns the details of each fact by its name; "" for a fact without details."""
    details: dict[str, list[str]] = {}
    for name, detail in _all(vocabulary):
        details.setdefault(name, []).append(detail)
    return {name: ", ".join(sorted(set(details[name]) - {""})) for name in sorted(details)}


def _all(vocabulary: Vocabulary) -> _Pairs:
    yield from _definitions(vocabulary)
    yield from _messages(vocabulary)
    yield from _conversions(vocabulary)
    yield from _code(vocabulary)
    if vocabulary.session is not None:
        yield from _session(vocabulary.session)
    if vocabulary.host is not None:
        yield from _host(vocabulary.host)
    if vocabulary.driver is not None:
        yield from _driver(vocabulary.driver)
    if vocabulary.requirement is not None:
        required = vocabulary.requirement
        yield f"requires {required.distribution}", required.versions


def _definitions(vocabulary: Vocabulary) -> _Pairs:
    for enum in vocabulary.enums:
        yield f"enum {enum.name}", "and any other value" if enum.open else ""
        for literal in enum.values:
            yield f"value {enum.name}.{literal}", ""
    for record in vocabulary.records:
        yield f"class {record.name}", ""
        for field in record.fields:
            optional = " or nothing" if field.optional else ""
            yield f"field {record.name}.{field.name}", field.type + optional
    for union in vocabulary.unions:
        for member in union.members:
            yield f"member {union.name}.{member}", ""


def _messages(vocabulary: Vocabulary) -> _Pairs:
    for item in vocabulary.constructions:
        yield f"fills {item.message}", "copies fields by name" if item.open else ""
        for name in item.fields:
            yield f"fills {item.message}.{name}", ""
    for value_map in vocabulary.maps:
        for literal, value in value_map.pairs:
            yield f"maps {value_map.name}.{literal}", value
        for default in value_map.defaults:
            yield f"maps {value_map.name} otherwise", default.value
    for ignored in vocabulary.ignored_variants:
        yield f"ignores {ignored.tag} in {ignored.within}", ""
    for keys in vocabulary.map_keys:
        for key in keys.keys:
            form = dict(keys.forms).get(key)
            yield f"key {keys.message}.{keys.field}.{key}", f"as {form}" if form else ""
    for use in vocabulary.envelope_uses:
        yield f"{use.direction} message {use.arm}", ""


def _conversions(vocabulary: Vocabulary) -> _Pairs:
    for item in vocabulary.conversions:
        name = f"converts {item.message}.{item.field}"
        for literal, value in item.pairs:
            yield f"{name} {literal}", value
        yield f"{name} otherwise", item.default
    for source in vocabulary.sources:
        factor = f" times {source.factor:g}" if source.factor != 1 else ""
        condition = f" if {source.condition}" if source.condition else ""
        text = source.constant or source.path or source.parameter
        yield f"source of {source.message}.{source.field}", f"{text}{factor}{condition}"


def _code(vocabulary: Vocabulary) -> _Pairs:
    for constant in vocabulary.constants:
        yield f"constant {constant.name}", constant.value or "unverified"
    for behaviour in vocabulary.behaviours:
        yield f"{behaviour.kind} {behaviour.subject}", behaviour.value or "unverified"
    for unused in vocabulary.unused_values:
        yield f"unused {unused.enum}.{unused.value}", ""


def _session(session: Session) -> _Pairs:
    yield "session", session.name
    for event in session.events:
        yield f"session event {event.name}", ""
    for event in session.emits:
        yield f"session emits {event.name}", ""


def _host(host: Host) -> _Pairs:
    yield "host", host.name
    if host.unknown_request is not None:
        yield "host answers unknown requests", ""
    for forward in host.forwards:
        yield f"host sends {forward.arm}", f"on {forward.event}" if forward.event else "directly"
        for path in forward.reads:
            yield f"host reads {forward.arm}.{path}", ""
    for answer in host.answers:
        yield f"host answers {answer.arm}", answer.response or "without a response"
        if answer.error_beside_result:
            yield f"host answers {answer.arm} with an error beside the result", ""
        for path in answer.reads:
            yield f"host reads {answer.arm}.{path}", ""
        for error in answer.errors:
            yield f"host answers {answer.arm} with the error {error!r}", ""


def _driver(driver: Driver) -> _Pairs:
    yield "driver", driver.name
    for event in driver.events:
        yield f"driver event {event.name}", ""
    for reception in driver.receives:
        yield f"driver receives {reception.arm}", reception.event
    for sending in driver.sends:
        yield f"driver sends {sending.arm}", sending.method
