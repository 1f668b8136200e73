"""Names in TypeScript: those of protobuf-es, and those of generated code."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessiongen.diagnostics import Span
from sessiongen.ir.schema import Enum, EnumValue, Field, Kind, Value
from sessiongen.targets.typescript import naming
from sessiongen.targets.typescript.bindings import binding
from sessiongen.targets.typescript.message_imports import message_imports
from sessiongen.targets.typescript.options import TypeScriptOptions


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


def test_names_of_messages() -> None:
    """As protoc-gen-es gives them: a class in version 1, a type and a schema in version 2."""
    first, second = (binding(version, frozenset({"pb.A", "pb.ASchema"})) for version in (1, 2))
    for path, name in ((("A", "B"), "A_B"), (("Object",), "Object$"), (("Error",), "Error")):
        assert first.message_class(path) == second.message_class(path) == name
    assert (first.message_class(("toJSON",)), second.message_class(("toJSON",))) == (
        "toJSON$",
        "toJSON",
    )
    assert first.empty("pb.A") == "new pb.A()"
    assert first.made("pb.A", "{ b: 1 }") == "new pb.A({ b: 1 })"
    # The name of a schema is taken by a message.
    assert second.made("pb.A", "{ b: 1 }") == "create(pb.ASchema$, { b: 1 })"
    assert second.empty("pb.Object$") == "create(pb.ObjectSchema)"


def field(name: str) -> Field:
    return Field(
        name,
        1,
        Value(Kind.STRING),
        repeated=False,
        key=None,
        presence=False,
        required=False,
        implicit_presence=True,
        checked_utf8=True,
        oneof=None,
        docs="",
        span=Span("x.proto"),
    )


@pytest.mark.parametrize(
    "name, in_version_1, in_version_2, arm_in_version_2",
    [
        ("call_id", "callId", "callId", "callId"),
        ("to_json", "toJson$", "toJson", "toJson"),
        ("value_of", "valueOf$", "valueOf$", "valueOf"),
    ],
)
def test_properties(name: str, in_version_1: str, in_version_2: str, arm_in_version_2: str) -> None:
    first, second = (binding(version, frozenset()) for version in (1, 2))
    item = field(name)
    assert first.field_property(item) == in_version_1
    assert first.arm(item) == naming.camel(name)
    assert second.field_property(item) == in_version_2
    assert second.arm(item) == arm_in_version_2


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


@pytest.mark.parametrize("name", ["", "constructor", "new"])
def test_names_of_methods(name: str) -> None:
    assert naming.method(name) == f"{name}_"
    assert naming.method("ping") == "ping"


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("left/shared.proto", "leftSharedPb"),
        ("public-door.proto", "publicDoorPb"),
        ("2fa/Login.proto", "_2faLoginPb"),
        ("API.proto", "aPIPb"),
        ("é.proto", "pb"),
    ],
)
def test_names_of_imported_modules(file: str, name: str) -> None:
    options = TypeScriptOptions(
        folder=Path(),
        module="./{file}_pb.js",
        protobuf_es=2,
        namespace=None,
        namespaces={},
        messages=None,
        overrides=None,
        seconds=(),
        header=(),
        config=Path(),
    )
    [imported] = message_imports(options, [file]).values()
    assert imported.name == name
    assert imported.module == f"./{file.removesuffix('.proto')}_pb.js"


@pytest.mark.parametrize(
    "text, literal",
    [("a", "'a'"), ("it's", '"it\'s"'), ("a\nb", "'a\\nb'"), ("\\", "'\\\\'"), ("'\"", "'\\'\"'")],
)
def test_string_literals(text: str, literal: str) -> None:
    assert naming.quoted(text) == literal


def test_names_in_generated_code() -> None:
    paths = {
        "p.Event": ("Event",),
        "p.event": ("event",),
        "p.Content.Status": ("Content", "Status"),
        "p.ContentStatus": ("ContentStatus",),
        "p.LLMUsage": ("LLMUsage",),
    }
    assert naming.symbols(paths) == {
        "p.Event": "Event",
        "p.event": "Event_",
        "p.Content.Status": "Content__Status",
        "p.ContentStatus": "ContentStatus",
        "p.LLMUsage": "LLMUsage",
    }
