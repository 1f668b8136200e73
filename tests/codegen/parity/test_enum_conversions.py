"""Tests of what is found about the conversion of an SDK's literals to proto values."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from small_protocol import AT, END, PROTO, SDK, Small, difference_ids, replace

from sessiongen.parity import render
from sessiongen.vocabulary import LiteralValue, ValueMap, Vocabulary

CONVERSION = SDK.conversions[0]
# The same protocol without a declared unknown value.
CLOSED = PROTO.replace('  option (sessiongen.unknown) = "END_UNKNOWN";\n', "").replace(
    "END_UNKNOWN = 0", 'END_UNKNOWN = 0 [(sessiongen.sdk_value) = "never"]'
)
NEVER = replace(END, literals=(*END.literals, LiteralValue("never", None, 9)))
PAIRS = (*CONVERSION.pairs, ("never", "END_UNKNOWN"))


def converted(**changes: object) -> Vocabulary:
    """Returns the small SDK with its conversion changed."""
    return replace(SDK, conversions=(replace(CONVERSION, **changes),))


def closed(default: str) -> Vocabulary:
    """Returns the SDK of the protocol without an unknown value."""
    return replace(converted(pairs=PAIRS, default=default), enums=(NEVER,))


CASES = {
    "a literal without a pair": (
        converted(pairs=(("other", "END_DONE"),)),
        PROTO,
        "map ENDS.done",
        "the map ENDS maps 'done' to END_UNKNOWN, not to END_DONE",
    ),
    "a literal without a pair, and no default": (
        converted(pairs=(("other", "END_DONE"),), default="KeyError"),
        PROTO,
        "map ENDS.done",
        "the map ENDS does not contain 'done' (sdk/session.py:7)",
    ),
    "a literal with another value": (
        converted(pairs=(("done", "END_UNKNOWN"),)),
        PROTO,
        "map ENDS.done",
        "the map ENDS maps 'done' to END_UNKNOWN, not to END_DONE",
    ),
    "an error instead of the unknown value": (
        converted(default="KeyError"),
        PROTO,
        "default small.End: Host._on_close",
        "raises KeyError for a literal that its table lacks (ENDS, sdk/session.py:7), for which the "
        "protocol declares END_UNKNOWN",
    ),
    "another value instead of the unknown value": (
        converted(default="END_DONE"),
        PROTO,
        "default small.End: Host._on_close",
        "Host._on_close uses END_DONE for a literal that its table lacks (ENDS, sdk/session.py:7), which "
        "small.End does not allow",
    ),
    "a value where none is declared": (
        closed("END_DONE"),
        CLOSED,
        "default small.End: Host._on_close",
        "uses END_DONE for a literal that its table lacks",
    ),
    "no value where none is declared": (
        closed("undefined"),
        CLOSED,
        "default small.End: Host._on_close",
        "sends no value for a literal that its table lacks (ENDS, sdk/session.py:7), so it is received as "
        "END_UNKNOWN",
    ),
    "always the same value": (
        converted(pairs=(), default="END_DONE"),
        PROTO,
        "constant Ended.reason: Host._on_close",
        "Host._on_close fills Ended.reason always with END_DONE (sdk/session.py:7)",
    ),
    "code that cannot be read": (
        replace(SDK, conversions=()),
        PROTO,
        "unverified Ended.reason: Host._on_close",
        "how Host._on_close converts the value of Ended.reason cannot be read (sdk/session.py:7)",
    ),
    "another place that cannot be read": (
        replace(
            SDK,
            constructions=(*SDK.constructions, replace(SDK.constructions[0], within="Host.x")),
            conversions=(replace(CONVERSION, place=replace(AT, line=8)),),
        ),
        PROTO,
        "unverified Ended.reason: Host.x",
        "how Host.x converts",
    ),
    "fields copied by name": (
        replace(
            SDK,
            constructions=(
                replace(SDK.constructions[0], fields=("detail",), open=True),
                *SDK.constructions[1:],
            ),
            conversions=(),
        ),
        PROTO,
        "unverified Ended.reason: Host._on_close",
        "cannot be read",
    ),
}


@pytest.fixture
def small(tmp_path: Path) -> Small:
    return Small(tmp_path)


@pytest.mark.parametrize(("sdk", "proto", "difference", "message"), CASES.values(), ids=CASES)
def test_difference(
    small: Small, sdk: Vocabulary, proto: str, difference: str, message: str
) -> None:
    result = small.compare(sdk, proto=proto)
    [fault] = [item for item in result.diagnostics if f'"{difference}"' in (item.help or "")]
    assert message in fault.message
    declared = [(item, "known") for item in difference_ids(result)]
    assert small.compare(sdk, declared, proto).diagnostics == []


@pytest.mark.parametrize(
    ("sdk", "proto"),
    [
        (SDK, PROTO),
        # The unknown value is zero, so no value at all is received as it.
        (converted(default="undefined"), PROTO),
        (closed("KeyError"), CLOSED),
        # A table that nothing fills a field from is compared, and has no default.
        (replace(SDK, maps=(ValueMap("OTHERS", AT, (("done", "END_DONE"),), ()),)), PROTO),
    ],
)
def test_no_difference(small: Small, sdk: Vocabulary, proto: str) -> None:
    assert difference_ids(small.compare(sdk, proto=proto)) == []


def test_table_that_no_field_uses_is_compared(small: Small) -> None:
    sdk = replace(SDK, maps=(ValueMap("OTHERS", AT, (("done", "END_UNKNOWN"),), ()),))
    assert difference_ids(small.compare(sdk)) == ["map OTHERS.done"]


def test_matrix_says_what_the_sdk_and_the_generated_code_do(small: Small) -> None:
    result = small.compare(converted(default="KeyError"))
    text = click.unstyle(render(result, "text", all_rows=True))
    assert "(any other value; generated code: END_UNKNOWN)  KeyError !" in text
    assert "END_UNKNOWN = 0                                 n/a" in text
    result = small.compare(replace(SDK, conversions=()))
    unread = click.unstyle(render(result, "text", all_rows=True))
    assert "done (unverified)" in unread and "unverified !" in unread


def test_a_gap_follows_the_default_to_another_table(small: Small) -> None:
    states = []
    for table in ("ENDS", "ends.OTHERS"):
        sdk = replace(
            SDK, conversions=(converted(default="KeyError").conversions[0]._replace(table=table),)
        )
        [item] = [
            item
            for section in small.compare(sdk).sections
            for item in section.findings()
            if item.kind == "default"
        ]
        assert (
            item.message.endswith("END_UNKNOWN") and f"({table}, sdk/session.py:7)" in item.message
        )
        states.append((item.id, item.state, item.place))
    assert states[0] == states[1]
