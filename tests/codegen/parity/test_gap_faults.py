"""Tests of gaps that are not found: gone if that was compared, unverified otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_protocol import AT, HOST, SDK, Small, difference_ids, replace

from sessiongen.vocabulary import Vocabulary

GONE = "this gap no longer exists"
UNVERIFIED = "this gap is not found, and nothing that was read shows that it is gone"
OTHERS = SDK.constructions[1:]
FORWARD = HOST.forwards[0]


def host(**changes: object) -> Vocabulary:
    """Returns the small SDK with the host's event sent in another way."""
    return replace(SDK, host=replace(HOST, forwards=(replace(FORWARD, **changes),)))


def constructed(**changes: object) -> Vocabulary:
    """Returns the small SDK with its event constructed in another way."""
    return replace(SDK, constructions=(replace(SDK.constructions[0], **changes), *OTHERS))


# The id of a gap, and an SDK in which it does not exist: whether it is gone, and the help.
CASES = {
    "a field is filled": ("field Ended.detail: Host._on_close", SDK, GONE, "the SDK has this now"),
    "a field is copied by name": (
        "field Ended.detail: Host._on_close",
        constructed(fields=("reason",), open=True),
        UNVERIFIED,
        "may have become unreadable",
    ),
    "another function constructs the message": (
        "field Ended.detail: Host._on_end",
        SDK,
        UNVERIFIED,
        "may have become unreadable",
    ),
    "a default is allowed": (
        "default small.End: Host._on_close",
        SDK,
        GONE,
        "the SDK converts this value as the protocol does now",
    ),
    "a default that cannot be read": (
        "default small.End: Host._on_close",
        replace(SDK, conversions=()),
        UNVERIFIED,
        "may have become unreadable",
    ),
    "a table has the literal": ("map ENDS.done", SDK, GONE, "converts this value"),
    "a table that cannot be read": (
        "map ENDS.done",
        replace(SDK, conversions=()),
        UNVERIFIED,
        "may have become unreadable",
    ),
    "a conversion is read": (
        "unverified Ended.reason: Host._on_close",
        SDK,
        GONE,
        "the code is read now",
    ),
    "an event is sent": ("event ended: host", SDK, GONE, "the SDK has this now"),
    "an event of the session is gone": (
        "sdk event hum",
        SDK,
        GONE,
        "the SDK no longer has this, or the protocol carries it now",
    ),
    "no session is read": ("sdk event hum", replace(SDK, session=None), UNVERIFIED, "unreadable"),
    "a request is sent": ("request ask: driver", SDK, GONE, "the SDK has this now"),
    "a request field is read": ("request field ask.text: host", SDK, GONE, "agree here now"),
    "unknown requests are answered": ("request *: host", SDK, GONE, "the SDK has this now"),
    "an error text that is no constant now": (
        "request error ask 'too late': host",
        SDK,
        UNVERIFIED,
        "may have become unreadable",
    ),
    "a field of a class is gone": ("sdk field EndedEvent.more", SDK, GONE, "no longer has this"),
    "a class is not read": (
        "sdk field EndedEvent.more",
        replace(SDK, records=()),
        UNVERIFIED,
        "may have become unreadable",
    ),
    "a literal is gone": ("literal End.lost", SDK, GONE, "no longer has this"),
    "a value exists": ("value small.End.END_DONE", SDK, GONE, "the SDK has this now"),
    "an enum is not read": (
        "literal End.lost",
        replace(SDK, enums=()),
        UNVERIFIED,
        "may have become unreadable",
    ),
    "a role is found": ("driver", SDK, GONE, "agree here now"),
    "an arm that neither side has": ("event tock: host", SDK, GONE, "or the protocol no longer"),
    "a field of an arm that neither side has": (
        "event field tock.created_at: host",
        SDK,
        UNVERIFIED,
        "may have become unreadable",
    ),
    "an unknown kind of difference": ("gone", SDK, UNVERIFIED, "may have become unreadable"),
}


@pytest.fixture
def small(tmp_path: Path) -> Small:
    return Small(tmp_path)


@pytest.mark.parametrize(("gap", "sdk", "message", "help_"), CASES.values(), ids=CASES)
def test_gap_that_is_not_found(
    small: Small, gap: str, sdk: Vocabulary, message: str, help_: str
) -> None:
    result = small.compare(sdk, [(gap, "known")], states={gap: "so"})
    [fault] = [item for item in result.diagnostics if item.rule.value == "SG054"]
    assert fault.message == f"small-sdk: {gap}: {message}"
    assert help_ in (fault.help or "")


def test_event_that_is_passed_on_may_be_read_anywhere(small: Small) -> None:
    sdk = host(reads=(), passes_event=True)
    gap = "part Ended.detail: Host._on_close"
    [fault] = small.compare(sdk, [(gap, "known")], states={}).diagnostics
    assert fault.message.endswith(UNVERIFIED)
    [fault] = small.compare(SDK, [(gap, "known")], states={}).diagnostics
    assert fault.message.endswith(GONE)


@pytest.mark.parametrize(
    "gap",
    [
        "default small.End: Host.x",
        "map OLD.done",
        "field Ended.detail: Host.x",
        "event field ended.created_at: host",
        "unverified Ended.reason: Host.x",
        "order Ended.items: Host.x",
        "omission Ended.items: Host.x",
        "parts Ended.detail: Host.x",
        "unknown Ended.items: Host.x",
    ],
)
def test_what_generated_code_does_is_known(small: Small, gap: str) -> None:
    adopted = replace(SDK, generated=AT, constructions=(), conversions=(), maps=())
    [fault] = small.compare(adopted, [(gap, "known")], states={}).diagnostics
    assert fault.message == f"small-sdk: {gap}: {GONE}"


def test_generated_code_fills_messages_and_reads_of_a_whole_request_are_not_known(
    small: Small,
) -> None:
    answers = (replace(HOST.answers[0], reads=("",)),)
    adopted = replace(
        SDK, generated=AT, constructions=(), conversions=(), host=replace(HOST, answers=answers)
    )
    assert small.compare(adopted).diagnostics == []
    by_hand = replace(adopted, generated=None, records=())
    assert "message Ended" in difference_ids(small.compare(by_hand))
