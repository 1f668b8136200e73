"""Tests of the Python reader: every form that it reads, and every form that it reports."""

from __future__ import annotations

import sys

import pytest
from small_sdks import PYTHON_SDK, python_sdk

from sessiongen.diagnostics import Rule, Severity
from sessiongen.vocabulary import (
    Answer,
    EnumFact,
    FieldFact,
    Forward,
    Place,
    Record,
    Sending,
    LiteralValue,
)
from small_python_sdk import EVENTS, ROOT, EVENTS_PATH, HOST_PATH, events


def test_small_sdk() -> None:
    small = python_sdk()
    assert small.reading.diagnostics == []
    vocabulary = small.vocabulary
    assert (vocabulary.sdk, vocabulary.language, vocabulary.version) == (
        "livekit-agents",
        "python",
        "9.8.7",
    )
    assert vocabulary.session is not None and vocabulary.host is not None
    assert [event.name for event in vocabulary.session.events] == ["close", "state_changed"]
    assert [str(event.place) for event in vocabulary.session.emits] == [
        f"{ROOT}voice/agent_session.py:6"
    ]
    assert vocabulary.host.forwards == (
        Forward(
            "state",
            "state_changed",
            "_on_state",
            Place(HOST_PATH, 12),
            Place(HOST_PATH, 9),
            "StateChangedEvent",
            ("new",),
            False,
        ),
    )
    assert vocabulary.host.answers == (
        Answer("ping", "pong", (), (), Place(HOST_PATH, 15), error_beside_result=False),
    )
    assert vocabulary.driver is not None
    assert vocabulary.driver.emits_by_arm_name == Place(HOST_PATH, 21)
    assert vocabulary.driver.sends == (Sending("ping", "ping", Place(HOST_PATH, 24)),)
    assert [event.name for event in vocabulary.driver.events] == ["state"]


def test_str_enum() -> None:
    assert python_sdk().vocabulary.enum("CloseReason") == EnumFact(
        "CloseReason",
        "enum",
        False,
        Place(EVENTS_PATH, 7),
        (LiteralValue("by-user", "BY_USER", 9), LiteralValue("error", "ERROR", 8)),
    )


def test_literal_alias() -> None:
    assert python_sdk().vocabulary.enum("State") == EnumFact(
        "State",
        "literal",
        False,
        Place(EVENTS_PATH, 5),
        (LiteralValue("busy", None, 5), LiteralValue("idle", None, 5)),
    )


def test_literal_on_a_field() -> None:
    small = python_sdk(events("class Ended:", '    status: Literal["done", "error"] | None'))
    fact = small.vocabulary.enum("Ended.status")
    assert fact is not None
    assert (fact.form, fact.values, fact.place.line) == ("field", ("done", "error"), 16)


def test_record_with_tag_quotes_and_optional() -> None:
    assert python_sdk().vocabulary.record("StateChangedEvent") == Record(
        "StateChangedEvent",
        "state_changed",
        Place(EVENTS_PATH, 11),
        (
            FieldFact("new", "State | None", True, Place(EVENTS_PATH, 14)),
            FieldFact("old", "State", False, Place(EVENTS_PATH, 13)),
            FieldFact("type", "Literal['state_changed']", False, Place(EVENTS_PATH, 12)),
        ),
    )


@pytest.mark.parametrize(
    ("lines", "values", "is_open"),
    [
        (['Kind: TypeAlias = Literal["a"]'], ("a",), False),
        (['Kind = Literal["a", "b"] | None'], ("a", "b"), False),
        (['Kind = Optional[Literal["a"]]'], ("a",), False),
        (['Kind = Union[Literal["a"], Literal["b"]]'], ("a", "b"), False),
        (['Kind = typing.Literal["a"] | str'], ("a",), True),
        (["Kind: TypeAlias = \"Literal['a'] | Literal['b']\""], ("a", "b"), False),
        (['Inner = Literal["a"]', 'Kind = Literal[Inner, "b"]'], ("a", "b"), False),
        (['Kind = Literal[CloseReason.BY_USER, "c"]'], ("by-user", "c"), False),
        (["Kind = CloseReason | str"], ("by-user", "error"), True),
        (["class Kind(StrEnum):", "    ONE = auto()", '    TWO = "2"'], ("2", "one"), False),
        (
            ["class Base(str, Enum): ...", "class Kind(Base):", '    A = "a" "b"', "    B = A"],
            ("ab",),
            False,
        ),
        (["if sys.version_info > (3, 0):", '    Kind = Literal["a"]'], ("a",), False),
    ],
)
def test_other_forms(lines: list[str], values: tuple[str, ...], is_open: bool) -> None:
    small = python_sdk(events(*lines))
    assert small.errors == []
    fact = small.vocabulary.enum("Kind")
    assert (fact.values if fact else ()) == values
    assert (fact.open if fact else False) == is_open


def test_literals_of_another_file_have_the_line_of_the_reference() -> None:
    small = python_sdk(
        {
            EVENTS: PYTHON_SDK[EVENTS]
            + "from .roles import Role\nKind = Role | Literal[\n    'x']\n",
            "voice/roles.py": "\n" * 50 + "Role = Literal['user']\n",
        }
    )
    fact = small.vocabulary.enum("Kind")
    assert fact is not None
    assert [(literal.value, literal.line) for literal in fact.literals] == [("user", 16), ("x", 17)]


