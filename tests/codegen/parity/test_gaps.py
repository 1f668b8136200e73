"""Declared gaps: what one covers, and the files that declare them."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_protocol import AT, DRIVER, SDK, Small, replace

from sessiongen import parity
from sessiongen.diagnostics import InputError
from sessiongen.parity.gaps import load_gaps
from sessiongen.vocabulary.model import Construction


@pytest.fixture
def small(tmp_path: Path) -> Small:
    return Small(tmp_path)


def faults(result: parity.Parity) -> list[tuple[str, int, str]]:
    return [(item.rule.value, item.span.line, item.message) for item in result.diagnostics]


def test_gap_does_not_cover_a_worse_difference_of_the_same_id(small: Small) -> None:
    missing = replace(SDK, driver=replace(DRIVER, receives=()))
    untyped = replace(SDK, driver=replace(DRIVER, events=()))
    gaps = [("event ended: driver", "known")]
    states = {"event ended: driver": "event ended: its driver's event type does not include it"}
    assert small.compare(untyped, gaps, states=states).diagnostics == []
    assert faults(small.compare(missing, gaps, states=states)) == [
        ("SG051", 18, "small-sdk: event ended: its driver does not receive it"),
        (
            "SG054",
            5,
            "small-sdk: event ended: driver: this gap covers "
            '"event ended: its driver\'s event type does not include it", '
            "and now it is 'event ended: its driver does not receive it'",
        ),
    ]


def test_state_of_a_difference_has_no_position(small: Small) -> None:
    unfilled = Construction("Ended", "Host.x", False, AT, ("reason",))
    result = small.compare(replace(SDK, constructions=(*SDK.constructions, unfilled)))
    (finding,) = (item for section in result.sections for item in section.findings())
    assert finding.message == "small-sdk: Ended.detail is not filled in Host.x (sdk/session.py:7)"
    assert finding.state == "Ended.detail is not filled in Host.x"


def test_covers_must_be_a_table(small: Small) -> None:
    small.compare()
    entry = '[[gaps]]\nkind = "design"\nreason = "known"\ncovers = ["event ended: host"]\n'
    (small.folder / "sdk0.gaps.toml").write_text(entry)
    with pytest.raises(InputError) as caught:
        load_gaps(small.folder / "sdk0.json", "small-sdk")
    (fault,) = caught.value.diagnostics
    assert "a table" in fault.message
    assert fault.span.line == 4


ISSUE = """\
[[gaps]]
kind = "sdk-bug"
reason = "The SDK forgets it."
issue = "{issue}"
covers = {{ "event ended: host" = "event ended: its host does not send it" }}
"""


def test_a_gap_may_have_an_issue(tmp_path: Path) -> None:
    address = "https://example.org/sdk/issues/1"
    (tmp_path / "sdk.gaps.toml").write_text(ISSUE.format(issue=address))
    (gap,) = load_gaps(tmp_path / "sdk.json", "small-sdk")
    assert gap.issue == address
    assert gap.explanation == f"The SDK forgets it. {address}"


def test_an_issue_is_an_address(tmp_path: Path) -> None:
    (tmp_path / "sdk.gaps.toml").write_text(ISSUE.format(issue="#1"))
    with pytest.raises(InputError) as caught:
        load_gaps(tmp_path / "sdk.json", "small-sdk")
    assert [(item.span.line, item.message) for item in caught.value.diagnostics] == [
        (4, "'#1' is not an address")
    ]
