"""The encoders of Python and TypeScript make the same message of the same facts.

The two SDKs spell and measure the facts differently: Python counts seconds, JavaScript mostly
milliseconds. Each field of the messages with times is listed here with its unit in both, so that a
unit that is swapped in either encoder is a difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import reduce
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol import encoders
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from interop_peers import TYPESCRIPT, TYPESCRIPT_2, program, running_peer, skip_if_missing
from interop_subprocesses import Peer

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
COUNT = st.integers(0, 2**31 - 1)
# Multiples of an eighth, which both languages hold exactly in seconds and in milliseconds.
SPAN = st.integers(0, 2**20).map(lambda eighths: eighths / 8)
TIME = st.integers(-(2**34), 2**34).map(lambda eighths: eighths / 8)


class Fact(NamedTuple):
    """A fact: its names in Python and in JavaScript, its values, and the factor between them."""

    python: str
    javascript: str
    values: st.SearchStrategy[Any]
    factor: int = 1


CREATED = Fact("created_at", "createdAt", TIME, 1000)
# One entry at most, as the languages differ in the order of entries.
ENTRY = st.dictionaries(TEXT, TEXT, max_size=1)
ID = Fact("id", "id", TEXT)
MODEL = [Fact("provider", "provider", TEXT), Fact("model", "model", TEXT)]


def same(strategy: st.SearchStrategy[Any], *names: str) -> list[Fact]:
    """Returns facts that differ in the case of their names alone."""
    return [Fact(name, camel(name), strategy) for name in names]


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


MESSAGES: Mapping[str, tuple[str, list[Fact]]] = {
    "encode_function_call": (
        "encodeFunctionCall",
        [ID, CREATED, *same(TEXT, "call_id", "name"), Fact("arguments", "args", TEXT)],
    ),
    "encode_function_call_output": (
        "encodeFunctionCallOutput",
        [ID, CREATED, *same(TEXT, "call_id", "name", "output"), *same(st.booleans(), "is_error")],
    ),
    "encode_agent_handoff": (
        "encodeAgentHandoff",
        [
            ID,
            CREATED,
            *same(TEXT, "new_agent_id"),
            Fact("old_agent_id", "oldAgentId", st.none() | TEXT),
        ],
    ),
    "encode_llm_model_usage": (
        "encodeLLMModelUsage",
        [
            *MODEL,
            *same(COUNT, "input_tokens", "input_cached_tokens", "input_audio_tokens"),
            *same(COUNT, "input_cached_audio_tokens", "input_text_tokens"),
            *same(COUNT, "input_cached_text_tokens", "input_image_tokens"),
            *same(COUNT, "input_cached_image_tokens", "output_tokens"),
            *same(COUNT, "output_audio_tokens", "output_text_tokens"),
            Fact("session_duration", "sessionDurationMs", SPAN, 1000),
        ],
    ),
    "encode_tts_model_usage": (
        "encodeTTSModelUsage",
        [
            *MODEL,
            *same(COUNT, "input_tokens", "output_tokens", "characters_count"),
            Fact("audio_duration", "audioDurationMs", SPAN, 1000),
        ],
    ),
    "encode_stt_model_usage": (
        "encodeSTTModelUsage",
        [
            *MODEL,
            *same(COUNT, "input_tokens", "output_tokens"),
            Fact("audio_duration", "audioDurationMs", SPAN, 1000),
        ],
    ),
    "encode_eot_prediction": (
        "encodeAgentSessionEventEotPrediction",
        [
            *same(st.floats(0, 1, width=32), "probability", "threshold"),
            Fact("inference_duration", "inferenceDurationMs", SPAN, 1000),
            Fact("delay", "delayMs", SPAN, 1000),
        ],
    ),
    "encode_amd_prediction": (
        "encodeAgentSessionEventAmdPrediction",
        [
            *same(TEXT, "reason", "transcript"),
            *same(st.sampled_from(["human", "machine-vm", "never heard of"]), "category"),
            Fact("speech_duration", "speechDurationMs", SPAN, 1000),
            Fact("delay", "delayMs", SPAN, 1000),
        ],
    ),
    "encode_overlapping_speech": (
        "encodeAgentSessionEventOverlappingSpeech",
        [
            *same(st.booleans(), "is_interruption"),
            Fact("overlap_started_at", "overlapStartedAt", TIME, 1000),
            Fact("detected_at", "detectedAt", TIME, 1000),
            Fact("detection_delay", "detectionDelayInS", SPAN),
        ],
    ),
    "encode_metrics_report": (
        "encodeMetricsReport",
        [
            *same(TIME, "started_speaking_at", "stopped_speaking_at"),
            *same(SPAN, "transcription_delay", "end_of_turn_delay", "llm_node_ttft"),
            *same(SPAN, "on_user_turn_completed_delay", "tts_node_ttfb", "e2e_latency"),
            *same(SPAN, "llm_node_tps", "llm_node_ttfs"),
        ],
    ),
    "encode_chat_message": (
        "encodeChatMessage",
        [
            ID,
            CREATED,
            *same(st.sampled_from(["developer", "system", "user", "assistant"]), "role"),
            *same(st.lists(TEXT, max_size=3), "content"),
            *same(st.booleans(), "interrupted"),
            *same(st.none() | st.floats(0, 1), "transcript_confidence"),
            *same(ENTRY, "extra"),
            *same(st.just({}), "metrics"),
        ],
    ),
    "encode_agent_config_update": (
        "encodeAgentConfigUpdate",
        [
            ID,
            CREATED,
            *same(st.none() | TEXT, "instructions"),
            *same(st.none() | st.lists(TEXT, max_size=3), "tools_added", "tools_removed"),
        ],
    ),
    "encode_get_session_state_response": (
        "encodeSessionResponseGetSessionStateResponse",
        [
            CREATED,
            *same(st.sampled_from(["initializing", "idle", "listening"]), "agent_state"),
            *same(st.sampled_from(["speaking", "listening", "away"]), "user_state"),
            *same(TEXT, "agent_id"),
            *same(ENTRY, "options"),
        ],
    ),
    "encode_get_session_usage_response": (
        "encodeSessionResponseGetSessionUsageResponse",
        [CREATED, *same(st.none(), "usage")],
    ),
}
# Attributes of the SDKs' objects that the published messages of JavaScript lack.
NOT_PUBLISHED: Mapping[str, Mapping[str, Any]] = {"encode_function_call": {"extra": {}}}


# Fields with a time, by their names. Those of the event and of asynchronous tools have no counterpart.
TIME_FIELD = re.compile(r"(_at|_duration|_delay|_latency|_ttf[tbs])$|^delay$")
WITHOUT_COUNTERPART = {"encode_agent_session_event"}


def test_each_field_with_a_time_is_listed() -> None:
    for name, encode in vars(encoders).items():
        if not name.startswith("encode_") or name in WITHOUT_COUNTERPART:
            continue
        path = encode.__annotations__["return"].split(".")[1:]
        message: Any = reduce(getattr, path, pb)
        fields = message.DESCRIPTOR.fields_by_name
        times = {item for item in fields if TIME_FIELD.search(item)}
        listed = {fact.python for fact in MESSAGES[name][1]} if name in MESSAGES else set[str]()
        assert times <= listed, name


@pytest.fixture(scope="module", params=[TYPESCRIPT, TYPESCRIPT_2])
def typescript(request: pytest.FixtureRequest) -> Iterator[Peer]:
    skip_if_missing(request.param)
    command = program("driver", request.param)
    with running_peer([*command[:-1], command[-1].replace("driver.js", "encode.js")]) as peer:
        yield peer


@pytest.mark.parametrize("name", MESSAGES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(data=st.data())
def test_the_same_facts_are_the_same_message(
    typescript: Peer, name: str, data: st.DataObject
) -> None:
    javascript, facts = MESSAGES[name]
    rows = data.draw(st.lists(st.tuples(*(fact.values for fact in facts)), min_size=5, max_size=5))
    expected, sources = [], []
    for row in rows:
        values = dict(zip(facts, row, strict=True))
        source: Any = {fact.python: value for fact, value in values.items()}
        if name != "encode_metrics_report":  # a dict in Python, whose keys may all be absent
            source = SimpleNamespace(**source, **NOT_PUBLISHED.get(name, {}))
        encoded = getattr(encoders, name)(source)
        expected.append(encoded.SerializeToString(deterministic=True).hex())
        scaled_values = {fact.javascript: scaled(value, fact) for fact, value in values.items()}
        sources.append({**scaled_values, **NOT_PUBLISHED.get(name, {})})
    assert typescript.call("encode", name=javascript, sources=sources) == expected


def scaled(value: Any, fact: Fact) -> Any:
    return value if fact.factor == 1 else value * fact.factor