def test_sets_of_numbers_are_not_read() -> None:
    small = python_sdk(
        events(
            "class Level(IntEnum):",
            "    LOW = 1",
            "class Flags(Enum):",
            "    A = auto()",
            "N = Literal[1, 2]",
        )
    )
    assert small.errors == []
    assert not {"Level", "Flags", "N"} & {fact.name for fact in small.vocabulary.enums}


def test_inherited_fields_and_optional_dict_keys() -> None:
    small = python_sdk(
        events(
            "class _Base:",
            "    shared: int",
            "class Data(_Base):",
            '    limit: "ClassVar[int]" = 1',
            "    _hidden: int",
            "    text: Annotated[str, Field(min_length=1)]",
            "class Report(TypedDict, total=False):",
            "    here: Required[int]",
            "    gone: float",
            "class Other(TypedDict):",
            "    gone: NotRequired[float]",
        )
    )
    vocabulary = small.vocabulary
    fields = {
        record.name: [(field.name, field.type, field.optional) for field in record.fields]
        for record in vocabulary.records
    }
    assert fields["Data"] == [("shared", "int", False), ("text", "str", False)]
    assert fields["Report"] == [("gone", "float", True), ("here", "int", False)]
    assert fields["Other"] == [("gone", "float", True)]


def test_re_exports_and_star_imports() -> None:
    small = python_sdk(
        {
            "voice/events.py": PYTHON_SDK[EVENTS]
            + "from .. import llm\nclass More:\n    item: llm.Item\n",
            "llm/__init__.py": "from .items import *\nfrom .roles import Role as Role\n",
            "llm/items.py": "from . import Role\nclass Item:\n    role: Role\n",
            "llm/roles.py": 'from typing import Literal\nRole = Literal["user"]\n',
        }
    )
    assert small.errors == []
    assert small.vocabulary.enum("Role") is not None
    assert small.vocabulary.record("Item") is not None


def test_required_definition_outside_the_protocol_modules() -> None:
    small = python_sdk({"types.py": "class Timed(str):\n    start: float\n"}, required=("Timed",))
    assert small.reading.diagnostics == []
    assert small.vocabulary.record("Timed") is not None


@pytest.mark.parametrize(
    "source",
    [
        ("class Kind(str, Enum):", "    A = ¶prefix + 'a'"),
        ("class Kind(str, Enum):", "    A = ¶f'a{1}'"),
        ("class Kind(str, Enum):", "    ¶if True:", "        A = 'a'"),
        ("¶class Kind(Enum):", "    A = 'a'", "    B = 2"),
        ("Kind = Literal['a', ¶names()]",),
        ("Kind = Literal[¶CloseReason.NONE]",),
        ("class K:", "    k: Literal['a', ¶PREFIX + 'b']"),
        ("class K:", "    k: ¶\"Literal['a', x()]\""),
        ("Kind = ¶Enum('Kind', ['A'])",),
        ("Kind = Literal['a']", "¶Kind = Literal['b']"),
        ("é = 1; Kind = Literal[¶x.y()]",),
    ],
)
def test_unreadable_enum(source: tuple[str, ...]) -> None:
    python_sdk(events(*source)).fault(Rule.SDK_ENUM)


@pytest.mark.parametrize(
    ("source", "required"),
    [
        ("¶Reason = make_reasons()", "Reason"),
        ("¶Reason = int", "Reason"),
        ("class Ended:\n¶    status: str", "Ended.status"),
    ],
)
def test_required_enum_that_is_not_constant(source: str, required: str) -> None:
    python_sdk(events(source), required=(required,)).fault(Rule.SDK_ENUM)


@pytest.mark.parametrize("required", ["Reason", "StateChangedEvent.status"])
def test_missing_required_definition_is_a_warning(required: str) -> None:
    [warning] = python_sdk(required=(required,)).reading.diagnostics
    assert (warning.rule, warning.severity, str(warning.span)) == (
        Rule.SDK_MISSING,
        Severity.WARNING,
        "sdk:1:1",
    )
    assert required in warning.message


@pytest.mark.skipif(sys.version_info < (3, 11), reason="a star in a subscript is Python 3.11")
def test_unpacked_literal() -> None:
    python_sdk(events("Kind = Literal[¶*NAMES]")).fault(Rule.SDK_ENUM)


def test_required_field_with_the_type_of_an_enum() -> None:
    """The literals are at the line of the field, since the enum may be in another module."""
    kinds = "from enum import Enum\n\n\nclass Kind(str, Enum):\n    ONE = 'one'\n    TWO = 'two'\n"
    step = (
        "from .kinds import Kind\n\n\nclass Step:\n    number: int\n    kind: Kind | None = None\n"
    )
    files = {"kinds.py": kinds, "step.py": step}
    small = python_sdk(files, required=("Step.kind",))
    assert small.errors == []
    [enum] = [item for item in small.vocabulary.enums if item.name == "Step.kind"]
    assert [(item.value, item.line) for item in enum.literals] == [("one", 6), ("two", 6)]
    assert not python_sdk(files, required=("Step",)).vocabulary.enum("Step.kind")
