"""Tests of the TypeScript reader: events, hosts, drivers, and damaged sources."""

from __future__ import annotations

import pytest
from small_sdks import TYPESCRIPT_SDK, typescript_sdk

from sessiongen.diagnostics import Rule, Severity
from scopes import TYPESCRIPT
from sessiongen.vocabulary import Place
from sessiongen.vocabulary.behaviours import FIELDS
from sessiongen.vocabulary.package import Package
from sessiongen.vocabulary.typescript import read
from small_typescript_sdk import EVENTS, HOST, SESSION, changed


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (HOST, "session.on(EventTypes.State", "session.on(¶name"),
        (HOST, "session.on(EventTypes.State", "session.on(¶EventTypes.Gone"),
        (HOST, "EventTypes.State, this.onState", "EventTypes.State, ¶this.handlers.onState"),
        (HOST, "this.emit('state'", "¶this.emit(ev.case"),
        (HOST, "switch (ev.case) { case 'stateOf': this.emit", "{ ¶this.emit"),
        (SESSION, "this.emit(EventTypes.State", "this.emit(¶`a${b}`"),
        (SESSION, "this.emit(EventTypes.State", "super.emit(¶name"),
        (SESSION, "[EventTypes.Close]", "¶[Symbol.iterator]"),
        (SESSION, "export class", "export ¶class"),
    ],
)
def test_unreadable_event(path: str, old: str, new: str) -> None:
    files = changed(path, old, new)
    if "¶class" in new:
        files = {path: files[path].replace("TypedEmitter<Callbacks>", "TypedEmitter<Unknown>")}
    small = typescript_sdk(files)
    span = next(item.span for item in small.errors if item.rule is Rule.SDK_EVENT)
    assert [span] == small.marks


def test_unreadable_arm() -> None:
    small = typescript_sdk(changed(HOST, "case 'ping': return", "case ¶PING: return"))
    span = next(item.span for item in small.errors if "can be read" not in item.message)
    assert [span] == small.marks


@pytest.mark.parametrize(
    ("old", "new", "within"),
    [
        (
            "{ case: 'stateOf', value: new pb.AgentSessionEvent_StateOf",
            "¶{ case: arm, value: new pb.X",
            "AgentSessionEvent in SessionHost.onState",
        ),
        (
            "return new pb.SessionRequest({ requestId: '1', request:",
            "return ¶new pb.SessionRequest({ ...x, request:",
            "SessionRequest in RemoteSession.ping",
        ),
        (
            "return new pb.SessionRequest({ requestId: '1', request: { case: 'ping',",
            "return ¶new pb.SessionRequest({ request: { case: arm,",
            "SessionRequest in RemoteSession.ping",
        ),
    ],
)
def test_computed_arm_is_a_fact(old: str, new: str, within: str) -> None:
    small = typescript_sdk(changed(HOST, old, new))
    unread = [item for item in small.vocabulary.behaviours if item.kind == FIELDS]
    assert [f"{item.subject} in {item.within}" for item in unread] == [within]
    lines = [item.place.line if item.place else 0 for item in unread]
    assert lines == [mark.line for mark in small.marks]


def test_receivers_of_emit() -> None:
    other = """\
import type { AgentSession } from './agent_session.js';
class Activity {
  #session?: AgentSession;
  agent: Agent;
  s;
  constructor(agent: Agent, sess: AgentSession, private readonly kept: AgentSession<X>) { this.s = sess; }
  get of(): AgentSession | undefined { return undefined; }
  go(sess: AgentSession) {
    this.#session?.emit('by_private_field', 1);
    this.s!.emit('by_assignment', 1);
    this.kept.emit('by_parameter_property', 1);
    this.of!.emit('by_getter', 1);
    (sess as any).emit('by_parameter', 1);
    this.agent.emit('not_the_session', 1);
    this.emit('not_this_class', 1);
  }
}
const run = (session: AgentSession) => { later(() => session.emit('by_arrow', 1)); };
"""
    override = TYPESCRIPT_SDK[SESSION].replace(
        "  go()",
        "  emit(event: string, ...args: any[]) { return super.emit(event, ...args); }\n  go()",
    )
    small = typescript_sdk({"src/activity.ts": other, SESSION: override})
    session = small.vocabulary.session
    assert small.errors == [] and session is not None
    assert [event.name for event in session.emits] == [
        "by_arrow",
        "by_assignment",
        "by_getter",
        "by_parameter",
        "by_parameter_property",
        "by_private_field",
        "state_changed",
    ]


