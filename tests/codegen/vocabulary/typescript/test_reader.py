"""Tests of the TypeScript reader: every form that it reads, and every form that it reports."""

from __future__ import annotations

import pytest
from small_sdks import TYPESCRIPT_SDK, typescript_sdk

from sessiongen.diagnostics import Rule, Severity
from sessiongen.vocabulary import (
    Answer,
    EnumFact,
    FieldFact,
    Forward,
    Place,
    Reception,
    Record,
    Sending,
    LiteralValue,
)
from small_typescript_sdk import EVENTS, HOST, SESSION, events


def test_small_sdk() -> None:
    small = typescript_sdk()
    assert small.reading.diagnostics == []
    vocabulary = small.vocabulary
    assert (vocabulary.sdk, vocabulary.language, vocabulary.version) == (
        "agents-js",
        "typescript",
        "9.8.7",
    )
    assert vocabulary.session is not None and vocabulary.host is not None
    assert [event.name for event in vocabulary.session.events] == ["close", "state_changed"]
    assert [str(event.place) for event in vocabulary.session.emits] == [f"{SESSION}:5"]
    assert vocabulary.host.forwards == (
        Forward(
            "state_of",
            "state_changed",
            "onState",
            Place(HOST, 8),
            Place(HOST, 5),
            "StateChangedEvent",
            ("new",),
            False,
        ),
    )
    assert vocabulary.host.answers == (
        Answer("ping", "pong", (), (), Place(HOST, 13), error_beside_result=False),
    )
    assert vocabulary.driver is not None
    assert vocabulary.driver.receives == (Reception("state_of", "state", Place(HOST, 21)),)
    assert vocabulary.driver.sends == (Sending("ping", "ping", Place(HOST, 23)),)
    assert [event.name for event in vocabulary.driver.events] == ["state"]


def test_enum() -> None:
    assert typescript_sdk().vocabulary.enum("CloseReason") == EnumFact(
        "CloseReason",
        "enum",
        False,
        Place(EVENTS, 3),
        (LiteralValue("by-user", "BY_USER", 3), LiteralValue("error", "ERROR", 3)),
    )


def test_string_union() -> None:
    assert typescript_sdk().vocabulary.enum("State") == EnumFact(
        "State",
        "union",
        False,
        Place(EVENTS, 2),
        (LiteralValue("busy", None, 2), LiteralValue("idle", None, 2)),
    )


def test_record_with_tag_and_optional() -> None:
    assert typescript_sdk().vocabulary.record("StateChangedEvent") == Record(
        "StateChangedEvent",
        "state_changed",
        Place(EVENTS, 4),
        (
            FieldFact("new", "State", True, Place(EVENTS, 4)),
            FieldFact("old", "State", False, Place(EVENTS, 4)),
            FieldFact("type", "'state_changed'", False, Place(EVENTS, 4)),
        ),
    )


@pytest.mark.parametrize(
    ("lines", "name", "form", "values", "is_open"),
    [
        (["export type K =", "  | 'a' // one", "  | 'b';"], "K", "union", ("a", "b"), False),
        (["export type K = CloseReason | string;"], "K", "union", ("by-user", "error"), True),
        (["export type K = State | 'c' | null;"], "K", "union", ("busy", "c", "idle"), False),
        (["export const enum K { A = `a`, 'B-C' = 'b' }"], "K", "enum", ("a", "b"), False),
        (["export declare enum K { A = 'a' }"], "K", "enum", ("a",), False),
        (["export enum K { A = 'it\\'s \\u0061' }"], "K", "enum", ("it's a",), False),
        (["export const K = { A: 'a', 'B': 'b' } as const;"], "K", "const", ("a", "b"), False),
        (["export const K = ['a', 'b'] as const satisfies X;"], "K", "const", ("a", "b"), False),
        (
            ["const M = { A: 'a' } as const;", "export type K = (typeof M)[keyof typeof M];"],
            "K",
            "union",
            ("a",),
            False,
        ),
        (
            ["const M = ['a'] as const;", "export type K = (typeof M)[number] | 'b';"],
            "K",
            "union",
            ("a", "b"),
            False,
        ),
        (["export interface C { s?: 'a' | 'b'; }"], "C.s", "field", ("a", "b"), False),
        (
            ["export class C { readonly s: ('a' | 'b') | undefined; }"],
            "C.s",
            "field",
            ("a", "b"),
            False,
        ),
        (["export class C { constructor(public s: 'a') {} }"], "C.s", "field", ("a",), False),
    ],
)
def test_other_forms(
    lines: list[str], name: str, form: str, values: tuple[str, ...], is_open: bool
) -> None:
    small = typescript_sdk(events(*lines))
    assert small.errors == []
    fact = small.vocabulary.enum(name)
    assert fact is not None
    assert (fact.form, fact.values, fact.open) == (form, values, is_open)


