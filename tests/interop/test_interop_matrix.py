"""Each host with each driver: every request, and every event that the host can raise.

The expected messages are in `interop_expected.py`; ids and times are compared with the session.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_session_protocol import agent_session_pb2 as pb
from google.protobuf.timestamp_pb2 import Timestamp
from interop_subprocesses import PeerError
from interop_expected import (
    CLERK,
    MANAGER,
    SDK_EVENT_TIMES,
    SDK_EVENTS,
    RUN_ERRORS,
    RUNS,
    TOOLS,
    initial_context,
    expected_events,
    initial_history,
    messages,
    as_received,
    usage_at_the_end,
)
from interop_peers import (
    EXAMPLE,
    GENERATED,
    JAVASCRIPT,
    JS,
    KINDS,
    OURS,
    PYTHON,
    PYTHON_EXAMPLE,
    TITLES,
)
from interop_conversation import VERDICT, Conversation
from matrix import Cell, driver_gaps, host_gaps
from interop_messages import answer_payload, event_payload, item_of, comparable

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = {
    OURS: ("python", "1.8.9"),
    PYTHON: ("python", "1.8.9"),
    JS: ("js", "1.9.0"),
    EXAMPLE: ("js", "1.9.0"),
    PYTHON_EXAMPLE: ("python", "1.8.9"),
}
STATE = "agent_state_changed"
PAGE = (ROOT / "docs" / "interop.md").read_text(encoding="utf-8").splitlines()
# The precision of times in seconds. Python converts times with floats, JavaScript has milliseconds.
PRECISION = {OURS: 1e-6, PYTHON: 1e-6, JS: 1e-3, EXAMPLE: 1e-3, PYTHON_EXAMPLE: 1e-6}


def seconds(time: Timestamp) -> float:
    return time.seconds + time.nanos / 1e9


def payload(conversation: Conversation, key: str) -> Any:
    """Returns the answer to a request as a message. Skips if the driver has no method for it."""
    name = key.split(" ")[0]
    if name not in conversation.pair.requests:
        pytest.skip(f"the driver of {TITLES[conversation.driver]} has no method for {name}")
    answer = conversation.answers[key]
    assert not isinstance(answer, PeerError), f"{key}: {answer}"
    return answer_payload(name, answer)


def comparable_items(items: Any) -> list[dict[str, Any]]:
    return [comparable(item) for item in items]


def test_every_request_is_answered(conversation: Conversation) -> None:
    assert conversation.answered == conversation.pair.requests
    fewest = 10 if conversation.driver in GENERATED else 8
    assert len(conversation.answered) >= fewest


def test_the_page_has_the_numbers(conversation: Conversation) -> None:
    """docs/interop.md has what `matrix.py` prints, which closes the session in addition."""
    host, driver = conversation.host, conversation.driver
    if not {host, driver} <= set(KINDS):
        pytest.skip("the page has the published peers and ours")
    closing = {"session_closed"} if host == OURS else set()
    received = conversation.received | (closing & conversation.pair.listens)
    cell = Cell(conversation.answered, received, conversation.pair.listens)
    [row] = [line for line in PAGE if line.startswith(f"| host of {TITLES[host]} |")]
    assert row.split(" | ")[1 + KINDS.index(driver)].removesuffix(" |") == str(cell)
    if host == OURS:
        assert page_lines(driver, "driver") == driver_gaps(driver, [cell])
    if driver == OURS:
        assert page_lines(host, "host") == host_gaps(host, [cell])


def page_lines(kind: str, side: str) -> list[str]:
    """Returns the lines of the page that say what a host or a driver lacks."""
    return [line for line in PAGE if line.startswith(f"- {TITLES[kind]}: the {side} ")]


def test_ping(conversation: Conversation) -> None:
    assert payload(conversation, "ping first") == pb.SessionResponse.Pong()


def test_runs(conversation: Conversation) -> None:
    for text, items in RUNS[conversation.host].items():
        key = f"run_input {text}"
        error = RUN_ERRORS[conversation.host].get(text)
        if error is None:
            received = comparable_items(payload(conversation, key).items)
            assert received == as_received(conversation.driver, items), text
        else:
            assert isinstance(conversation.answers[key], PeerError)
            assert error in conversation.answers[key].message


def test_an_empty_text_is_an_error(conversation: Conversation) -> None:
    answer = conversation.answers["run_input (empty)"]
    assert isinstance(answer, PeerError) and "empty" in answer.message


def test_history(conversation: Conversation) -> None:
    assert comparable_items(
        payload(conversation, "get_chat_history first").items
    ) == initial_history(conversation.host)
    items = payload(conversation, "get_chat_history last").items
    said = [item for item in comparable_items(items) if "message" in item]
    assert said == messages(conversation.host)


def test_history_is_complete(conversation: Conversation) -> None:
    items = payload(conversation, "get_chat_history last").items
    received = [(item.WhichOneof("item"), item_of(item)) for item in items]
    known = conversation.final_facts["history"]
    if conversation.host in JAVASCRIPT:
        known = [item for item in known if item["type"] != "agent_config_update"]
    assert [(arm, item.id) for arm, item in received] == [
        (item["type"], item["id"]) for item in known
    ]
    for (_, item), fact in zip(received, known, strict=True):
        assert abs(seconds(item.created_at) - fact["created_at"]) <= PRECISION[conversation.host]


def test_agent_info(conversation: Conversation) -> None:
    first = payload(conversation, "get_agent_info first")
    assert (first.id, first.instructions, list(first.tools)) == ("clerk", CLERK, TOOLS)
    assert comparable_items(first.chat_ctx) == initial_context(conversation.host)
    last = payload(conversation, "get_agent_info last")
    assert (last.id, last.instructions, list(last.tools)) == ("manager", MANAGER, [])


def test_session_state(conversation: Conversation) -> None:
    state = payload(conversation, "get_session_state first")
    assert state.agent_state == pb.AS_LISTENING
    assert state.user_state == pb.US_LISTENING
    assert state.agent_id == "clerk"
    assert state.options["max_tool_steps"] == "3"
    off = abs(seconds(state.created_at) - conversation.initial_facts["started_at"])
    assert off <= PRECISION[conversation.host]


def test_rtc_stats(conversation: Conversation) -> None:
    """Only sessions that were started with a room may have statistics, once there are any."""
    stats = payload(conversation, "get_rtc_stats first")
    if conversation.host == OURS or not conversation.in_room:
        assert stats == pb.SessionResponse.GetRTCStatsResponse()


def test_session_usage(conversation: Conversation) -> None:
    assert comparable(payload(conversation, "get_session_usage first")) == {"usage": {}}
    last = payload(conversation, "get_session_usage last")
    assert comparable(last) == usage_at_the_end(conversation.host)
    assert seconds(last.created_at) >= conversation.initial_facts["started_at"]


def test_framework_info(conversation: Conversation) -> None:
    info = payload(conversation, "get_framework_info first")
    assert (info.sdk, info.sdk_version) == VERSIONS[conversation.host]


def test_update_io_sets_only_existing_switches(conversation: Conversation) -> None:
    assert payload(conversation, "update_io") == pb.SessionResponse.UpdateIOResponse()
    expected = {
        "input_audio": False,
        "input_video": True,
        "output_audio": False,
        "output_video": True,
        "output_transcription": False,
    }
    switches = conversation.final_facts["switches"]
    assert switches == {name: expected[name] for name in switches}


def test_the_agents_verdict(conversation: Conversation) -> None:
    verdict = payload(conversation, "finalize_simulation").user_verdict
    success = "true" if conversation.host in JAVASCRIPT else "True"
    assert not verdict.success
    assert verdict.reason == f"{VERDICT}; received {success}, all went well"


def test_the_first_state_of_the_agent_is_sent(conversation: Conversation) -> None:
    states = [
        event
        for event in conversation.events[: conversation.first_event]
        if event["event"] == STATE
    ]
    assert states[-1]["payload"]["new_state"] == "AS_LISTENING"
    if conversation.host == OURS:
        assert conversation.events[0] is states[0]


def test_events(conversation: Conversation) -> None:
    # In a room, @livekit/agents neither sends nor reads one message after the other.
    ordered = not conversation.in_room or JS not in (conversation.host, conversation.driver)
    for arm, expected in expected_events(conversation.host).items():
        received = [comparable(event_payload(event)) for event in conversation.events_of(arm)]
        is_listening = arm in conversation.pair.listens
        wanted = as_received(conversation.driver, expected) if is_listening else []
        if ordered:
            assert received == wanted, arm
        else:
            assert sorted(map(canonical, received)) == sorted(map(canonical, wanted)), arm


def canonical(event: Any) -> str:
    """Returns a text that is equal for equal events."""
    return json.dumps(event, sort_keys=True)


def test_there_are_no_unexpected_events(conversation: Conversation) -> None:
    kinds = {event["event"] for event in conversation.events[conversation.first_event :]}
    assert kinds <= expected_events(conversation.host).keys() & conversation.pair.listens


def test_errors_name_the_failure(conversation: Conversation) -> None:
    (event,) = conversation.events_of("error")
    # The JavaScript host sends the name of the model instead of the text of its error.
    text = "scripted-model" if conversation.host in JAVASCRIPT else "the model is down"
    assert text in event["payload"]["message"]


def test_times_of_events(conversation: Conversation) -> None:
    if conversation.driver == JS:
        pytest.skip(
            f"the driver of {TITLES[conversation.driver]} does not provide the times of events"
        )
    for event in conversation.events:
        expected = SDK_EVENT_TIMES[conversation.host].get(event["event"])
        time = Timestamp()
        time.FromJsonString(event["created_at"])
        if expected is None:
            assert conversation.initial_facts["started_at"] - 1 <= seconds(time) < 2**40
        else:
            assert seconds(time) == expected


def test_items_in_events_equal_those_of_the_history(conversation: Conversation) -> None:
    known = {item["id"]: item for item in conversation.final_facts["history"]}
    for event in conversation.events_of("conversation_item_added"):
        item = item_of(event_payload(event).item)  # type: ignore[attr-defined]
        off = seconds(item.created_at) - known[item.id]["created_at"]
        assert abs(off) <= PRECISION[conversation.host]


def test_metrics_of_speech(conversation: Conversation) -> None:
    for item in payload(conversation, "get_chat_history last").items:
        if item.message.role == pb.ASSISTANT:
            metrics = item.message.metrics
            began, ended = metrics.started_speaking_at, metrics.stopped_speaking_at
            assert conversation.initial_facts["started_at"] <= seconds(began) <= seconds(ended)
            assert metrics.llm_node_ttft > 0


def test_tool_calls_are_complete(conversation: Conversation) -> None:
    known = {item["id"] for item in conversation.final_facts["history"]}
    for event in conversation.events_of("function_tools_executed"):
        executed: Any = event_payload(event)
        for part in [*executed.function_calls, *executed.function_call_outputs]:
            if conversation.host in GENERATED:
                assert part.id in known and part.HasField("created_at")
            else:
                assert not part.id and not part.HasField("created_at")


def test_all_detector_events_are_emitted(conversation: Conversation) -> None:
    assert SDK_EVENTS.keys() & conversation.pair.listens <= conversation.received


def test_there_are_no_unexpected_log_entries(conversation: Conversation) -> None:
    if conversation.driver == OURS:
        # In rooms, the native library of livekit has log entries of its own.
        lines = conversation.pair.driver.log().splitlines()
        assert [line for line in lines if not line.startswith("livekit::")] == []
    if conversation.host == OURS:
        log = conversation.pair.host.log()
        for text in ("never retrieved", "was destroyed", "event not sent", "did not end"):
            assert text not in log


def test_a_request_unknown_to_the_host(conversation: Conversation) -> None:
    """Generated hosts refuse it. Published ones do not answer, and the request times out.

    The session continues in both cases.
    """
    error = conversation.unknown
    assert error is not None
    if conversation.host in GENERATED:
        assert "unimplemented request" in error.message and "99" in error.message
    else:
        kinds = {OURS: "RequestTimedOut", JS: "Error", EXAMPLE: "Error"}
        assert error.kind == kinds.get(conversation.driver, "TimeoutError")
        assert conversation.driver not in JAVASCRIPT or "timed out" in error.message
    info = conversation.pair.driver.call("request", name="get_framework_info", fields={})
    assert info["sdk"] == VERSIONS[conversation.host][0]


def test_the_session_continues_without_its_driver(conversation: Conversation) -> None:
    """The last test of a conversation: closes our driver, kills the others."""
    if conversation.driver == OURS:
        conversation.pair.driver.call("close")
        outcome = conversation.pair.driver.note("outcome")
        assert (outcome["kind"], outcome["by_driver"]) == ("Lost", True)
    else:
        conversation.pair.driver.kill()
    conversation.pair.host.call("emit", arm="user_input_transcribed")
    assert conversation.pair.host.call("facts")["history"] == conversation.final_facts["history"]
    assert not conversation.pair.host.has_noted("closed")