@pytest.mark.parametrize(
    "body",
    [
        "switch (req.request.case) { case 'one': case 'two': return this.reply(); default: break; }",
        "const u = req.request; switch (u.case) { case 'one': this.reply(); case 'two': return this.reply(); }",
        "if (req.request.case === 'one' || req.request.case === 'two') { this.reply(); }",
    ],
)
def test_forms_of_request_dispatch(body: str) -> None:
    source = TYPESCRIPT_SDK[HOST].replace(
        "  handle(req: pb.SessionRequest) {",
        "  reply() { this.answer({ case: 'pong', value: 1 }); }\n"
        f"  handle(req: pb.SessionRequest) {{ {body} }}\n  old(req: pb.Other) {{",
    )
    host = typescript_sdk({HOST: source}).vocabulary.host
    assert host is not None
    assert [(item.arm, item.response) for item in host.answers] == [
        ("one", "pong"),
        ("two", "pong"),
    ]


def test_fields_a_host_reads_of_a_request() -> None:
    source = (
        TYPESCRIPT_SDK[HOST]
        .replace("case 'ping': return", "case 'ping': this.ping(req.request.value); return")
        .replace(
            "  handle(",
            "  ping(p: pb.SessionRequest_Ping) { use(p.leftSide?.isOn, p.leftSide, p.size!); }\n  handle(",
        )
    )
    host = typescript_sdk({HOST: source}).vocabulary.host
    assert host is not None
    assert host.answers[0].reads == ("left_side.is_on", "size")


def test_handler_called_directly_and_handler_without_callers() -> None:
    source = TYPESCRIPT_SDK[HOST].replace(
        "  handle(",
        "  _onGuess(ev: X) { this.send({ case: 'guess', value: ev }); }\n"
        "  _onDead(ev: X) { this.send({ case: 'dead', value: ev }); }\n  handle(",
    )
    own = "class Other { go() { this._onGuess(1); } }\n"
    caller = "function go(host) {\n  (host as unknown as X)._onGuess?.(1);\n}\n"
    host = typescript_sdk(
        {HOST: source, "src/aside.ts": own, "src/detect.ts": caller}
    ).vocabulary.host
    assert host is not None
    called = {item.arm: (item.event, item.via) for item in host.forwards}
    assert called["guess"] == (None, Place("src/detect.ts", 2))
    assert called["dead"] == (None, None)


def test_method_called_by_a_handler_is_not_a_handler() -> None:
    source = TYPESCRIPT_SDK[HOST].replace(
        "(ev: StateChangedEvent) => {\n",
        "(ev: StateChangedEvent) => { this._onState(ev); };\n  _onState(ev: StateChangedEvent) {\n",
    )
    host = typescript_sdk({HOST: source.replace("    });\n  };", "    });\n  }")}).vocabulary.host
    assert host is not None
    assert [(item.arm, item.event, item.handler) for item in host.forwards] == [
        ("state_of", "state_changed", "onState")
    ]


def test_function_expression_as_handler() -> None:
    small = typescript_sdk(
        changed(
            HOST, "this.onState);", "(ev: X) => { this.send({ case: 'stateOf', value: ev }); });"
        )
    )
    assert small.vocabulary.host is not None
    assert ("state_of", "state_changed", "state_changed") in {
        (item.arm, item.event, item.handler) for item in small.vocabulary.host.forwards
    }


