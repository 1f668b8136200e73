"""Tests of what fields are filled from: each difference, with a small protocol and a small SDK."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from small_protocol import AT, SDK, Small, difference_ids, replace

from sessiongen.parity.matrix import Finding
from sessiongen.vocabulary.model import FieldSource

WITHIN = "Host._on_close"
CASES: dict[str, tuple[dict[str, Any], str]] = {
    "the field itself": ({"path": "reason"}, ""),
    "a part of it": ({"path": "reason.text"}, ""),
    "the field in an object": ({"path": "error.reason"}, ""),
    "a constant": ({"constant": "'done'"}, "is always 'done'"),
    "another field": ({"path": "detail"}, "is filled from detail"),
    "another field of its class": ({"path": "type"}, "is filled from type"),
    "a factor": ({"path": "reason", "factor": 0.001}, "is filled from reason times 0.001"),
    "milliseconds": ({"path": "reasonMs", "factor": 0.001}, ""),
    "milliseconds as they are": ({"path": "reasonMs"}, "is filled from reasonMs times 1"),
    "a parameter of any name": ({"parameter": "what"}, ""),
    "a parameter with the name of another field": (
        {"parameter": "detail"},
        "is filled from detail",
    ),
    "a condition": ({"path": "reason", "condition": "ev.final"}, "is filled only if ev.final"),
}


@pytest.fixture
def small(tmp_path: Path) -> Small:
    return Small(tmp_path)


def findings(small: Small, field: str, **source: Any) -> list[Finding]:
    fact = FieldSource("Ended", field, WITHIN, AT, "", "", 1.0, "")
    result = small.compare(replace(SDK, sources=(replace(fact, **source),)))
    return [item for section in result.sections for item in section.findings()]


@pytest.mark.parametrize("case", CASES)
def test_source(small: Small, case: str) -> None:
    source, expected = CASES[case]
    items = findings(small, "reason", **source)
    states = [f"Ended.reason {expected} in {WITHIN}"] if expected else []
    assert [item.state for item in items] == states
    assert [item.id for item in items] == [f"source Ended.reason: {WITHIN}"] * len(states)
    assert all(item.place == AT and item.span.line == 10 for item in items)


def test_a_field_that_the_class_lacks_has_any_source(small: Small) -> None:
    record = replace(SDK.records[0], fields=SDK.records[0].fields[:2])
    fact = FieldSource("Ended", "detail", WITHIN, AT, "error.label", "", 1.0, "")
    result = small.compare(replace(SDK, records=(record,), sources=(fact,)))
    assert not [item for item in difference_ids(result) if item.startswith("source")]
