"""Tests of unusual TypeScript: forms that are read, and forms that must be reported."""

from __future__ import annotations

import pytest
from small_sdks import Small, typescript_sdk
from small_typescript_sdk import HOST, changed, events

from sessiongen.diagnostics import Rule, Severity
from sessiongen.vocabulary.behaviours import FIELDS


def values(small: Small, name: str = "Kind") -> tuple[str, ...]:
    assert small.errors == []
    fact = small.vocabulary.enum(name)
    assert fact is not None
    return fact.values


def fields(small: Small, name: str = "Kind") -> list[str]:
    assert small.errors == []
    record = small.vocabulary.record(name)
    assert record is not None
    return [field.name for field in record.fields]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("export enum Kind { A = 'a' } export enum Kind { B = 'b' }", ("a", "b")),
        ("export type Kind = CloseReason.ERROR | 'x';", ("error", "x")),
        ("export type Kind = 'a' | 'a';", ("a",)),
        (r"export type Kind = '\uD83D\uDE00';", ("😀",)),
    ],
)
def test_unusual_sets_of_literals(line: str, expected: tuple[str, ...]) -> None:
    assert values(typescript_sdk(events(line), ("Kind",))) == expected


def test_module_with_another_suffix() -> None:
    assert values(typescript_sdk({"src/kind.mts": "export enum Kind { A = 'a' }"}, ("Kind",))) == (
        "a",
    )


def test_required_set_without_literals() -> None:
    typescript_sdk(events("export ¶enum Kind {}"), ("Kind",)).fault(Rule.SDK_ENUM)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("export interface Kind extends Omit<B, 'x'> { z: 1 }", ["y", "z"]),
        ("export interface Kind extends Partial<B> { z: 1 }", ["x", "y", "z"]),
        ("export type Kind = Pick<B, 'x'> & { z: 1 };", ["x", "z"]),
        ("export type Kind = Readonly<Omit<B, 'x' | 'none'>>;", ["y"]),
        ("class A<T> { x: T } export class Kind extends A<string> { z: 1 }", ["x", "z"]),
    ],
)
def test_fields_of_utility_types(line: str, expected: list[str]) -> None:
    assert fields(typescript_sdk(events("interface B { x: 1; y: 2 }", line))) == expected


def test_fields_selected_by_names_that_are_not_constants() -> None:
    line = "export interface Kind extends ¶Omit<B, Keys> { z: 1 }"
    typescript_sdk(events("interface B { x: 1 }", line)).fault(Rule.SDK_SOURCE)


@pytest.mark.parametrize("name", ["once", "addListener"])
def test_unusual_subscriptions(name: str) -> None:
    small = typescript_sdk(changed(HOST, "session.on(", f"session.{name}("))
    assert small.errors == []
    assert small.vocabulary.host is not None
    assert [(item.arm, item.event) for item in small.vocabulary.host.forwards] == [
        ("state_of", "state_changed")
    ]


ANSWER = "{ case: 'pong', value: new pb.SessionResponse_Pong() }"
SWITCH = f"""switch (req.request.case) {{
      case 'ping': return this.answer({ANSWER});
    }}"""


def test_reversed_comparison_with_an_arm() -> None:
    form = f"if ('ping' === req.request.case) return this.answer({ANSWER});"
    small = typescript_sdk(changed(HOST, SWITCH, form))
    assert small.errors == []
    assert small.vocabulary.host is not None
    assert [item.arm for item in small.vocabulary.host.answers] == ["ping"]


@pytest.mark.parametrize(
    "form",
    [
        f"{SWITCH} return this.table[¶req.request.case](req);",
        f"{SWITCH} const isOther = ¶req.request.case === 'other';",
        f"{SWITCH} while (¶req.request.case !== 'other') this.wait();",
        f"{SWITCH} if (req.request.case === ¶other()) return;",
        f"{SWITCH} return {{ [names()]: this.other }}[¶req.request.case](req);",
    ],
)
def test_tests_of_an_arm_that_cannot_be_read(form: str) -> None:
    typescript_sdk(changed(HOST, SWITCH, form)).fault(Rule.SDK_REQUEST)


@pytest.mark.parametrize(
    "form",
    [
        f"if (req.request.case !== 'ping') return; return this.answer({ANSWER});",
        f"return req.request.case === 'ping' ? this.answer({ANSWER}) : undefined;",
        f"req.request.case === 'ping' && this.answer({ANSWER});",
        f"const arm = req.request.case; if (arm === 'ping') {{ this.answer({ANSWER}); }}",
        f"if (!req.request.case) return; {SWITCH}",
        f"const table = {{ ping: () => this.answer({ANSWER}) }}; table[req.request.case]();",
        f"new Map([['ping', () => this.answer({ANSWER})]]).get(req.request.case)();",
    ],
)
def test_forms_of_a_test_of_an_arm(form: str) -> None:
    small = typescript_sdk(changed(HOST, SWITCH, form))
    assert small.errors == [] and small.vocabulary.host is not None
    answers = [(item.arm, item.response) for item in small.vocabulary.host.answers]
    assert answers == [("ping", "pong")]


def test_arm_that_is_only_logged() -> None:
    form = f"log(`got ${{req.request.case}}`, {{ arm: req.request.case }}); {SWITCH}"
    assert typescript_sdk(changed(HOST, SWITCH, form)).errors == []


@pytest.mark.parametrize(
    "form",
    [
        "this.send({ ...rest });",
        "const made = { case: arm(), value: 1 }; this.send(made);",
        "this.send(made);",
    ],
)
def test_arm_that_cannot_be_read(form: str) -> None:
    other = f"private other() {{\n¶{form} }}\n  private onState = (ev"
    small = typescript_sdk(changed(HOST, "private onState = (ev", other))
    assert small.errors == []
    unread = [item for item in small.vocabulary.behaviours if item.kind == FIELDS]
    assert [(item.subject, item.within) for item in unread] == [
        ("AgentSessionEvent", "SessionHost.other")
    ]


def test_arm_filled_by_an_assignment() -> None:
    form = "const made = new pb.AgentSessionEvent(); made.event = { case: 'stateOf', value: 1 };"
    old = "this.send({ case: 'stateOf', value: new pb.AgentSessionEvent_StateOf({ newState: ev.new }) });"
    small = typescript_sdk(changed(HOST, old, form))
    assert small.errors == []
    assert small.vocabulary.host is not None
    assert [item.arm for item in small.vocabulary.host.forwards] == ["state_of"]


def test_event_constructed_in_code_that_the_host_does_not_call() -> None:
    made = "new pb.AgentSessionEvent({ event: { case: 'closed', value: 1 } })"
    small = typescript_sdk(
        changed(
            HOST,
            "export class SessionHost {",
            f"class Other {{\n¶onClose = () => this.out({made}); }}\n" "export class SessionHost {",
        )
    )
    assert small.errors == []
    assert [(item.severity, item.message) for item in small.reading.diagnostics] == [
        (
            Severity.WARNING,
            "AgentSessionEvent.closed is filled here, in code that SessionHost is not seen to call",
        )
    ]
    assert [item.span for item in small.reading.diagnostics] == small.marks


def test_unpaired_surrogate_is_not_a_literal() -> None:
    typescript_sdk(events(r"export type Kind = 'a' | ¶'\uD83D';")).fault(Rule.SDK_ENUM)


def test_event_sent_by_the_initial_value_of_a_field() -> None:
    field = "first = this.send({ case: 'stateOf', value: 1 });\n  private onState = (ev"
    assert typescript_sdk(changed(HOST, "private onState = (ev", field)).errors == []
