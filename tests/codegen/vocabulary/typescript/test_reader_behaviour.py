"""Tests of the TypeScript reader: maps, unions, event fields that handlers read, answers."""

from __future__ import annotations

import pytest
from small_sdks import TYPESCRIPT_SDK, Small, typescript_sdk
from small_typescript_sdk import EVENTS, HOST, changed, events

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary import (
    EnvelopeUse,
    Default,
    Forward,
    Host,
    MapKeys,
    UnionFact,
    Place,
    IgnoredVariant,
    ValueMap,
)

SENT = (
    "this.send({ case: 'stateOf', value: new pb.AgentSessionEvent_StateOf({ newState: ev.new }) });"
)
SWITCH = """switch (req.request.case) {
      case 'ping': return this.answer({ case: 'pong', value: new pb.SessionResponse_Pong() });
    }"""
LINES = TYPESCRIPT_SDK[HOST].count("\n")


def with_lines(*lines: str) -> dict[str, str]:
    """Returns the small SDK's file of host and driver with lines appended."""
    return {HOST: TYPESCRIPT_SDK[HOST] + "\n".join(lines) + "\n"}


def host_of(small: Small) -> Host:
    assert small.errors == []
    assert small.vocabulary.host is not None
    return small.vocabulary.host


def forward(small: Small) -> Forward:
    [fact] = host_of(small).forwards
    return fact


def test_map_from_literals_to_proto_values() -> None:
    small = typescript_sdk(
        with_lines(
            "import { CloseReason } from './events.js';",
            "const MAP: Record<string, pb.Mood> = {",
            "  good: pb.Mood.MOOD_GOOD, // fine",
            "  [CloseReason.BY_USER]: pb.Mood.MOOD_BAD, 'so-so': pb.Mood.MOOD_BAD,",
            "};",
            "export function encode(x: string) {",
            "  return [MAP[x] ?? pb.Mood.MOOD_GOOD, MAP[x] ?? other, MAP[x]];",
            "}",
            "const OTHER = { a: pb.Mood.MOOD_GOOD, b: 2 };",
        )
    )
    assert small.errors == []
    assert small.vocabulary.maps == (
        ValueMap(
            "MAP",
            Place(HOST, LINES + 2),
            (("by-user", "MOOD_BAD"), ("good", "MOOD_GOOD"), ("so-so", "MOOD_BAD")),
            (Default("MOOD_GOOD", "encode", Place(HOST, LINES + 7)),),
        ),
    )


def test_map_of_another_file_and_of_a_function() -> None:
    tables = (
        "import { AgentSession as wire } from '@livekit/protocol';\n"
        "export const MAP = { a: wire.Mood.ONE };\n"
    )
    small = typescript_sdk(
        {
            **with_lines(
                "import { MAP } from '../tables.js';",
                "const encode = (x: string) => {",
                "  const own = { b: pb.Mood.TWO };",
                "  return [MAP[x] || pb.Mood.ONE, own[x] ?? pb.Mood.TWO];",
                "};",
            ),
            "src/tables.ts": tables,
        }
    )
    defaults = {item.name: [it.value for it in item.defaults] for item in small.vocabulary.maps}
    assert defaults == {"MAP": ["ONE"], "own": ["TWO"]}


def test_key_of_a_map_that_cannot_be_read() -> None:
    small = typescript_sdk(with_lines("const MAP = { a: pb.Mood.ONE, ¶[key()]: pb.Mood.TWO };"))
    assert small.fault(Rule.SDK_ENUM).message == "a key of the map MAP is not a constant"


@pytest.mark.parametrize(
    ("value", "keys", "is_open", "line"),
    [
        ("{ a: 1, 'b-c': 2, ev }", ("a", "b-c", "ev"), False, 8),
        ("{ a: 1, ...more }", ("a",), True, 8),
        ("options(ev)", ("x", "y"), False, LINES + 1),
    ],
)
def test_keys_of_a_field(value: str, keys: tuple[str, ...], is_open: bool, line: int) -> None:
    source = TYPESCRIPT_SDK[HOST].replace("newState: ev.new", f"newState: {value}")
    small = typescript_sdk({HOST: source + "function options(ev) { return { x: 1, y: 2 }; }\n"})
    message, within = "AgentSessionEvent.StateOf", "SessionHost.onState"
    assert small.vocabulary.map_keys == (
        MapKeys(message, "new_state", within, is_open, Place(HOST, line), keys),
    )


