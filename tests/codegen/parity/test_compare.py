"""Tests of each kind of difference, with a small protocol and a small SDK.

Each test removes one fact and checks the difference id, the rule and the position of the finding.
"""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from small_protocol import (
    AT,
    DRIVER,
    END,
    HOST,
    PROTO,
    RECORD,
    SDK,
    Small,
    replace,
    difference_ids,
)

from sessiongen import parity
from sessiongen.diagnostics import Diagnostic
from sessiongen.vocabulary.model import (
    Answer,
    Construction,
    EventName,
    FieldFact,
    Forward,
    Reception,
    Sending,
    Session,
    LiteralValue,
)


@pytest.fixture
def small(tmp_path: Path) -> Small:
    return Small(tmp_path)


def test_complete_sdk_has_no_findings(small: Small) -> None:
    result = small.compare()
    assert result.diagnostics == []
    assert difference_ids(result) == []


DETAIL = FieldFact("theText", "str", False, AT)
RENAMED = replace(RECORD, fields=tuple(item for item in RECORD.fields if item.name != "detail"))
WITH_LOST_VALUE = replace(END, literals=(*END.literals, LiteralValue("lost", "LOST", 9)))
CASES = {
    "an SDK value that the protocol lacks": (
        replace(SDK, enums=(WITH_LOST_VALUE,)),
        ("literal End.lost", "SG050", 4, "sdk/session.py:9"),
    ),
    "a proto enum that the SDK lacks": (
        replace(SDK, enums=()),
        ("enum small.End", "SG050", 4, "has no enum for small.End"),
    ),
    "a value that the SDK lacks": (
        replace(SDK, enums=(replace(END, literals=(LiteralValue("gone", None, 8),)),)),
        ("value small.End.END_DONE", "SG050", 7, "sdk/session.py:7"),
    ),
    "an event that the host does not send": (
        replace(SDK, host=replace(HOST, forwards=())),
        ("event ended: host", "SG051", 18, "does not send it"),
    ),
    "an event whose handler nothing calls": (
        replace(SDK, host=replace(HOST, forwards=(replace(HOST.forwards[0], via=None),))),
        ("event ended: host", "SG051", 18, "nothing calls its Host._on_close"),
    ),
    "an event sent on another SDK event": (
        replace(SDK, host=replace(HOST, forwards=(replace(HOST.forwards[0], event="bye"),))),
        ("event ended: host", "SG051", 18, "on 'bye', not on 'close'"),
    ),
    "an event that the session never emits": (
        replace(SDK, session=Session("Session", AT, (EventName("close", AT),), ())),
        ("event ended: host", "SG051", 18, "never emits 'close'"),
    ),
    "an event that the driver does not receive": (
        replace(SDK, driver=replace(DRIVER, receives=())),
        ("event ended: driver", "SG051", 18, "does not receive it"),
    ),
    "an event that the driver renames": (
        replace(SDK, driver=replace(DRIVER, receives=(Reception("ended", "over", AT),))),
        ("event ended: driver", "SG051", 18, "emits it as 'over'"),
    ),
    "an event that the driver's type does not include": (
        replace(SDK, driver=replace(DRIVER, events=(), receives=(), emits_by_arm_name=AT)),
        ("event ended: driver", "SG051", 18, "event type does not include it"),
    ),
    "an SDK event that no arm carries": (
        (
            replace(
                SDK,
                session=replace(SDK.session, events=(*SDK.session.events, EventName("hum", AT))),
            )
            if SDK.session
            else SDK
        ),
        ("sdk event hum", "SG051", 16, "no arm carries the event 'hum'"),
    ),
    "a request that the host does not answer": (
        replace(SDK, host=replace(HOST, answers=())),
        ("request ask: host", "SG052", 24, "does not answer it"),
    ),
    "a request answered with another arm": (
        replace(SDK, host=replace(HOST, answers=(replace(HOST.answers[0], response="nod"),))),
        ("request ask: host", "SG052", 24, "answers with 'nod', not 'ask'"),
    ),
    "a request that the driver cannot send": (
        replace(SDK, driver=replace(DRIVER, sends=())),
        ("request ask: driver", "SG052", 24, "cannot send it"),
    ),
    "a request field that the host ignores": (
        replace(SDK, host=replace(HOST, answers=(replace(HOST.answers[0], reads=()),))),
        ("request field ask.text: host", "SG052", 14, "never reads it"),
    ),
    "a request field that the driver never fills": (
        replace(
            SDK,
            constructions=(
                SDK.constructions[0],
                SDK.constructions[2],
                Construction("Ask", "Driver.ask", False, AT, ()),
            ),
        ),
        ("request field ask.text: driver", "SG052", 14, "never fills it"),
    ),
    "a field that the host does not fill": (
        replace(
            SDK,
            constructions=(
                *SDK.constructions[1:],
                Construction("Ended", "Host.x", False, AT, ("reason",)),
            ),
        ),
        ("field Ended.detail: Host.x", "SG053", 11, "is not filled in Host.x"),
    ),
    "a field that one of two host functions does not fill": (
        replace(
            SDK,
            constructions=(
                *SDK.constructions,
                Construction("Ended", "Host.x", False, AT, ("reason",)),
            ),
        ),
        ("field Ended.detail: Host.x", "SG053", 11, "is not filled in Host.x"),
    ),
    "a field that the SDK's class lacks": (
        replace(
            SDK,
            records=(RENAMED,),
            constructions=tuple(item for item in SDK.constructions if item.message != "Ended"),
        ),
        ("field Ended.detail", "SG053", 11, "has no source in EndedEvent"),
    ),
    "a field that only the SDK's class has": (
        replace(
            SDK,
            records=(replace(RECORD, fields=(*RECORD.fields, FieldFact("mood", "str", True, AT))),),
        ),
        (
            "sdk field EndedEvent.mood",
            "SG053",
            9,
            "has no field for the SDK's EndedEvent.mood",
        ),
    ),
    "an event arm that only the host knows": (
        replace(
            SDK,
            host=replace(
                HOST,
                forwards=(
                    *HOST.forwards,
                    Forward("hum", "close", "Host._on_hum", AT, AT, None, (), False),
                ),
            ),
        ),
        ("event hum: host", "SG051", 16, "its host sends the event 'hum' (sdk/session.py:7)"),
    ),
    "an event arm that only the driver knows": (
        replace(
            SDK, driver=replace(DRIVER, receives=(*DRIVER.receives, Reception("hum", "hum", AT)))
        ),
        ("event hum: driver", "SG051", 16, "its driver receives the event 'hum'"),
    ),
    "an event that only the driver's type knows": (
        replace(SDK, driver=replace(DRIVER, events=(*DRIVER.events, EventName("hum", AT)))),
        ("event hum: driver", "SG051", 16, "its driver has the event 'hum'"),
    ),
    "a request arm that only the host knows": (
        replace(SDK, host=replace(HOST, answers=(*HOST.answers, Answer("nod", "nod", (), (), AT)))),
        ("request nod: host", "SG052", 21, "its host answers the request 'nod'"),
    ),
    "a request arm that only the driver knows": (
        replace(SDK, driver=replace(DRIVER, sends=(*DRIVER.sends, Sending("nod", "nod", AT)))),
        ("request nod: driver", "SG052", 21, "its driver sends the request 'nod'"),
    ),
    "a field that only the SDK fills": (
        replace(
            SDK,
            constructions=(
                *SDK.constructions,
                Construction("Ended", "Host.x", True, AT, ("mood",)),
            ),
        ),
        ("field Ended.mood", "SG053", 9, "Host.x fills Ended.mood (sdk/session.py:7)"),
    ),
    "a message that only the SDK constructs": (
        replace(
            SDK, constructions=(*SDK.constructions, Construction("Hum", "Host.x", False, AT, ()))
        ),
        ("message Hum", "SG053", 16, "Host.x constructs the message Hum (sdk/session.py:7)"),
    ),
    "a message that nothing constructs": (
        replace(
            SDK,
            records=(),
            constructions=tuple(i for i in SDK.constructions if i.message != "Ended"),
        ),
        ("message Ended", "SG053", 9, "has no class and is constructed nowhere in this SDK"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_each_difference_is_found_and_can_be_declared(name: str, small: Small) -> None:
    sdk, (difference, rule, line, text) = CASES[name]
    result = small.compare(sdk)
    matching = [
        item for item in result.diagnostics if f'covers = {{ "{difference}" = ' in item.help
    ]
    assert [(item.rule.value, item.span.line) for item in matching] == [
        (rule, line)
    ], result.diagnostics
    assert text in matching[0].message
    gaps = [
        (known_difference, "known") for known_difference in dict.fromkeys(difference_ids(result))
    ]
    assert small.compare(sdk, gaps).diagnostics == []


def faults(result: parity.Parity) -> list[tuple[str, int, str]]:
    def row(item: Diagnostic) -> tuple[str, int, str]:
        return item.rule.value, item.span.line, item.message

    return [row(item) for item in result.diagnostics]


def test_gap_that_no_longer_exists_is_a_finding(small: Small) -> None:
    result = small.compare(gaps=[("event ended: host", "not yet")])
    assert faults(result) == [
        ("SG054", 5, "small-sdk: event ended: host: this gap no longer exists")
    ]


def test_gap_needs_a_reason_and_must_be_declared_once(small: Small) -> None:
    sdk = replace(SDK, host=replace(HOST, forwards=()))
    difference = "event ended: host"
    assert faults(small.compare(sdk, [(difference, " ")])) == [
        ("SG054", 5, f"small-sdk: {difference}: this gap has no reason")
    ]
    repeated = [(difference, "known"), (difference, "known")]
    assert faults(small.compare(sdk, repeated)) == [
        ("SG054", 10, f"small-sdk: {difference}: this gap is declared twice")
    ]


def test_renamed_value_is_a_finding(small: Small) -> None:
    renamed = PROTO.replace("END_DONE", "END_FINISHED")
    result = small.compare(proto=renamed)
    assert difference_ids(result) == ["value small.End.END_FINISHED", "literal End.done"]
    annotated = renamed.replace(
        "END_FINISHED = 1", 'END_FINISHED = 1 [(sessiongen.sdk_value) = "done"]'
    )
    conversion = replace(SDK.conversions[0], pairs=(("done", "END_FINISHED"),))
    sdk = replace(SDK, conversions=(conversion,))
    assert small.compare(sdk, proto=annotated).diagnostics == []
    assert difference_ids(small.compare(proto=annotated)) == ["map ENDS.done"]


def test_new_value_is_a_finding_until_the_sdk_has_it(small: Small) -> None:
    proto = PROTO.replace("  END_DONE = 1;", "  END_DONE = 1;\n  END_GIVEN_AWAY = 2;")
    assert difference_ids(small.compare(proto=proto)) == ["value small.End.END_GIVEN_AWAY"]
    end = replace(END, literals=(*END.literals, LiteralValue("given-away", None, 9)))
    sdk = replace(SDK, enums=(end,))
    assert difference_ids(small.compare(sdk, proto=proto)) == ["map ENDS.given-away"]
    pairs = (*SDK.conversions[0].pairs, ("given-away", "END_GIVEN_AWAY"))
    complete = replace(sdk, conversions=(replace(SDK.conversions[0], pairs=pairs),))
    assert small.compare(complete, proto=proto).diagnostics == []


def test_open_enum_needs_an_unknown_value(small: Small) -> None:
    sdk = replace(SDK, enums=(replace(END, open=True),))
    assert small.compare(sdk).diagnostics == []
    closed = PROTO.replace('  option (sessiongen.unknown) = "END_UNKNOWN";\n', "")
    result = small.compare(sdk, proto=closed)
    assert difference_ids(result) == [
        "value small.End.END_UNKNOWN",
        "literal End.*",
        "default small.End: Host._on_close",
    ]


def test_older_name_beside_the_arm_name_is_not_a_finding(small: Small) -> None:
    receptions = (Reception("ended", "bye", AT), Reception("ended", "ended", AT))
    events = (EventName("bye", AT), EventName("ended", AT))
    sdk = replace(SDK, driver=replace(DRIVER, receives=receptions, events=events))
    assert small.compare(sdk).diagnostics == []


def test_field_filled_at_one_place_of_a_function_is_not_filled(small: Small) -> None:
    early = Construction("Ended", "Host._on_close", False, AT, ("reason",))
    result = small.compare(replace(SDK, constructions=(early, *SDK.constructions)))
    assert [item.message for item in result.diagnostics] == [
        f"small-sdk: Ended.detail is not filled at each place in Host._on_close ({AT})"
    ]


def test_declared_gap_covers_one_function_only(small: Small) -> None:
    unfilled = [Construction("Ended", f"Host.{name}", False, AT, ("reason",)) for name in "xy"]
    gaps = [("field Ended.detail: Host.x", "known")]
    assert (
        small.compare(
            replace(SDK, constructions=(*SDK.constructions, unfilled[0])), gaps
        ).diagnostics
        == []
    )
    result = small.compare(replace(SDK, constructions=(*SDK.constructions, *unfilled)), gaps)
    assert [item.message for item in result.diagnostics] == [
        "small-sdk: Ended.detail is not filled in Host.y (sdk/session.py:7)"
    ]
    assert "detail               detail !" in click.unstyle(parity.render(result, "text"))


@pytest.mark.parametrize(
    ("before", "after", "difference"),
    [
        ("message Ended {", 'option (sessiongen.sdk_class) = "Gone";', "message Ended"),
        ("enum End {", 'option (sessiongen.sdk_enum) = "Gone";', "enum small.End"),
    ],
)
def test_annotation_that_names_nothing_in_the_sdk(
    before: str, after: str, difference: str, small: Small
) -> None:
    assert difference_ids(small.compare(proto=PROTO.replace(before, f"{before} {after}"))) == [
        difference
    ]


def test_field_annotation_that_names_nothing_in_the_sdk(small: Small) -> None:
    proto = PROTO.replace("detail = 2", 'detail = 2 [(sessiongen.sdk_field) = "gone"]')
    result = small.compare(proto=proto)
    assert difference_ids(result) == ["field Ended.detail", "sdk field EndedEvent.detail"]


def test_annotations_name_other_spellings(small: Small) -> None:
    record = replace(RECORD, name="Closing", fields=(*RENAMED.fields, DETAIL))
    sdk = replace(SDK, records=(record,))
    proto = PROTO.replace(
        "message Ended {", 'message Ended { option (sessiongen.sdk_class) = "X,Closing";'
    )
    proto = proto.replace("detail = 2", 'detail = 2 [(sessiongen.sdk_field) = "words,theText"]')
    assert small.compare(sdk, proto=proto).diagnostics == []
