"""Tests of what Python code fills times and durations from."""

from __future__ import annotations

import pytest
from edited_sdks import sources, vocabulary_of

PATH = "parlor/robots/voice/dialog_driver.py"
IMPORTS = """import time
from datetime import datetime
from google.protobuf.duration_pb2 import Duration
"""
NOW = "the current time"


def source(code: str) -> tuple[str, str, str]:
    """Returns the path, the constant and the change of a duration that some code makes."""
    text = f"{IMPORTS}{sources('python')[PATH]}\n\ndef pack(event):\n    {code}\n"
    facts = vocabulary_of("python", {**sources("python"), PATH: text}).sources
    [fact] = [item for item in facts if item.within == "pack"]
    assert fact.factor == pytest.approx(1.0)
    return fact.path, fact.constant, fact.change


def filled(value: str) -> str:
    return f"return wire.RobotDialogEvent.PauseForecast(delay={value})"


def set_by(call: str) -> str:
    return f"value = Duration()\n    value.{call}\n    {filled('value')}"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (set_by("FromNanoseconds(int(event.delay * 1e9))"), ("delay", "", "")),
        (set_by("FromNanoseconds(max(0, int(event.delay * 1e9)))"), ("delay", "", "")),
        (
            set_by("FromNanoseconds(round(event.delay) * 10**9)"),
            ("delay", "", "round(event.delay)"),
        ),
        (set_by("FromSeconds(int(event.delay))"), ("delay", "", "int(event.delay)")),
        (set_by("FromDatetime(datetime.now())"), ("", "datetime.now()", "")),
        (set_by("GetCurrentTime()"), ("", NOW, "")),
        (filled("Duration(seconds=int(event.delay))"), ("delay", "", "int(event.delay)")),
        (
            filled("Duration(seconds=int(event.delay), nanos=int(event.delay % 1 * 1e9))"),
            ("delay", "", ""),
        ),
    ],
)
def test_times(code: str, expected: tuple[str, str, str]) -> None:
    assert source(code) == expected