@pytest.mark.parametrize("value", ["undefined", "null", "''", "[]", "{}"])
def test_empty_constant_fills_nothing(value: str) -> None:
    small = typescript_sdk(changed(HOST, "newState: ev.new", f"newState: {value}, old: 0"))
    builds = {item.message: item.fields for item in small.vocabulary.constructions}
    assert builds["AgentSessionEvent.StateOf"] == ("old",)


def test_union_members() -> None:
    small = typescript_sdk(
        events(
            "export interface One { a: number }",
            "export type Two = { b: One | StateChangedEvent | null };",
            "export type Item = One | Two | string;",
            "export type Plain = number | string;",
        )
    )
    assert small.errors == []
    assert small.vocabulary.unions == (
        UnionFact("Item", Place(EVENTS, 7), ("One", "Two", "string")),
        UnionFact("Two.b", Place(EVENTS, 6), ("One", "StateChangedEvent")),
    )


def test_ignored_variants() -> None:
    small = typescript_sdk(
        with_lines(
            "const encode = (items) => items.filter((x) => x.type !== 'state_changed');",
            "const other = (items) => items.filter((x) => x.type !== 'x' && x.kind != 'state_changed');",
        )
    )
    assert small.vocabulary.ignored_variants == (
        IgnoredVariant("state_changed", "encode", Place(HOST, LINES + 1)),
    )


@pytest.mark.parametrize(
    ("body", "reads", "passes_event"),
    [
        (SENT, ("new",), False),
        (f"{SENT} log(ev.old.name, ev!.close());", ("new", "old.name"), False),
        (f"{SENT} this.note(ev);", ("new", "old"), False),
        (f"{SENT} this.note(1, ev);", ("new",), True),
        (f"{SENT} encode(ev);", ("new",), True),
        (f"{SENT} const all = {{ ev }};", ("new",), True),
        (f"{SENT} const all = {{ ...ev }};", ("new",), True),
    ],
)
def test_event_fields_that_a_handler_reads(
    body: str, reads: tuple[str, ...], passes_event: bool
) -> None:
    note = "note(seen: X) { if (seen.old) this.note(seen); }\n  private onState"
    source = TYPESCRIPT_SDK[HOST].replace(SENT, body).replace("private onState", note)
    fact = forward(typescript_sdk({HOST: source}))
    assert (fact.event_type, fact.reads, fact.passes_event) == (
        "StateChangedEvent",
        reads,
        passes_event,
    )


def test_handler_without_a_type() -> None:
    fact = forward(typescript_sdk(changed(HOST, "ev: StateChangedEvent)", "ev)")))
    assert (fact.event_type, fact.reads) == (None, ("new",))


REFUSED = "this.answer({ case: 'pong', value: 1 });"


@pytest.mark.parametrize(
    "form",
    [
        SWITCH.replace("    }", f"      default: {REFUSED}\n    }}"),
        f"{SWITCH}\n    {REFUSED}",
        f"{SWITCH}\n    this.refuse();",
    ],
)
def test_unknown_request_is_answered(form: str) -> None:
    refuse = f"refuse() {{ {REFUSED} }}\n  handle(req"
    source = TYPESCRIPT_SDK[HOST].replace(SWITCH, form).replace("handle(req", refuse)
    host = host_of(typescript_sdk({HOST: source}))
    assert host.unknown_request == Place(HOST, 16 if "default" not in form else 15)


def test_unknown_request_is_not_answered() -> None:
    assert host_of(typescript_sdk()).unknown_request is None


