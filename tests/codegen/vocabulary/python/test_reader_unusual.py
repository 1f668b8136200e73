"""Tests of unusual Python: forms that are read, and forms that must be reported."""

from __future__ import annotations

import pytest
from small_python_sdk import EVENTS, HOST, events, host
from small_sdks import PYTHON_SDK, Small, python_sdk

from sessiongen.diagnostics import Rule, Severity


def values(small: Small, name: str = "Kind") -> tuple[str, ...]:
    assert small.errors == []
    fact = small.vocabulary.enum(name)
    assert fact is not None
    return fact.values


def fields(small: Small, name: str = "Kind") -> list[str]:
    record = small.vocabulary.record(name)
    assert record is not None
    return [field.name for field in record.fields]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["from enum import Enum as Base", "class Kind(str, Base):", "    A = 'a'"], ("a",)),
        (["from typing import Literal as L", "Kind = L['a', 'b']"], ("a", "b")),
        (["Kind = TypeAliasType('Kind', Literal['a'])"], ("a",)),
        (["Kind = Literal['a', 'a']"], ("a",)),
        (["Kind = Literal['a'] | Other", "Other = Kind | Literal['b']"], ("a", "b")),
        (["Kind = Union['Kind', Literal['a']]"], ("a",)),
        (["@unique", "class Kind(str, Enum):", "    A = B = 'a'", "    def f(self): ..."], ("a",)),
        (["with imports():", "    Kind = Literal['a']"], ("a",)),
        (["match version:", "    case 3:", "        Kind = Literal['a']"], ("a",)),
    ],
)
def test_unusual_sets_of_literals(lines: list[str], expected: tuple[str, ...]) -> None:
    assert values(python_sdk(events(*lines), ("Kind",))) == expected


def test_number_in_a_set_of_literals_makes_it_open() -> None:
    small = python_sdk(events("Kind = Literal['a', 1]"))
    assert values(small) == ("a",)
    assert [fact.open for fact in small.vocabulary.enums if fact.name == "Kind"] == [True]


@pytest.mark.parametrize(
    "source",
    [
        ("class Kind(str, Enum):", "    A = 'a'", "    ¶B, C = 'b', 'c'"),
        ("class Kind(str, Enum):", "    A = 'a'", "    ¶del A"),
        ("class Kind(str, Enum):", "    A = 'a'", "    ¶vars()['B'] = 'b'"),
        ("class Kind(str, Enum):", "    ¶_ignore_ = ['A']", "    A = 'a'"),
        ("@¶extended", "class Kind(str, Enum):", "    A = 'a'"),
        ("Kind = Literal['a']", "¶Kind |= Literal['b']"),
    ],
)
def test_code_that_changes_a_set_of_literals_is_reported(source: tuple[str, ...]) -> None:
    python_sdk(events(*source)).fault(Rule.SDK_ENUM)


@pytest.mark.parametrize(
    "source",
    ["¶class Kind(str, Enum): pass", "¶class Kind(str, Enum):\n    A = auto()"],
)
def test_required_enum_without_literals(source: str) -> None:
    python_sdk(events(source), ("Kind",)).fault(Rule.SDK_ENUM)


def test_nested_classes_are_read() -> None:
    small = python_sdk(
        events(
            "class Outer:",
            "    class Mode(str, Enum):",
            "        FAST = 'fast'",
            "    class Part:",
            "        size: int",
            "    mode: Mode",
            "    part: 'Outer.Part'",
        )
    )
    assert values(small, "Outer.Mode") == ("fast",)
    assert fields(small, "Outer.Part") == ["size"]


def test_fields_of_a_generic_base_are_inherited() -> None:
    lines = ["class Base(Generic[T]):", "    item: T", "class Kind(Base[int]):", "    count: int"]
    assert fields(python_sdk(events(*lines))) == ["count", "item"]


def test_arguments_of_a_dataclass_are_not_fields() -> None:
    lines = [
        "@dataclass",
        "class Kind:",
        "    given: InitVar[int]",
        "    _: KW_ONLY",
        "    kept: str",
    ]
    assert fields(python_sdk(events(*lines))) == ["kept"]


@pytest.mark.parametrize(
    "lines",
    [
        ("class Kind:", "    a: int", "    ¶if True:", "        b: int"),
        ("class Kind:", "    a: int", "    ¶try:", "        b: int", "    except E: pass"),
        ("class Kind:", "    a: ¶'list['"),
    ],
)
def test_fields_that_cannot_be_read(lines: tuple[str, ...]) -> None:
    python_sdk(events(*lines)).fault(Rule.SDK_SOURCE)


def test_name_defined_by_two_classes() -> None:
    small = python_sdk(
        {
            EVENTS: PYTHON_SDK[EVENTS]
            + "from .other import Twin as _Twin\n"
            + "class Both:\n    one: _Twin\n    two: 'Twin'\n\n¶class Twin:\n    a: int\n",
            "voice/other.py": "\nclass Twin:\n    b: int\n",
        }
    )
    other = small.errors[0]
    assert other.message == "Twin is defined here and in livekit/agents/voice/events.py:20"
    assert str(other.span) == "sdk/livekit/agents/voice/other.py:2:1"


SUBSCRIPTION = 'session.on("state_changed", self._on_state)'


@pytest.mark.parametrize(
    "form",
    [
        'session.on(event="state_changed", callback=self._on_state)',
        'session.once("state_changed", self._on_state)',
        '@session.on("state_changed")\n        def later(ev): self._on_state(ev)',
    ],
)
def test_unusual_subscriptions(form: str) -> None:
    small = python_sdk(host(SUBSCRIPTION, form))
    assert small.errors == []
    assert small.vocabulary.host is not None
    sent = {(item.arm, item.event) for item in small.vocabulary.host.forwards if item.via}
    assert sent == {("state", "state_changed")}


def test_reversed_comparison_with_an_arm() -> None:
    form = 'if "ping" == req.WhichOneof("request"):'
    small = python_sdk(host('if req.HasField("ping"):', form))
    assert small.errors == []
    assert small.vocabulary.host is not None
    assert [item.arm for item in small.vocabulary.host.answers] == ["ping"]


def test_event_constructed_in_code_that_the_host_does_not_call() -> None:
    small = python_sdk(
        {
            HOST: PYTHON_SDK[HOST].replace(
                "class SessionHost:",
                "class Other:\n"
                "    def _on_close(self, ev):\n"
                "¶        self._send(pb.AgentSessionEvent(closed=pb.AgentSessionEvent.Closed()))\n\n"
                "class SessionHost:",
            )
        }
    )
    assert small.errors == []
    assert [(item.severity, item.message) for item in small.reading.diagnostics] == [
        (
            Severity.WARNING,
            "AgentSessionEvent.closed is filled here, in code that SessionHost is not seen to call",
        )
    ]


@pytest.mark.parametrize(
    "lines",
    [("Kind = Literal['a', ¶'\\ud83d']",), ("class Kind(str, Enum):", "    A = ¶'\\ud83d'")],
)
def test_unpaired_surrogate_is_not_a_literal(lines: tuple[str, ...]) -> None:
    python_sdk(events(*lines)).fault(Rule.SDK_ENUM)
