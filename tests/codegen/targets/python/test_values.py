"""Tests of the Python forms of Timestamp, Duration and Struct.

Expected values are computed with fractions.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta, timezone
from fractions import Fraction
from typing import Any

import pytest
from agent_session_protocol.values import (
    timestamp_or_now,
    to_duration,
    to_struct,
    to_timestamp,
    well_formed,
)
from google.protobuf.duration_pb2 import Duration
from google.protobuf.json_format import MessageToDict, MessageToJson
from google.protobuf.struct_pb2 import ListValue, Struct, Value
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import example, given
from hypothesis import strategies as st

# 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z, as timestamp.proto has them.
FIRST, LAST = -62_135_596_800, 253_402_300_799
LIMIT = 315_576_000_000
OFFSETS = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(
    datetime(2, 1, 1), datetime(9998, 12, 31), timezones=st.just(timezone.utc) | OFFSETS
)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)


def nanoseconds(value: Timestamp | Duration) -> int:
    return value.seconds * 10**9 + value.nanos


def nearest(seconds: float) -> int:
    """Returns whole nanoseconds; Fraction rounds half to even."""
    return round(Fraction(seconds) * 10**9)


@given(MOMENTS)
def test_datetimes_become_timestamps_exactly(moment: datetime) -> None:
    epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)
    result = to_timestamp(moment)
    assert nanoseconds(result) == (moment - epoch) // timedelta(microseconds=1) * 1000
    assert 0 <= result.nanos < 10**9
    assert result.ToDatetime(tzinfo=timezone.utc) == moment


@given(st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31)))
def test_naive_datetimes_are_utc(moment: datetime) -> None:
    assert to_timestamp(moment) == to_timestamp(moment.replace(tzinfo=timezone.utc))


def test_a_naive_datetime_is_utc() -> None:
    assert to_timestamp(datetime(2001, 9, 9, 1, 46, 40)) == Timestamp(seconds=10**9)


@given(NUMBERS)
@example(0.1)
@example(-0.1)
@example(-1e-9)
@example(-1e-10)
@example(0.5e-9)
@example(1.5e-9)
@example(1_700_000_000.123456)
@example(float(LAST) + 0.5)
@example(LAST)
@example(FIRST)
@example(FIRST - 1)
@example(LAST + 1)
@example(0.9999999999)
@example(-0.9999999999)
@example(10**400)
@example(5e-324)
def test_numbers_become_timestamps_exactly(seconds: float) -> None:
    expected = nearest(seconds)
    if FIRST * 10**9 <= expected < (LAST + 1) * 10**9:
        result = to_timestamp(seconds)
        assert nanoseconds(result) == expected
        assert 0 <= result.nanos < 10**9
    else:
        with pytest.raises(ValueError, match="years 1 to 9999"):
            to_timestamp(seconds)


@given(NUMBERS)
@example(-0.25)
@example(-0.9999999999)
@example(LIMIT)
@example(-LIMIT)
@example(LIMIT + 1)
@example(-LIMIT - 1)
def test_numbers_become_durations_exactly(seconds: float) -> None:
    expected = nearest(seconds)
    if abs(expected) < (LIMIT + 1) * 10**9:
        result = to_duration(seconds)
        assert nanoseconds(result) == expected
        assert abs(result.nanos) < 10**9
        assert (
            result.seconds == 0 or result.nanos == 0 or (result.seconds < 0) == (result.nanos < 0)
        )
        result.ToJsonString()
    else:
        with pytest.raises(ValueError, match="10,000 years"):
            to_duration(seconds)


@given(st.timedeltas(timedelta(days=-3_652_000), timedelta(days=3_652_000)))
@example(timedelta(microseconds=-1))
def test_timedeltas_become_durations_exactly(span: timedelta) -> None:
    result = to_duration(span)
    assert nanoseconds(result) == span // timedelta(microseconds=1) * 1000
    assert result.ToTimedelta() == span


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_invalid_numbers_of_seconds(value: float) -> None:
    with pytest.raises(ValueError, match="not a number of seconds"):
        to_timestamp(value)
    with pytest.raises(ValueError, match="not a number of seconds"):
        to_duration(value)


def test_limits_of_datetime() -> None:
    assert to_timestamp(datetime.min) == Timestamp(seconds=FIRST)
    assert to_timestamp(datetime.max) == Timestamp(seconds=LAST, nanos=999_999_000)
    east = timezone(timedelta(hours=1))
    with pytest.raises(ValueError, match="years 1 to 9999"):
        to_timestamp(datetime.min.replace(tzinfo=east))
    west = timezone(timedelta(hours=-1))
    with pytest.raises(ValueError, match="years 1 to 9999"):
        to_timestamp(datetime.max.replace(tzinfo=west))
    with pytest.raises(ValueError, match="10,000 years"):
        to_duration(timedelta.max)


def test_messages_are_not_converted() -> None:
    moment, span, data = Timestamp(seconds=1), Duration(nanos=2), Struct()
    assert to_timestamp(moment) is moment
    assert to_duration(span) is span
    assert to_struct(data) is data


def test_no_time_is_the_current_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time_ns", lambda: 1_700_000_000_123_456_789)
    assert timestamp_or_now(None) == Timestamp(seconds=1_700_000_000, nanos=123_456_789)
    assert timestamp_or_now(0) == Timestamp()
    assert timestamp_or_now(0.0) == Timestamp()


# ---------------------------------------------------------------------------------------
# Structs.

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
LEAVES = (
    st.none() | st.booleans() | TEXTS | st.floats(allow_nan=False) | st.integers(-(2**53), 2**53)
)
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=20
)


@given(st.dictionaries(TEXTS, JSON))
def test_mappings_become_structs(data: dict[str, Any]) -> None:
    struct = Struct.FromString(to_struct(data).SerializeToString())
    assert {key: content(value) for key, value in struct.fields.items()} == data


def content(value: Value) -> Any:
    """Returns what a Value holds, read field by field."""
    kind = value.WhichOneof("kind")
    if kind == "null_value":
        return None
    if kind == "struct_value":
        return {key: content(item) for key, item in value.struct_value.fields.items()}
    if kind == "list_value":
        return [content(item) for item in value.list_value.values]
    assert kind is not None
    return getattr(value, kind)


def test_bool_in_a_struct() -> None:
    assert MessageToJson(to_struct({"a": True}), indent=None) == '{"a": true}'
    assert MessageToJson(to_struct({"a": 1}), indent=None) == '{"a": 1.0}'


def test_tuples_and_messages_inside_a_struct() -> None:
    inner = to_struct({"x": None})
    texts = ListValue(values=[Value(string_value="t")])
    data = {"a": (1, ()), "b": inner, "c": texts, "d": Value(bool_value=True), "e": {}, "f": []}
    assert MessageToDict(to_struct(data)) == {
        "a": [1.0, []],
        "b": {"x": None},
        "c": ["t"],
        "d": True,
        "e": {},
        "f": [],
    }


@pytest.mark.parametrize(
    "data",
    [{"a": {1, 2}}, {"a": [object()]}, {1: "a"}, {"a": {None: 1}}, {"a": b"x"}, {"a": 10**400}],
)
def test_values_without_json(data: Any) -> None:
    with pytest.raises(ValueError, match="a Struct cannot h"):
        to_struct(data)


def test_a_mapping_that_contains_itself() -> None:
    data: dict[str, Any] = {}
    data["self"] = data
    with pytest.raises(ValueError, match="nested this deep"):
        to_struct(data)


def test_invalid_unicode_is_replaced() -> None:
    assert well_formed("naïve 🎙") == "naïve 🎙"
    assert well_formed("\ud800x\udfff") == "\ufffdx\ufffd"
    assert well_formed("\ud83d\ude00") == "\U0001f600"