@pytest.mark.parametrize(
    ("before", "error", "texts"),
    [
        ("", "'too late'", ("too late",)),
        ("let error = x ? 'early' : '';", "error", ("early",)),
        ("let error: string; error = 'none yet'; error = String(e);", "error", ("none yet",)),
        ("", "text ?? 'nothing'", ("nothing",)),
        ("const error = `as ${x}`;", "error", ()),
    ],
)
@pytest.mark.parametrize("direct", [True, False])
def test_constant_error_texts(
    before: str, error: str, texts: tuple[str, ...], direct: bool
) -> None:
    if direct:
        answer = f"this.out(new pb.SessionResponse({{ pong: 1, error: {error} }}));"
    else:
        answer = f"this.answer({{ case: 'pong', value: 1 }}, {error});"
    form = f"switch (req.request.case) {{ case 'ping': {before} {answer} break; }}"
    source = TYPESCRIPT_SDK[HOST].replace(SWITCH, form)
    source = source.replace("['response']) {", "['response'], error?: string) {")
    source = source.replace("SessionResponse({ response })", "SessionResponse({ response, error })")
    [fact] = host_of(typescript_sdk({HOST: source})).answers
    assert fact.errors == texts


@pytest.mark.parametrize(
    ("argument", "payload_only"), [("event", False), ("msg.event", False), ("ev.value", True)]
)
def test_driver_that_emits_only_the_payload(argument: str, payload_only: bool) -> None:
    small = typescript_sdk(
        changed(HOST, "this.emit('state', ev.value)", f"this.emit('state', {argument})")
    )
    assert small.vocabulary.driver is not None
    assert small.vocabulary.driver.emits_payload_only == (Place(HOST, 21) if payload_only else None)


def test_arms_of_the_envelope() -> None:
    console = (
        "import { AgentSession as pb } from '@livekit/protocol';\n"
        "class Speaker {\n"
        "  play(frame: Frame) {\n"
        "    this.send(new pb.AgentSessionMessage({ message: { case: 'soundOut', value: frame } }));\n"
        "  }\n"
        "  async listen() {\n"
        "    for await (const msg of this.link) {\n"
        "      switch (msg.message.case) {\n"
        "        case 'request': break;\n"
        "      }\n"
        "    }\n"
        "  }\n"
        "}\n"
    )
    small = typescript_sdk({"src/console.ts": console})
    assert small.errors == []
    assert small.vocabulary.envelope_uses == (
        EnvelopeUse("request", "receives", "Speaker.listen", Place("src/console.ts", 9)),
        EnvelopeUse("sound_out", "sends", "Speaker.play", Place("src/console.ts", 4)),
    )


@pytest.mark.parametrize(
    "lines",
    [
        "take({ message }: pb.AgentSessionMessage) { switch (message.case) {",
        "take({ message: it }: pb.AgentSessionMessage) { switch (it.case) {",
        "take(msg: pb.AgentSessionMessage) { const { message } = msg; switch (message.case) {",
        "async take() { for await (const { message } of this.link<pb.AgentSessionMessage>()) switch (message.case) {",
    ],
)
def test_arm_of_the_envelope_that_is_destructured(lines: str) -> None:
    code = (
        "import { AgentSession as pb } from '@livekit/protocol';\n"
        f"class Speaker {{\n  {lines}\n    case 'request': break;\n  }} }}\n}}\n"
    )
    small = typescript_sdk({"src/console.ts": code})
    assert small.errors == []
    place = Place("src/console.ts", 4)
    assert small.vocabulary.envelope_uses == (
        EnvelopeUse("request", "receives", "Speaker.take", place),
    )


def test_required_union_in_any_module() -> None:
    lines = "export interface One { a: number }\nexport type Thing = One | string;\n"
    small = typescript_sdk({"src/llm.ts": lines}, ("Thing",))
    assert small.reading.diagnostics == []
    assert [item.name for item in small.vocabulary.unions] == ["Thing"]


def test_fields_filled_by_assignments() -> None:
    small = typescript_sdk(
        with_lines(
            "function fill() {",
            "  const x = new pb.Outer({ aB: 1, inner: { c: 2, deepOne: { d: 3 }, none: undefined } });",
            "  x.other.eF = 4;",
            "}",
        )
    )
    [construction] = [item for item in small.vocabulary.constructions if item.message == "Outer"]
    assert construction.fields == (
        "a_b",
        "inner",
        "inner.c",
        "inner.deep_one",
        "inner.deep_one.d",
        "other",
        "other.e_f",
    )
