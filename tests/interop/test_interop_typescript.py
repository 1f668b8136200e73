"""Hosts and drivers that are made of the generated TypeScript, with each other peer over TCP.

The expected values are those of typescript/src/scripted.ts and host.ts, written down once more as
they must be on the wire.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from interop_subprocesses import PeerError
from interop_expected import expected_events, as_received
from interop_peers import JS, KINDS, OURS, TYPESCRIPT, TYPESCRIPT_2, Pair, paired, skip_if_missing
from interop_raw_host import UNKNOWN_REQUEST
from interop_typescript import VERSIONS, project, run_tool, typescript_is_missing, unformatted
from interop_conversation import Conversation, run_conversation
from interop_messages import comparable, event_payload

TIME = "2023-11-14T22:13:20.123250Z"
MESSAGE = {
    "id": "item_1",
    "role": "ASSISTANT",
    "content": [{"text": "Good day"}, {"text": "be kind"}],
    "interrupted": True,
    "transcript_confidence": 0.5,
    "extra": {"n": "1", "deep": '{"a":[1]}', "text": "x"},
    "metrics": {
        "started_speaking_at": "2023-11-14T22:13:20.500Z",
        "llm_node_ttft": 0.25,
        "e2e_latency": 0.0,
    },
    "created_at": "1969-12-31T23:59:59.998500Z",
}
CALL = {
    "id": "item_2",
    "call_id": "call_1",
    "arguments": '{"a":1}',
    "name": "find",
    "created_at": TIME,
}
OUTPUT = {
    "id": "item_3",
    "name": "find",
    "call_id": "call_1",
    "output": "found",
    "is_error": True,
    "created_at": TIME,
}
ITEMS = [
    {"message": MESSAGE},
    {"function_call": CALL},
    {"function_call_output": OUTPUT},
    {"agent_handoff": {"id": "item_4", "new_agent_id": "manager", "created_at": TIME}},
    {
        "agent_config_update": {
            "id": "item_5",
            "instructions": "listen",
            "tools_added": ["find"],
            "created_at": TIME,
        }
    },
]
USAGE = {
    "model_usage": [
        {"llm": {"provider": "p", "model": "m", "input_tokens": 1, "session_duration": 1.5}},
        {"tts": {"characters_count": 3, "audio_duration": 0.25}},
        {"stt": {"input_tokens": 4, "audio_duration": 0.5}},
        {"interruption": {"total_requests": 5}},
        {"eot": {"total_requests": 6}},
    ]
}
ANSWERS: dict[str, Any] = {
    "ping": {},
    "get_chat_history": {"items": ITEMS},
    "run_input": {"items": ITEMS[:1]},
    "get_agent_info": {"id": "clerk", "tools": ["find"]},
    "get_session_state": {
        "agent_state": "AS_LISTENING",
        "user_state": "US_AWAY",
        "agent_id": "clerk",
        "options": {"max_tool_steps": "3"},
        "created_at": "1969-12-31T23:59:59.998500Z",
    },
    "get_rtc_stats": {"publisher_stats": [{"id": "a", "bytes": 1.0}]},
    "get_session_usage": {"usage": USAGE, "created_at": "1970-01-01T00:00:00Z"},
    "get_framework_info": {"sdk": "generated", "sdk_version": "1"},
    "update_io": {},
}
SWITCHES = {"input": {"audio_enabled": False}, "output": {"transcription_enabled": True}}
FIELDS: dict[str, Any] = {"run_input": {"text": "hello"}, "update_io": SWITCHES}
EVENTS: dict[str, Any] = {
    "agent_state_changed": {"old_state": "AS_IDLE", "new_state": "AS_SPEAKING"},
    "user_state_changed": {"new_state": "US_AWAY"},
    "conversation_item_added": {"item": {"message": MESSAGE}},
    "user_input_transcribed": {"transcript": "grüß dich \U0001f642", "is_final": True},
    "function_tools_executed": {"function_calls": [CALL], "function_call_outputs": [OUTPUT]},
    "error": {"message": "the model"},
    "overlapping_speech": {
        "is_interruption": True,
        "overlap_started_at": TIME,
        "detected_at": TIME,
        "detection_delay": 0.75,
    },
    "session_usage_updated": {"usage": USAGE},
    "amd_prediction": {
        "speech_duration": "1.500s",
        "category": "AMD_MACHINE_VM",
        "reason": "llm",
        "transcript": "leave a message",
        "delay": "0.000250s",
    },
    "eot_prediction": {
        "probability": 0.75,
        "threshold": 0.5,
        "inference_duration": "0.125s",
        "delay": "0.500s",
    },
    "function_tools_started": {"function_calls": [CALL]},
    "debug_message": {"payload": {"step": 3.0, "tags": ["a", None], "deep": {"ok": True}}},
    "tool_execution_updated": {
        "update": None,
        "ended": {"id": "call_1", "call_id": "call_1", "message": "found", "status": "TC_DONE"},
    },
    "agent_false_interruption": {"resumed": True},
    "session_closed": {"reason": "CR_ERROR", "error": "the model"},
}
del EVENTS["tool_execution_updated"]["update"]


HOSTS = (TYPESCRIPT, TYPESCRIPT_2)
SERVED = [(host, driver) for host in HOSTS for driver in (*KINDS, *HOSTS)]


@pytest.fixture(scope="module", params=SERVED, ids=lambda pair: f"{pair[0]}_host-{pair[1]}_driver")
def served(request: pytest.FixtureRequest) -> Iterator[tuple[str, Pair]]:
    """A driver of each kind with a generated host."""
    host, driver = request.param
    skip_if_missing(host, driver)
    with paired(host, driver) as pair:
        yield driver, pair


def test_a_generated_host_answers(served: tuple[str, Pair]) -> None:
    _, pair = served
    assert set(ANSWERS) | {"finalize_simulation"} >= pair.requests
    for name in pair.requests - {"finalize_simulation"}:
        answer = pair.driver.call("request", name=name, fields=FIELDS.get(name, {}))
        assert plain(answer) == plain(ANSWERS[name]), name
    if "update_io" in pair.requests:
        assert pair.host.call("facts")["switches"] == SWITCHES


def plain(value: Any) -> Any:
    """Returns JSON in which numbers and times have one form in all languages."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if isinstance(value, str) and value.endswith(("Z", "s")) and "." in value:
        return value[:-1].rstrip("0").rstrip(".") + value[-1]
    return float(value) if type(value) is int else value


