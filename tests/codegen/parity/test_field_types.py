"""Tests of the types of an SDK's fields, and of how the class of a message is found."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from small_protocol import AT, END, HOST, PROTO, RECORD, SDK, Small, difference_ids, replace

from sessiongen.parity import render
from sessiongen.parity.field_types import alternatives
from sessiongen.vocabulary import EnumFact, FieldFact, LiteralValue, Record, Vocabulary

CLOSED = PROTO.replace('  option (sessiongen.unknown) = "END_UNKNOWN";\n', "").replace(
    "END_UNKNOWN = 0", 'END_UNKNOWN = 0 [(sessiongen.sdk_value) = "never"]'
)
OTHER = EnumFact("Phase", "enum", False, AT, (LiteralValue("begun", None, 9),))
PART = EnumFact("Part", "literal", False, AT, (LiteralValue("done", None, 9),))


def typed(**types: str) -> Vocabulary:
    """Returns the small SDK with other types of fields of its event."""
    fields = tuple(replace(item, type=types.get(item.name, item.type)) for item in RECORD.fields)
    return replace(SDK, records=(replace(RECORD, fields=fields),), enums=(END, OTHER, PART))


@pytest.fixture
def small(tmp_path: Path) -> Small:
    return Small(tmp_path)


@pytest.mark.parametrize(
    ("type_", "why"),
    [
        ("list[str]", "is a string, and EndedEvent.detail has the type `list[str]`"),
        ("string[]", "is a string, and EndedEvent.detail has the type `string[]`"),
        ("dict[str, str] | None", "has the type `dict[str, str] | None`"),
        ("float", "has the type `float`"),
        ("str | bool", "has the type `str | bool`"),
    ],
)
def test_type_that_the_field_cannot_carry(small: Small, type_: str, why: str) -> None:
    result = small.compare(typed(detail=type_))
    assert difference_ids(result) == ["type Ended.detail"]
    assert why in result.diagnostics[0].message
    assert result.diagnostics[0].message.endswith("(sdk/session.py:7)")


@pytest.mark.parametrize("type_", ["str", "str | None", "Optional[str]", "Exception", "Label"])
def test_type_that_the_field_can_carry(small: Small, type_: str) -> None:
    assert difference_ids(small.compare(typed(detail=type_))) == []


@pytest.mark.parametrize(
    ("type_", "why"),
    [
        ("Phase", "is filled from EndedEvent.reason, whose type `Phase` is not End"),
        ("End | Phase", "whose type `End | Phase` is not End"),
        ("Literal['done', 'later']", "is not End"),
        ("bool", "is not End"),
    ],
)
def test_enum_with_other_values(small: Small, type_: str, why: str) -> None:
    result = small.compare(typed(reason=type_))
    assert difference_ids(result) == ["type Ended.reason"]
    assert why in result.diagnostics[0].message


@pytest.mark.parametrize("type_", ["End", "End | None", "Part", "Literal['done']", "'done'"])
def test_enum_with_the_same_values_or_some_of_them(small: Small, type_: str) -> None:
    assert difference_ids(small.compare(typed(reason=type_))) == []


def test_open_set_is_shown_and_needs_an_unknown_value(small: Small) -> None:
    sdk = typed(reason="End | str")
    result = small.compare(sdk)
    assert difference_ids(result) == []
    assert "reason (any value)" in click.unstyle(render(result, "text", all_rows=True))
    never = replace(END, literals=(*END.literals, LiteralValue("never", None, 9)))
    pairs = (("done", "END_DONE"), ("never", "END_UNKNOWN"))
    conversion = replace(SDK.conversions[0], pairs=pairs, default="KeyError")
    closed = replace(sdk, enums=(never,), conversions=(conversion,))
    result = small.compare(closed, proto=CLOSED)
    assert difference_ids(result) == ["type Ended.reason"]
    assert "whose type `End | str` allows any other value too" in result.diagnostics[0].message


def renamed(**changes: object) -> Vocabulary:
    """Returns the small SDK whose event class has another name."""
    record = replace(RECORD, name="FinishedNotice", **changes)
    forward = replace(HOST.forwards[0], event_type="FinishedNotice")
    return replace(SDK, records=(record,), host=replace(HOST, forwards=(forward,)))


def test_renamed_event_class_is_the_one_that_the_handler_takes(small: Small) -> None:
    assert difference_ids(small.compare(renamed())) == []
    more = (*RECORD.fields, FieldFact("cause", "str", False, AT))
    assert difference_ids(small.compare(renamed(fields=more))) == ["sdk field FinishedNotice.cause"]


def test_renamed_class_of_a_field_is_the_type_of_that_field(small: Small) -> None:
    proto = PROTO.replace("  string detail = 2;", "  string detail = 2;\n  Place place = 3;")
    proto = proto.replace("message Ask {", "message Place {\n  string city = 1;\n}\nmessage Ask {")
    place = Record("Site", None, AT, (FieldFact("street", "str", False, AT),))
    fields = (*RECORD.fields, FieldFact("place", "Site | None", True, AT))
    filled = replace(SDK.constructions[0], fields=("reason", "detail", "place"))
    sdk = replace(
        SDK,
        records=(replace(RECORD, fields=fields), place),
        constructions=(filled, *SDK.constructions[1:]),
    )
    assert difference_ids(small.compare(sdk, proto=proto)) == [
        "field Place.city",
        "sdk field Site.street",
    ]


def test_types_are_split_outside_of_brackets() -> None:
    assert alternatives("dict[str, A | B] | Optional[C] | 'x'") == [
        "dict[str, A | B]",
        "C",
        "'x'",
    ]
    assert alternatives("Optional[A | B]") == ["A", "B"]
    assert alternatives("(a: A | B) => C | D") == ["(a: A | B) => C", "D"]