def test_literals_of_another_file_have_the_line_of_the_reference() -> None:
    small = typescript_sdk(
        {
            EVENTS: "import type { Role } from './roles.js';\n"
            + TYPESCRIPT_SDK[EVENTS]
            + "export type Kind = Role |\n  'x';\n",
            "src/voice/roles.ts": "\n" * 50 + "export type Role = 'user';\n",
        }
    )
    fact = small.vocabulary.enum("Kind")
    assert fact is not None
    assert [(literal.value, literal.line) for literal in fact.literals] == [("user", 6), ("x", 7)]


def test_definitions_that_are_not_sets_of_literals() -> None:
    small = typescript_sdk(
        events(
            "export enum Level { LOW, HIGH = 2 }",
            "export const settings = { a: 'a' };",
            "export const mixed = { a: 'a', b: 1 } as const;",
            "export type Text = string;",
        )
    )
    assert small.errors == []
    assert not {"Level", "settings", "mixed", "Text"} & {
        fact.name for fact in small.vocabulary.enums
    }


def test_fields_of_interfaces_types_and_classes() -> None:
    small = typescript_sdk(
        events(
            "interface Base { shared: number; }",
            "export interface I extends Base { 'q-r': string; run(): void; on?: () => void; _cache: X; }",
            "type Mixed = { a: Map<string, number> } & Base;",
            "export type M = Mixed & { b: number | null };",
            "export class C extends Base2 {",
            "  readonly type = 'c' as const;",
            "  name = ''; count = 0;",
            "  /** x */ text: // why",
            "    | string // or",
            "    | undefined;",
            "  static z = 1; #hidden = 1; private secret = 2; run = () => 1;",
            "  constructor(readonly given: number, plain: string) { super(); }",
            "}",
            "class Base2 { base!: boolean; }",
            "export class Service { private socket: Socket; port: number; }",
            "export class Emitter extends (EventEmitter as new () => X) { port: number; }",
        )
    )
    assert small.errors == []
    fields = {
        record.name: [(field.name, field.type, field.optional) for field in record.fields]
        for record in small.vocabulary.records
    }
    assert fields["I"] == [("q-r", "string", False), ("shared", "number", False)]
    assert fields["M"] == [
        ("a", "Map<string, number>", False),
        ("b", "number | null", True),
        ("shared", "number", False),
    ]
    assert fields["C"] == [
        ("base", "boolean", False),
        ("count", "number", False),
        ("given", "number", False),
        ("name", "string", False),
        ("text", "string | undefined", True),
        ("type", "'c'", False),
    ]
    assert not {"Service", "Emitter"} & set(fields)


def test_imports_and_re_exports() -> None:
    small = typescript_sdk(
        {
            EVENTS: TYPESCRIPT_SDK[EVENTS]
            + "import * as llm from '../llm/index.js';\nimport { Part as Piece } from '../llm/index.js';\n"
            + "export interface More { item: llm.Item; piece: Array<Partial<Piece>>; }\n",
            "src/llm/index.ts": "export * from './items.js';\nexport { type P as Part } from './parts.js';\n",
            "src/llm/items.ts": "import { Role } from './index.js';\nexport interface Item { role: Role; }\n"
            "export type Role = 'user';\n",
            "src/llm/parts.ts": "interface P { a: number }\nexport type { P };\n",
        }
    )
    assert small.errors == []
    assert small.vocabulary.enum("Role") is not None
    assert {"Item", "P", "More"} <= {record.name for record in small.vocabulary.records}


def test_required_definition_outside_the_protocol_modules() -> None:
    small = typescript_sdk({"src/io.ts": "export interface Timed { start: number }"}, ("Timed",))
    assert small.reading.diagnostics == []
    assert small.vocabulary.record("Timed") is not None


@pytest.mark.parametrize(
    "source",
    [
        "export enum K { A = ¶PREFIX + 'a' }",
        "export enum K { A = ¶`a${x}` }",
        "export enum K { A = ¶other() }",
        "¶export enum K { A = 'a', B = 1 }",
        "export type K = 'a' | ¶`b-${string}`;",
        "const é = 1; export enum K { A = ¶é }",
    ],
)
def test_unreadable_enum(source: str) -> None:
    source = source.replace("¶export enum", "export ¶enum")
    typescript_sdk(events(source)).fault(Rule.SDK_ENUM)


@pytest.mark.parametrize(
    ("source", "required"),
    [
        ("export type ¶Reason = Uppercase<CloseReason>;", "Reason"),
        ("export const ¶Reason = reasons();", "Reason"),
        ("export interface Ended {\n¶  status: string }", "Ended.status"),
    ],
)
def test_required_enum_that_is_not_constant(source: str, required: str) -> None:
    if "type ¶" in source:
        source = source.replace("type ¶", "¶type ")
    typescript_sdk(events(source), (required,)).fault(Rule.SDK_ENUM)


@pytest.mark.parametrize("required", ["Reason", "StateChangedEvent.status"])
def test_missing_required_definition_is_a_warning(required: str) -> None:
    [warning] = typescript_sdk(required=(required,)).reading.diagnostics
    assert (warning.rule, warning.severity, str(warning.span)) == (
        Rule.SDK_MISSING,
        Severity.WARNING,
        "sdk:1:1",
    )
    assert required in warning.message
