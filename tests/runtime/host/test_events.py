"""The events of a host."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from agent_session.host.nesting import MAX_NESTING, exceeds_nesting
from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.events import SDK_EVENTS
from google.protobuf.struct_pb2 import Struct
from scripted_session import PlainSession, chat_message, hosted
from transport_messages import run

AT = 1_700_000_000.5
CALL = {
    "type": "function_call",
    "id": "item_1",
    "call_id": "call_1",
    "arguments": "{}",
    "name": "look",
    "created_at": AT,
    "extra": {"signature": 7},
}
OUTPUT = {
    "type": "function_call_output",
    "id": "item_2",
    "name": "look",
    "call_id": "call_1",
    "output": "a parcel",
    "is_error": False,
    "created_at": AT,
}
# For each arm: the object that the SDK emits, and a condition on the event.
SOURCES: dict[str, tuple[dict[str, Any], Any]] = {
    "agent_state_changed": (
        {"old_state": "thinking", "new_state": "speaking"},
        lambda event: event.agent_state_changed.new_state == pb.AS_SPEAKING,
    ),
    "user_state_changed": (
        {"old_state": "listening", "new_state": "away"},
        lambda event: event.user_state_changed.old_state == pb.US_LISTENING,
    ),
    "conversation_item_added": (
        {"item": chat_message(1, "hi")},
        lambda event: event.conversation_item_added.item.message.id == "item_1",
    ),
    "user_input_transcribed": (
        {"transcript": "hi", "is_final": True, "language": "de-CH"},
        lambda event: event.user_input_transcribed.language == "de-CH",
    ),
    "function_tools_executed": (
        {"function_calls": [CALL], "function_call_outputs": [OUTPUT, None]},
        lambda event: (
            event.function_tools_executed.function_calls[0].extra["signature"] == "7"
            and len(event.function_tools_executed.function_call_outputs) == 1
        ),
    ),
    "error": ({"message": "it broke"}, lambda event: event.error.message == "it broke"),
    "overlapping_speech": (
        {
            "is_interruption": True,
            "overlap_started_at": AT,
            "detection_delay": 0.25,
            "detected_at": AT,
        },
        lambda event: event.overlapping_speech.detected_at.nanos == 500_000_000,
    ),
    "session_usage_updated": (
        {"usage": {"model_usage": []}},
        lambda event: event.session_usage_updated.HasField("usage"),
    ),
    "amd_prediction": (
        {
            "speech_duration": 1.5,
            "category": "machine-ivr",
            "reason": "llm",
            "transcript": "press one",
            "delay": 0.0,
        },
        lambda event: event.amd_prediction.category == pb.AMD_MACHINE_IVR,
    ),
    "eot_prediction": (
        {"probability": 0.5, "threshold": 0.25, "inference_duration": 0.125, "delay": 2.0},
        lambda event: event.eot_prediction.delay.seconds == 2,
    ),
    "function_tools_started": (
        {"function_calls": [CALL]},
        lambda event: event.function_tools_started.function_calls[0].call_id == "call_1",
    ),
    "debug_message": (
        {"payload": {"step": 3}},
        lambda event: event.debug_message.payload["step"] == 3,
    ),
    "tool_execution_updated": (
        {"update": {"type": "tool_call_ended", "id": "1", "call_id": "c", "status": "cancelled"}},
        lambda event: event.tool_execution_updated.ended.status == pb.TC_CANCELLED,
    ),
    "agent_false_interruption": (
        {"resumed": True},
        lambda event: event.agent_false_interruption.resumed,
    ),
}


def test_the_first_message_of_a_host_is_the_state_of_the_agent() -> None:
    async def main() -> None:
        session = PlainSession()
        session.state["agent_state"] = "thinking"
        async with hosted(session) as (driver, _, _):
            await driver.send("ping")
            await driver.answer("1")
        first = driver.messages[0].event
        assert first.agent_state_changed.old_state == pb.AS_THINKING
        assert first.agent_state_changed.new_state == pb.AS_THINKING
        assert first.created_at.seconds > 1_700_000_000

    run(main())


def test_every_arm_of_the_contract_has_a_test_here() -> None:
    assert set(SOURCES) | {"session_closed"} == set(SDK_EVENTS)


@pytest.mark.parametrize("arm", SOURCES)
def test_an_event_is_forwarded_with_its_own_time(arm: str) -> None:
    async def main() -> None:
        session = PlainSession()
        source, known = SOURCES[arm]
        async with hosted(session) as (driver, _, _):
            session.emit(SDK_EVENTS[arm], {**source, "created_at": AT})  # type: ignore[index]
            await driver.until(lambda: len(driver.events) == 2)
        event = driver.events[1]
        assert event.WhichOneof("event") == arm and known(event)
        assert (event.created_at.seconds, event.created_at.nanos) == (1_700_000_000, 500_000_000)

    run(main())


def test_an_event_without_a_time_gets_the_current_time() -> None:
    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            session.emit("error", {"message": "x"})
            event = await driver.event("error")
        assert event.created_at.seconds > 1_700_000_000

    run(main())


def test_events_keep_their_order() -> None:
    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            for number in range(1_000):
                session.emit("error", {"message": str(number)})
            await driver.until(lambda: len(driver.events) == 1_001)
        assert [event.error.message for event in driver.events[1:]] == list(map(str, range(1_000)))

    run(main())


@pytest.mark.parametrize(
    ("arm", "source", "logged"),
    [
        ("agent_state_changed", {"old_state": "idle", "new_state": "asleep"}, "asleep"),
        ("user_state_changed", {"old_state": None, "new_state": "away"}, "UserState"),
        ("tool_execution_updated", {"update": {"type": "tool_call_ended", "id": "1", "call_id": "c",
                                               "message": None, "status": "lost"}}, "lost"),
        ("user_input_transcribed", {"transcript": "secret"}, "AttributeError"),
        ("user_input_transcribed", {"transcript": 7, "is_final": True}, "TypeError"),
        ("error", None, "AttributeError"),
        ("debug_message", {"payload": {"secret": object()}}, "ValueError"),
        ("user_input_transcribed",
         {"transcript": "secret" * 200_000, "is_final": True, "language": None}, "1048576"),
    ],
)  # fmt: skip
def test_an_event_that_cannot_be_sent_is_logged(
    arm: str, source: Any, logged: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            session.emit(arm, source)
            session.emit("error", {"message": "after"})
            await driver.event("error")
        assert driver.arms() == ["agent_state_changed", "error"]
        assert driver.events[1].error.message == "after"

    run(main())
    (record,) = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert arm in record.getMessage() and logged in record.getMessage()
    assert "secret" not in caplog.text


def test_an_unmapped_state_at_the_start_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        session = PlainSession()
        session.state["agent_state"] = "dreaming"
        async with hosted(session) as (driver, _, _):
            assert (await driver.ask("ping")).HasField("pong")
        assert driver.events == []

    run(main())
    assert "dreaming" in caplog.text


def nested(levels: int) -> dict[str, Any]:
    """Returns a payload with nested dicts and lists."""
    payload: Any = {}
    for level in range(levels - 1):
        payload = [payload] if level % 2 and level < levels - 2 else {"k": payload}
    result: dict[str, Any] = payload
    return result


@pytest.mark.parametrize("levels", [1, 2, MAX_NESTING])
def test_a_debug_message_may_nest(levels: int) -> None:
    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            session.emit("debug_message", {"payload": nested(levels)})
            event = await driver.event("debug_message")
        assert not exceeds_nesting(event.debug_message.payload, levels)
        assert exceeds_nesting(event.debug_message.payload, levels - 1)

    run(main())


def dicts(levels: int) -> dict[str, Any]:
    payload: dict[str, Any] = {}
    for _ in range(levels - 1):
        payload = {"k": payload}
    return payload


@pytest.mark.parametrize("payload", [nested(31), dicts(31), dicts(33), dicts(34), dicts(900)])
def test_a_debug_message_nested_too_deeply_is_refused(
    payload: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            session.emit("debug_message", {"payload": payload})
            assert (await driver.ask("ping")).HasField("pong")
        assert driver.arms() == ["agent_state_changed"]

    run(main())
    assert "debug_message event not sent" in caplog.text


def test_the_deepest_debug_message_can_be_parsed() -> None:
    """The limit is needed: protobuf cannot parse 34 levels."""
    message = pb.AgentSessionMessage()
    message.event.debug_message.payload.update(dicts(MAX_NESTING))
    assert pb.AgentSessionMessage.FromString(message.SerializeToString()) == message


def test_the_debug_message_of_the_sdk_can_be_encoded() -> None:
    class DebugMessage:
        payload = Struct()

    DebugMessage.payload.update({"a": [1, {"b": None}]})

    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            session.emit("debug_message", DebugMessage())
            event = await driver.event("debug_message")
        assert event.debug_message.payload == DebugMessage.payload

    run(main())


def test_a_closed_host_sends_no_events() -> None:
    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, host, _):
            assert set(session.listeners) == set(SDK_EVENTS.values())
            await host.close()
            assert not any(session.listeners.values()) and session.host is None
            session.emit("error", {"message": "x"})
        assert driver.arms() == ["agent_state_changed"]

    run(main())
