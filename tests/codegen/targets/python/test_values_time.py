"""Tests that times and durations are exact to the nanosecond in every form.

Expected values are computed with fractions.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta, timezone
from fractions import Fraction
from typing import Any

import pytest
from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol import encoders, fields
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import example, given
from hypothesis import strategies as st


def nanos(value: float | int) -> int:
    """Returns seconds in nanoseconds, the nearest; of two as near the even one."""
    return round(Fraction(value) * 10**9)


YEARS = st.floats(-62_135_596_800, 253_402_300_799, allow_nan=False)


def written(value: Any) -> int:
    encoded = encoders.encode_overlapping_speech(
        {"is_interruption": False, "detection_delay": 0.0, "detected_at": value}
    )
    assert 0 <= encoded.detected_at.nanos < 10**9
    return encoded.detected_at.seconds * 10**9 + encoded.detected_at.nanos


def delayed(value: Any) -> int:
    encoded = encoders.encode_eot_prediction(
        {"probability": 0, "threshold": 0, "inference_duration": None, "delay": value}
    )
    seconds, part = encoded.delay.seconds, encoded.delay.nanos
    assert seconds * part >= 0 and abs(part) < 10**9
    return seconds * 10**9 + part


@given(YEARS | st.floats(1.6e9, 1.9e9) | st.floats(0, 2.0**25) | st.integers(-(10**10), 10**10))
@example(1_700_000_000.1)
@example(16_777_216.0)
@example(math.nextafter(16_777_216.0, 0))
@example(math.nextafter(1_700_000_000.0, 0))
@example(253_402_300_798.99997)
@example(0.0000000005)
@example(-0.0000000015)
@example(-0.25)
def test_times_are_exact(value: float) -> None:
    assert written(value) == nanos(value)


@given(st.floats(-3e11, 3e11) | st.floats(-1e4, 1e4) | st.integers(-(10**11), 10**11))
@example(0.0)
@example(-1.0000000005)
def test_spans_are_exact(value: float) -> None:
    assert delayed(value) == nanos(value)


@given(st.datetimes())
def test_datetimes_are_exact(moment: datetime) -> None:
    epoch = datetime(1970, 1, 1)
    expected = (moment - epoch) // timedelta(microseconds=1) * 1000
    assert written(moment) == expected
    assert written(moment.replace(tzinfo=timezone.utc)) == expected


@given(st.timedeltas(timedelta(days=-3_000_000), timedelta(days=3_000_000)))
def test_timedeltas_are_exact(span: timedelta) -> None:
    assert delayed(span) == span // timedelta(microseconds=1) * 1000


def test_messages_are_copied_whole() -> None:
    moment, span = Timestamp(seconds=7, nanos=123_456_789), Duration(seconds=-7, nanos=-9)
    assert written(moment) == 7_123_456_789
    assert delayed(span) == -7_000_000_009
    for empty in (Timestamp(), 0, 0.0, datetime(1970, 1, 1)):
        speech = encoders.encode_overlapping_speech(
            {"is_interruption": False, "detection_delay": 0.0, "detected_at": empty}
        )
        assert speech.HasField("detected_at") and written(empty) == 0
    encoded = encoders.encode_eot_prediction(
        {"probability": 0, "threshold": 0, "inference_duration": 0, "delay": Duration()}
    )
    assert encoded.HasField("inference_duration") and encoded.HasField("delay")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e300, 253_402_300_800.0, -1e12])
def test_a_time_that_no_timestamp_holds(value: float) -> None:
    with pytest.raises(ValueError):
        written(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, 4e11, -4e11])
def test_a_span_that_no_duration_holds(value: Any) -> None:
    with pytest.raises(ValueError):
        delayed(value)


def test_what_is_filled_twice_holds_the_second() -> None:
    message = pb.AgentSessionEvent.OverlappingSpeech()
    for value in (1_700_000_000.75, 1_700_000_001.0):
        fields.set_timestamp(message.detected_at, value)
    assert (message.detected_at.seconds, message.detected_at.nanos) == (1_700_000_001, 0)
