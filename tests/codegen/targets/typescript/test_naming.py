"""Names in TypeScript: those of protobuf-es, and those of generated code."""

from __future__ import annotations

import pytest

from sessiongen.diagnostics import Span
from sessiongen.ir.schema import Enum, EnumValue
from sessiongen.targets.typescript import naming


@pytest.mark.parametrize(
    "name, expected",
    [
        ("call_id", "callId"),
        ("a_1b", "a1b"),
        ("_x", "X"),
        ("x__y_", "xY"),
        ("e2e_latency", "e2eLatency"),
    ],
)
def test_camel_case(name: str, expected: str) -> None:
    assert naming.camel(name) == expected


def test_classes() -> None:
    assert naming.message_class(("A", "B")) == "A_B"
    assert naming.message_class(("Object",)) == "Object$"
    assert naming.message_class(("Error",)) == "Error"


def enum(name: str, *values: str) -> Enum:
    span = Span("x.proto")
    items = tuple(EnumValue(value, number, "", span) for number, value in enumerate(values))
    return Enum(name, (name,), "x.proto", items, "", span)


@pytest.mark.parametrize(
    "given, member",
    [
        (enum("Color", "COLOR_RED", "COLOR_BLUE"), "RED"),
        (enum("Color", "COLOR_RED", "BLUE"), "COLOR_RED"),
        (enum("Color", "COLOR_1", "COLOR_2"), "COLOR_1"),
        (enum("AgentState", "AS_IDLE"), "AS_IDLE"),
        (enum("E", "toString"), "toString$"),
    ],
)
def test_enum_members(given: Enum, member: str) -> None:
    assert naming.enum_member(given, given.values[0]) == member


def test_function_names() -> None:
    assert naming.lower_first("AgentState") == "agentState"
    assert naming.lower_first("LLMModelUsage") == "llmModelUsage"
    assert naming.constant("AgentSessionEvent") == "AGENT_SESSION_EVENT"


@pytest.mark.parametrize(
    "text, literal",
    [("a", "'a'"), ("it's", '"it\'s"'), ("a\nb", "'a\\nb'"), ("\\", "'\\\\'"), ("'\"", "'\\'\"'")],
)
def test_string_literals(text: str, literal: str) -> None:
    assert naming.quoted(text) == literal
