"""Each host with each driver: every request, and every event that the host can raise.

What must come is in `interop_expected.py`; ids and times are held against the session itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from agent_session_protocol import agent_session_pb2 as pb
from google.protobuf.timestamp_pb2 import Timestamp
from interop_children import PeerError
from interop_expected import (
    CLERK,
    MANAGER,
    MOMENT_TIMES,
    MOMENTS,
    RUN_ERRORS,
    RUNS,
    TOOLS,
    context_at_first,
    events_expected,
    history_at_first,
    messages,
    read_by,
    usage_at_the_end,
)
from interop_peers import JS, KINDS, OURS, PYTHON, TITLES, skip_unless_there
from interop_visit import VERDICT, Visit, visiting
from interop_wire import answer_payload, event_payload, item_of, settled

PAIRS = [(host, driver) for host in KINDS for driver in KINDS]
VERSIONS = {OURS: ("python", "1.8.9"), PYTHON: ("python", "1.8.9"), JS: ("js", "1.9.0")}
STATE = "agent_state_changed"
# Seconds. Python turns a time into nanoseconds by way of a float, JavaScript has milliseconds.
EXACTNESS = {OURS: 1e-6, PYTHON: 1e-6, JS: 1e-3}


@pytest.fixture(scope="module", params=PAIRS, ids=lambda pair: f"{pair[0]}_host-{pair[1]}_driver")
def visit(request: pytest.FixtureRequest) -> Iterator[Visit]:
    host, driver = request.param
    skip_unless_there(host, driver)
    with visiting(host, driver) as held:
        yield held


def seconds(time: Timestamp) -> float:
    return time.seconds + time.nanos / 1e9


def payload(visit: Visit, key: str) -> Any:
    """The answer to a request, as a message; skips what the driver has no method for."""
    name = key.split(" ")[0]
    if name not in visit.pair.requests:
        pytest.skip(f"the driver of {TITLES[visit.driver]} has no method for {name}")
    answer = visit.answers[key]
    assert not isinstance(answer, PeerError), f"{key}: {answer}"
    return answer_payload(name, answer)


def settled_items(items: Any) -> list[dict[str, Any]]:
    return [settled(item) for item in items]


def test_every_request_is_answered(visit: Visit) -> None:
    assert visit.answered == visit.pair.requests
    fewest = 10 if visit.driver == OURS else 8
    assert len(visit.answered) >= fewest


def test_ping(visit: Visit) -> None:
    assert payload(visit, "ping first") == pb.SessionResponse.Pong()


def test_runs(visit: Visit) -> None:
    for text, items in RUNS[visit.host].items():
        key = f"run_input {text}"
        error = RUN_ERRORS[visit.host].get(text)
        if error is None:
            told = settled_items(payload(visit, key).items)
            assert told == read_by(visit.driver, items), text
        else:
            assert isinstance(visit.answers[key], PeerError)
            assert error in visit.answers[key].message


def test_an_empty_text_is_an_error(visit: Visit) -> None:
    answer = visit.answers["run_input (nothing)"]
    assert isinstance(answer, PeerError) and "empty" in answer.message


def test_history(visit: Visit) -> None:
    assert settled_items(payload(visit, "get_chat_history first").items) == history_at_first(
        visit.host
    )
    items = payload(visit, "get_chat_history then").items
    said = [item for item in settled_items(items) if "message" in item]
    assert said == messages(visit.host)


def test_history_is_complete(visit: Visit) -> None:
    items = payload(visit, "get_chat_history then").items
    told = [(item.WhichOneof("item"), item_of(item)) for item in items]
    known = visit.afterwards["history"]
    if visit.host == JS:
        known = [item for item in known if item["type"] != "agent_config_update"]
    assert [(arm, item.id) for arm, item in told] == [(item["type"], item["id"]) for item in known]
    for (_, item), fact in zip(told, known, strict=True):
        assert abs(seconds(item.created_at) - fact["created_at"]) <= EXACTNESS[visit.host]


def test_agent_info(visit: Visit) -> None:
    first = payload(visit, "get_agent_info first")
    assert (first.id, first.instructions, list(first.tools)) == ("clerk", CLERK, TOOLS)
    assert settled_items(first.chat_ctx) == context_at_first(visit.host)
    then = payload(visit, "get_agent_info then")
    assert (then.id, then.instructions, list(then.tools)) == ("manager", MANAGER, [])


def test_session_state(visit: Visit) -> None:
    state = payload(visit, "get_session_state first")
    assert state.agent_state == pb.AS_LISTENING
    assert state.user_state == pb.US_LISTENING
    assert state.agent_id == "clerk"
    assert state.options["max_tool_steps"] == "3"
    off = abs(seconds(state.created_at) - visit.at_first["started_at"])
    assert off <= EXACTNESS[visit.host]


def test_rtc_stats_without_a_room(visit: Visit) -> None:
    stats = payload(visit, "get_rtc_stats first")
    assert stats == pb.SessionResponse.GetRTCStatsResponse()


def test_session_usage(visit: Visit) -> None:
    assert settled(payload(visit, "get_session_usage first")) == {"usage": {}}
    then = payload(visit, "get_session_usage then")
    assert settled(then) == usage_at_the_end(visit.host)
    assert seconds(then.created_at) >= visit.at_first["started_at"]


def test_framework_info(visit: Visit) -> None:
    info = payload(visit, "get_framework_info first")
    assert (info.sdk, info.sdk_version) == VERSIONS[visit.host]


def test_update_io_sets_only_existing_switches(visit: Visit) -> None:
    assert payload(visit, "update_io") == pb.SessionResponse.UpdateIOResponse()
    expected = {
        "input_audio": False,
        "input_video": True,
        "output_audio": False,
        "output_video": True,
        "output_transcription": False,
    }
    switches = visit.afterwards["switches"]
    assert switches == {name: expected[name] for name in switches}


def test_the_agents_verdict(visit: Visit) -> None:
    verdict = payload(visit, "finalize_simulation").user_verdict
    told = "true" if visit.host == JS else "True"
    assert not verdict.success
    assert verdict.reason == f"{VERDICT}; told {told}, all went well"


def test_the_first_state_of_the_agent_is_sent(visit: Visit) -> None:
    told = [event for event in visit.events[: visit.beginning] if event["event"] == STATE]
    assert told[-1]["payload"]["new_state"] == "AS_LISTENING"
    if visit.host == OURS:
        assert visit.events[0] is told[0]


def test_events(visit: Visit) -> None:
    for arm, expected in events_expected(visit.host).items():
        heard = [settled(event_payload(event)) for event in visit.heard(arm)]
        listened = arm in visit.pair.listens
        assert heard == (read_by(visit.driver, expected) if listened else []), arm


def test_there_are_no_unexpected_events(visit: Visit) -> None:
    kinds = {event["event"] for event in visit.events[visit.beginning :]}
    assert kinds <= events_expected(visit.host).keys() & visit.pair.listens


def test_errors_name_the_failure(visit: Visit) -> None:
    (event,) = visit.heard("error")
    # The JavaScript host tells the name of the model, and not what it raised.
    text = "scripted-model" if visit.host == JS else "the model is down"
    assert text in event["payload"]["message"]


def test_times_of_events(visit: Visit) -> None:
    if visit.driver == JS:
        pytest.skip(f"the driver of {TITLES[visit.driver]} does not tell when events were made")
    for event in visit.events:
        moment = MOMENT_TIMES[visit.host].get(event["event"])
        time = Timestamp()
        time.FromJsonString(event["created_at"])
        if moment is None:
            assert visit.at_first["started_at"] - 1 <= seconds(time) < 2**40
        else:
            assert seconds(time) == moment


def test_items_in_events_equal_those_of_the_history(visit: Visit) -> None:
    known = {item["id"]: item for item in visit.afterwards["history"]}
    for event in visit.heard("conversation_item_added"):
        item = item_of(event_payload(event).item)  # type: ignore[attr-defined]
        off = seconds(item.created_at) - known[item.id]["created_at"]
        assert abs(off) <= EXACTNESS[visit.host]


def test_metrics_of_speech(visit: Visit) -> None:
    for item in payload(visit, "get_chat_history then").items:
        if item.message.role == pb.ASSISTANT:
            metrics = item.message.metrics
            began, ended = metrics.started_speaking_at, metrics.stopped_speaking_at
            assert visit.at_first["started_at"] <= seconds(began) <= seconds(ended)
            assert metrics.llm_node_ttft > 0


def test_tool_calls_are_complete(visit: Visit) -> None:
    known = {item["id"] for item in visit.afterwards["history"]}
    for event in visit.heard("function_tools_executed"):
        executed: Any = event_payload(event)
        for part in [*executed.function_calls, *executed.function_call_outputs]:
            if visit.host == OURS:
                assert part.id in known and part.HasField("created_at")
            else:
                assert not part.id and not part.HasField("created_at")


def test_all_detector_events_are_emitted(visit: Visit) -> None:
    assert MOMENTS.keys() & visit.pair.listens <= visit.received


def test_there_are_no_unexpected_log_entries(visit: Visit) -> None:
    if visit.driver == OURS:
        assert visit.pair.driver.log() == ""
    if visit.host == OURS:
        log = visit.pair.host.log()
        for complaint in ("never retrieved", "was destroyed", " event: ", "did not end"):
            assert complaint not in log


def test_a_request_unknown_to_the_host(visit: Visit) -> None:
    """Ours says so at once. Published hosts say nothing: the driver waits no longer than it was
    told to, and the session goes on."""
    error = visit.unknown
    assert error is not None
    if visit.host == OURS:
        assert "unimplemented request" in error.message and "99" in error.message
    else:
        kinds = {OURS: "RequestTimedOut", PYTHON: "TimeoutError", JS: "Error"}
        assert error.kind == kinds[visit.driver]
        assert visit.driver != JS or "timed out" in error.message
    info = visit.pair.driver.ask("request", name="get_framework_info", given={})
    assert info["sdk"] == VERSIONS[visit.host][0]


def test_the_session_goes_on_without_its_driver(visit: Visit) -> None:
    """The last test of a visit, as it ends it: our driver closes, the others are killed."""
    if visit.driver == OURS:
        visit.pair.driver.ask("close")
        outcome = visit.pair.driver.note("outcome")
        assert (outcome["kind"], outcome["by_driver"]) == ("Lost", True)
    else:
        visit.pair.driver.kill()
    visit.pair.host.ask("happen", arm="user_input_transcribed")
    assert visit.pair.host.ask("facts")["history"] == visit.afterwards["history"]
    assert not visit.pair.host.has_noted("closed")