def test_a_generated_host_refuses(served: tuple[str, Pair]) -> None:
    driver, pair = served
    with pytest.raises(PeerError, match="empty run_input text"):
        pair.driver.call("request", name="run_input", fields={"text": ""})
    with pytest.raises(PeerError, match="internal error"):
        pair.driver.call("request", name="run_input", fields={"text": "fail"})
    assert "runInput: Error: a secret of the host" in pair.host.call("facts")["errors"]
    verdict = {"provisional_success": True, "provisional_reason": "good"}
    with pytest.raises(PeerError, match="the judge failed") as refused:
        pair.driver.call("request", name="finalize_simulation", fields=verdict)
    # These drivers report the payload beside the error.
    assert ("not good" in str(refused.value)) == (driver in (JS, *HOSTS))
    with pytest.raises(PeerError, match="unimplemented request: field 99"):
        pair.driver.call("unknown", content=UNKNOWN_REQUEST, timeout_s=10.0)


def test_a_generated_host_reports_events(served: tuple[str, Pair]) -> None:
    _, pair = served
    arms = pair.host.call("arms")
    assert {name for _, name in arms} in (set(EVENTS), set(EVENTS) - {"session_closed"})
    for arm, name in arms:
        if name not in pair.listens:
            continue
        count = len(pair.driver.events)
        pair.host.call("emit", arm=arm)
        pair.driver.wait(lambda: len(pair.driver.events) > count, f"the event {name}")
        event = pair.driver.events[-1]
        assert (event["event"], plain(event["payload"])) == (name, plain(EVENTS[name]))
        if "created_at" in event:
            assert plain(event["created_at"]) == "2023-11-14T22:13:20.5Z"


DRIVERS = [(host, driver) for driver in HOSTS for host in KINDS]


@pytest.fixture(scope="module", params=DRIVERS, ids=lambda pair: f"{pair[0]}_host-{pair[1]}_driver")
def conversation(request: pytest.FixtureRequest) -> Iterator[Conversation]:
    """A conversation of a generated driver with each host."""
    host, driver = request.param
    skip_if_missing(host, driver)
    with run_conversation(host, driver) as conversation:
        yield conversation


def test_a_generated_driver_sends_every_request(conversation: Conversation) -> None:
    assert (
        conversation.answered
        == conversation.pair.requests
        == set(ANSWERS) | {"finalize_simulation"}
    )
    assert isinstance(conversation.answers["run_input (empty)"], PeerError)
    assert conversation.answers["run_input (empty)"].kind == "RequestError"
    assert conversation.answers["get_framework_info first"]["sdk"] in (
        "python",
        "js",
        "agent-session",
    )


def test_a_generated_driver_receives_every_event(conversation: Conversation) -> None:
    for arm, expected in expected_events(conversation.host).items():
        if arm in conversation.pair.listens:
            received = [comparable(event_payload(event)) for event in conversation.events_of(arm)]
            driver = JS if conversation.driver == TYPESCRIPT else OURS
            assert received == as_received(driver, expected), arm


def test_a_generated_driver_learns_of_unknown_requests(conversation: Conversation) -> None:
    assert conversation.unknown is not None
    if conversation.host == OURS:
        assert (
            "unimplemented request" in conversation.unknown.message
            and "99" in conversation.unknown.message
        )
    else:
        assert "timed out" in conversation.unknown.message


@pytest.fixture(scope="module", params=VERSIONS)
def sources(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The generated modules and the programs, with the settings of agents-js."""
    if reason := typescript_is_missing(request.param):
        pytest.skip(reason)
    return project(tmp_path_factory.mktemp("sources"), request.param)


def test_the_generated_modules_are_formatted(sources: Path) -> None:
    assert unformatted(sources, "generated/*.ts", "src/*.ts") == []


def test_the_generated_modules_pass_eslint(sources: Path) -> None:
    status, output = run_tool(sources, "eslint", "generated", "src")
    assert (status, output) == (0, "")
