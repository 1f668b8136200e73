"""Tests of comparing behaviour: maps, unions, map keys, timestamps, error texts, the envelope.

Each test changes one fact of an SDK that agrees with the protocol, and checks the finding.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from small_protocol import AT, SDK, Small, replace, difference_ids

from sessiongen.vocabulary.model import (
    Answer,
    Construction,
    Conversion,
    EnvelopeUse,
    Default,
    Driver,
    EnumFact,
    EventName,
    FieldFact,
    Forward,
    Host,
    MapKeys,
    UnionFact,
    Place,
    Reception,
    Record,
    Sending,
    Session,
    IgnoredVariant,
    ValueMap,
    Vocabulary,
    LiteralValue,
)

PROTO = """syntax = "proto3";
package full;
import "google/protobuf/timestamp.proto";
enum Mood {
  MOOD_GOOD = 0;
  MOOD_BAD = 1;
}
message Text {
  string text = 1;
}
message Picture {
  string url = 1;
}
message Part {
  oneof part {
    Text words = 1;
    Picture picture = 2;
    string note = 3;
  }
}
message Said {
  Part part = 1;
  string error = 2;
  Mood mood = 3;
  map<string, string> extra = 4;
  repeated string tags = 5;
  optional string hint = 6;
}
message Ask {}
message Event {
  google.protobuf.Timestamp created_at = 1;
  oneof event {
    Said said = 2;
  }
}
message Request {
  string request_id = 1;
  oneof request {
    Ask ask = 2;
  }
}
message Response {
  string request_id = 1;
  oneof response {
    Ask ask = 2;
  }
}
message Envelope {
  oneof message {
    Event event = 1;
    Request request = 2;
    Response response = 3;
    Text sound = 4;
  }
}
"""


def record(name: str, tag: str | None, **fields: str) -> Record:
    facts = [FieldFact(field, kind.rstrip("?"), "?" in kind, AT) for field, kind in fields.items()]
    return Record(name, tag, AT, tuple(facts))


SAID = record(
    "SaidEvent",
    "said",
    type="str",
    created_at="float",
    part="Part",
    error="str",
    mood="Mood",
    extra="dict",
    tags="list?",
    hint="str?",
)
SENT = Forward(
    "said", "said", "on_said", AT, AT, "SaidEvent", ("created_at", "error", "mood"), False
)
HOST = Host("Host", AT, AT, (SENT,), (Answer("ask", "ask", (), (), AT),))
DRIVER = Driver(
    "Driver",
    AT,
    None,
    None,
    (EventName("said", AT),),
    (Reception("said", "said", AT),),
    (Sending("ask", "ask", AT),),
)
MAP = ValueMap("MOODS", AT, (("bad", "MOOD_BAD"), ("good", "MOOD_GOOD")), ())
CONVERTED = Conversion("Said", "mood", "on_said", AT, "MOODS", MAP.pairs, "KeyError")
KEYS = MapKeys("Said", "extra", "on_said", False, AT, ("a", "b"))
PART = UnionFact("Part", AT, ("Text", "Picture", "str"))
ENVELOPE_USES = tuple(
    EnvelopeUse(arm, way, "Host.run", AT)
    for arm in ("event", "request", "response", "sound")
    for way in ("sends", "receives")
)
FULL = Vocabulary(
    "full-sdk",
    "python",
    "1",
    enums=(
        EnumFact(
            "Mood", "enum", False, AT, (LiteralValue("bad", None, 8), LiteralValue("good", None, 8))
        ),
    ),
    records=(
        SAID,
        record("Text", "words", type="str", text="str"),
        record("Picture", "image", type="str", url="str"),
    ),
    unions=(PART,),
    maps=(MAP,),
    conversions=(CONVERTED,),
    constructions=(
        Construction(
            "Said", "on_said", False, AT, ("error", "extra", "hint", "mood", "part", "tags")
        ),
        Construction("Text", "encode", False, AT, ("text",)),
        Construction("Picture", "encode", False, AT, ("url",)),
        Construction("Part", "encode", False, AT, ("words",)),
        Construction("Part", "encode", False, AT, ("picture",)),
        Construction("Part", "encode", False, AT, ("note",)),
    ),
    map_keys=(KEYS,),
    envelope_uses=ENVELOPE_USES,
    session=Session("Session", AT, (EventName("said", AT),), (EventName("said", AT),)),
    host=HOST,
    driver=DRIVER,
)
OTHER = replace(FULL, sdk="other-sdk")


@pytest.fixture
def small(tmp_path: Path) -> Small:
    return Small(tmp_path)


def differences(small: Small, sdk: Vocabulary, others: tuple[Vocabulary, ...] = ()) -> list[str]:
    return difference_ids(small.compare(sdk, proto=PROTO, others=others))


def test_equal_sdks_have_no_differences(small: Small) -> None:
    assert differences(small, FULL, (OTHER,)) == []


def sent(**changes: object) -> Vocabulary:
    return replace(FULL, host=replace(HOST, forwards=(replace(SENT, **changes),)))


def mapped(**changes: object) -> Vocabulary:
    return replace(FULL, maps=(replace(MAP, **changes),))


def said(*fields: FieldFact) -> Vocabulary:
    other_fields = tuple(
        item for item in SAID.fields if item.name not in {it.name for it in fields}
    )
    return replace(
        FULL, records=(replace(SAID, fields=(*other_fields, *fields)), *FULL.records[1:])
    )


CHANGES = [
    (mapped(pairs=MAP.pairs[:1]), "map MOODS.good", "the map MOODS does not contain 'good'"),
    (
        mapped(pairs=(("bad", "MOOD_GOOD"), ("good", "MOOD_GOOD"))),
        "map MOODS.bad",
        "the map MOODS maps 'bad' to MOOD_GOOD, not to MOOD_BAD",
    ),
    (
        mapped(defaults=(Default("MOOD_GOOD", "on_said", AT),)),
        "default full.Mood: on_said",
        "on_said uses MOOD_GOOD for a literal that its table lacks",
    ),
    (
        mapped(pairs=(*MAP.pairs, ("odd", "MOOD_ODD"))),
        "proto value MOOD_ODD",
        "the map MOODS maps 'odd' to MOOD_ODD (sdk/session.py:7): the protocol lacks it",
    ),
    (
        sent(reads=("error",)),
        "event field said.created_at: host",
        "its handler does not read the event's own created_at",
    ),
    (
        replace(FULL, driver=replace(DRIVER, emits_payload_only=Place("sdk/driver.py", 9))),
        "event field created_at: driver",
        "its driver emits only the payload (sdk/driver.py:9)",
    ),
    (
        replace(FULL, host=replace(HOST, unknown_request=None)),
        "request *: host",
        "its host does not answer an unknown request",
    ),
    (
        sent(reads=("created_at", "error.label", "mood.name")),
        "part Said.error: on_said",
        "Said.error is filled only from error.label in on_said",
    ),
    (
        replace(FULL, unions=(replace(PART, members=(*PART.members, "Sound")),)),
        "sdk type Part.Sound",
        "Part: has no arm for the SDK's Sound in Part",
    ),
    (
        replace(FULL, unions=(replace(PART, members=("Text", "str", "_Private")),)),
        "arm Part.picture",
        "Part: picture is not a member of Part",
    ),
    (
        replace(FULL, unions=(PART, UnionFact("SaidEvent.part", AT, ("Text", "str")))),
        "arm Said.part.picture",
        "Said: part.picture is not a member of SaidEvent.part",
    ),
    (
        replace(FULL, ignored_variants=(IgnoredVariant("image", "encode", AT),)),
        "arm Part.picture: encode",
        "Part: picture is ignored in encode",
    ),
    (
        said(FieldFact("error", "str", True, AT)),
        "absence Said.error",
        "Said.error cannot be unset, and error may be missing",
    ),
    (
        replace(
            FULL,
            envelope_uses=tuple(
                i for i in ENVELOPE_USES if (i.arm, i.direction) != ("sound", "receives")
            ),
        ),
        "message arm sound: receives",
        "nothing receives the message sound",
    ),
    (replace(FULL, host=None), "host", "has no class for the role host"),
    (replace(FULL, driver=None), "driver", "has no class for the role driver"),
    (replace(FULL, session=None), "session", "has no class for the role session"),
]


@pytest.mark.parametrize(
    ("sdk", "difference", "message"), CHANGES, ids=[item[1] for item in CHANGES]
)
def test_each_difference(small: Small, sdk: Vocabulary, difference: str, message: str) -> None:
    parity = small.compare(sdk, proto=PROTO)
    assert difference in difference_ids(parity)
    [fault] = [item for item in parity.diagnostics if f'"{difference}"' in (item.help or "")]
    assert message in fault.message and fault.message.startswith("full-sdk")
    assert (
        small.compare(sdk, [(it, "so") for it in difference_ids(parity)], PROTO).diagnostics == []
    )


@pytest.mark.parametrize(
    "sdk",
    [
        sent(reads=(), passes_event=True, event_type="SaidEvent"),
        sent(reads=(), event_type="Unknown"),
        sent(reads=("created_at.value", "error")),
        mapped(name="OTHERS", pairs=()),
        replace(FULL, unions=(replace(PART, members=(*PART.members, "_Private")),)),
        replace(FULL, unions=()),
        replace(FULL, ignored_variants=(IgnoredVariant("other", "encode", AT),)),
        replace(FULL, envelope_uses=()),
        replace(FULL, map_keys=()),
    ],
)
def test_equivalent_sdk_has_no_difference(small: Small, sdk: Vocabulary) -> None:
    assert differences(small, sdk) == []


def test_error_text_of_only_one_host(small: Small) -> None:
    answers = (replace(HOST.answers[0], errors=("too late",)),)
    sdk = replace(FULL, host=replace(HOST, answers=answers))
    assert differences(small, sdk) == []
    assert differences(small, sdk, (replace(OTHER, host=None),)) == ["host"]
    assert differences(small, sdk, (replace(sdk, sdk="other-sdk"),)) == []
    assert differences(small, sdk, (OTHER,)) == ["request error ask 'too late': host"]


def test_map_key_of_only_one_sdk(small: Small) -> None:
    fewer = replace(OTHER, map_keys=(replace(KEYS, keys=("a",)),))
    assert differences(small, fewer) == []
    assert differences(small, FULL, (fewer,)) == ["key Said.extra.b"]
    assert (
        differences(
            small, FULL, (replace(fewer, map_keys=(replace(KEYS, keys=("a",), open=True),)),)
        )
        == []
    )
    assert differences(small, FULL, (replace(OTHER, map_keys=()),)) == []


def test_sdk_with_two_vocabularies(small: Small) -> None:
    [fault] = small.compare(FULL, proto=PROTO, others=(FULL,)).diagnostics
    assert fault.message.startswith("full-sdk: two vocabularies describe this SDK")
    assert fault.span.line == 6


def test_message_that_no_event_reaches(small: Small) -> None:
    proto = PROTO + "message Aside {\n  string a = 1;\n  string b = 2;\n}\n"
    sdk = replace(
        FULL, constructions=(*FULL.constructions, Construction("Aside", "other", False, AT, ("a",)))
    )
    assert difference_ids(small.compare(FULL, proto=proto)) == []
    assert difference_ids(small.compare(sdk, proto=proto)) == ["field Aside.b: other"]


def test_a_type_of_a_union_is_gone_where_generated_code_makes_the_message(small: Small) -> None:
    sdk = replace(FULL, generated=AT, constructions=(), records=())
    gap = ("sdk type Part.Sound", "known")
    for unions, state in (
        (FULL.unions, "this gap no longer exists"),
        ((), "this gap is not found, and nothing that was read shows that it is gone"),
    ):
        parity = small.compare(replace(sdk, unions=unions), [gap], PROTO, states={})
        faults = [item.message for item in parity.diagnostics if item.rule.value == "SG054"]
        assert faults == [f"full-sdk: sdk type Part.Sound: {state}"]


def test_small_sdk_has_no_envelope(small: Small) -> None:
    assert [item.title for item in small.compare(SDK).sections if item.title == "messages"] == []


NESTED_MESSAGES = (
    "message Ask {\n  message In {\n    bool a = 1;\n    bool b = 2;\n  }\n  In in = 1;\n}"
)
NESTED = PROTO.replace("message Ask {}", f"{NESTED_MESSAGES}\nmessage Told {{}}").replace(
    "oneof response {\n    Ask ask", "oneof response {\n    Told ask"
)


@pytest.mark.parametrize(
    ("filled", "missing"),
    [
        ([("Ask", ("in", "in.a", "in.b"))], []),
        ([("Ask", ("in", "in.a"))], ["in.b"]),
        ([("Ask", ("in",))], []),
        ([("Ask", ())], ["in.a", "in.b"]),
        ([("Ask", ("in",)), ("Ask.In", ("a",))], ["in.b"]),
        ([("Ask", ("in",)), ("Ask.In", ("a", "b"))], []),
        ([], []),
    ],
)
def test_fields_inside_a_request(
    small: Small, filled: list[tuple[str, tuple[str, ...]]], missing: list[str]
) -> None:
    constructions = tuple(
        Construction(name, "Driver.ask", False, AT, fields) for name, fields in filled
    )
    answers = (replace(HOST.answers[0], reads=("in.a", "in.b")),)
    sdk = replace(
        FULL,
        host=replace(HOST, answers=answers),
        constructions=(*FULL.constructions, *constructions),
    )
    expected = [f"request field ask.{path}: driver" for path in missing]
    assert difference_ids(small.compare(sdk, proto=NESTED)) == expected