@pytest.mark.parametrize(
    ("body", "fields", "is_open"),
    [
        ("return new pb.A_Report({ oneThing: 1, b, 'c': 2 });", ("b", "c", "one_thing"), False),
        (
            "const r = new pb.A_Report(); r.oneThing = 1; if (x) r.b.c = 2;",
            ("b", "b.c", "one_thing"),
            False,
        ),
        ("return new pb.A_Report({ kind: { case: 'theArm', value: 1 } });", ("the_arm",), False),
        ("return new pb.A_Report({ ...rest, b: 1 });", ("b",), True),
        ("return new pb.A_Report({ [key]: 1 });", (), True),
        ("return new pb.A_Report(values);", (), True),
        ("const r = new pb.A_Report({ b: 1 }); print(r.c);", ("b",), False),
    ],
)
def test_filled_fields_of_a_construction(body: str, fields: tuple[str, ...], is_open: bool) -> None:
    source = TYPESCRIPT_SDK[HOST] + f"function encode(item: X) {{ {body} }}\n"
    builds = [
        item
        for item in typescript_sdk({HOST: source}).vocabulary.constructions
        if item.message == "A.Report"
    ]
    assert [(item.fields, item.open, item.within) for item in builds] == [
        (fields, is_open, "encode")
    ]


def test_encoders_imported_by_the_host() -> None:
    encoder = "import { AgentSession as wire } from '@livekit/protocol';\nexport const encode = () =>\n  new wire.Item({ id: 1 });\n"
    source = "import { encode } from '../encode.js';\n" + TYPESCRIPT_SDK[HOST]
    small = typescript_sdk({HOST: source, "src/encode.ts": encoder})
    assert [
        str(item.place) for item in small.vocabulary.constructions if item.message == "Item"
    ] == ["src/encode.ts:3"]


def test_declaration_files_of_a_package_without_sources() -> None:
    files = {
        "package.json": TYPESCRIPT_SDK["package.json"],
        "dist/events.d.ts": TYPESCRIPT_SDK[EVENTS].replace("export enum", "export declare enum"),
        "dist/agent_session.d.ts": "import { EventTypes } from './events.js';\n"
        "export type Callbacks = { [EventTypes.Close]: () => void };\n"
        "declare const AgentSession_base: new () => TypedEmitter<Callbacks>;\n"
        "export declare class AgentSession extends AgentSession_base { }\n",
    }
    package = Package("sdk", {path: text.encode() for path, text in files.items()})
    reading = read(package, TYPESCRIPT)
    assert reading.vocabulary is not None and reading.vocabulary.session is not None
    assert [item.name for item in reading.vocabulary.session.events] == ["close"]
    fact = reading.vocabulary.enum("CloseReason")
    assert fact is not None and str(fact.place) == "dist/events.d.ts:3"
    missing = [item.message for item in reading.diagnostics if item.rule is Rule.SDK_MISSING]
    assert any("no class SessionHost" in message for message in missing)


def test_syntax_error_is_a_diagnostic() -> None:
    small = typescript_sdk({EVENTS: TYPESCRIPT_SDK[EVENTS] + "export enum { ¶= = }\n"})
    errors = [item for item in small.errors if item.rule is Rule.SDK_SOURCE]
    assert [item.span.line for item in errors] == [5]


def test_file_that_is_not_utf_8() -> None:
    files = {path: text.encode() for path, text in TYPESCRIPT_SDK.items()}
    files[EVENTS] += "// é".encode("latin-1")
    errors = [
        item
        for item in read(Package("sdk", files), TYPESCRIPT).diagnostics
        if item.rule is Rule.SDK_SOURCE
    ]
    assert [str(item.span) for item in errors] == [f"sdk/{EVENTS}:5:1"]


def test_role_class_defined_twice() -> None:
    typescript_sdk({"src/voice/twin.ts": "export ¶class SessionHost {}\n"}).fault(Rule.SDK_ENUM)


def test_missing_role_class_is_a_warning() -> None:
    small = typescript_sdk(changed(HOST, "class RemoteSession", "class Remote"))
    assert [(item.rule, item.severity) for item in small.reading.diagnostics] == [
        (Rule.SDK_MISSING, Severity.WARNING)
    ]
    assert small.vocabulary.driver is None


@pytest.mark.parametrize(
    "text",
    ["(" * 3000 + ")" * 3000, "x = " + "a + " * 5000 + "a", "\0", "export type X = X | 'a';"],
)
def test_damaged_sources_give_facts_or_diagnostics(text: str) -> None:
    for path in (EVENTS, HOST):
        small = typescript_sdk({path: TYPESCRIPT_SDK[path] + text + "\n"})
        assert small.errors or small.vocabulary.enum("State")
