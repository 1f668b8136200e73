"""Compares encoders with those of livekit-agents: the same objects must give the same bytes.

Times may differ in the nanoseconds that the SDK loses.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, get_args

import pytest
from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol import decoders, encoders, models
from agent_session_protocol.dispatch import AgentSessionEventArm
from agent_session_protocol.values import to_struct
from contract_coders import CODERS
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp
from livekit.agents import _proto as sdk
from livekit.agents.llm import (
    AgentConfigUpdate,
    AgentHandoff,
    AudioContent,
    ChatMessage,
    FunctionCall,
    FunctionCallOutput,
    ImageContent,
    LLMError,
)
from livekit.agents.llm.chat_context import CacheBreakpoint, Instructions
from livekit.agents.voice.events import CloseEvent, CloseReason, ErrorEvent
from sdk_items import CALL, CONFIG, HANDOFF, MESSAGE, METRICS, OUTPUT, TIME, USAGE
from sdk_objects import SAMPLES

ITEMS = [
    MESSAGE,
    CALL,
    OUTPUT,
    HANDOFF,
    CONFIG,
    ChatMessage(role="user", content=["hi"]),
    ChatMessage(role="developer", content=[]),
    ChatMessage(role="system", content=["", "two", AudioContent(frame=[], transcript="no")]),
    ChatMessage(role="assistant", content=[CacheBreakpoint()], metrics={"e2e_latency": 0.0}),
    ChatMessage(role="user", content=["é 🎙"], extra={"a": None, "b": [1], "c": {"d": True}}),
    FunctionCall(call_id="", name="", arguments=""),
    FunctionCallOutput(call_id="c", output="", is_error=False),
    AgentHandoff(new_agent_id="b"),
    AgentConfigUpdate(),
    AgentConfigUpdate(instructions="", tools_added=[], tools_removed=["x"]),
]


def without_nanos(message: Any) -> Any:
    """Removes the nanoseconds of all times: the SDK loses precision."""
    for field, value in message.ListFields():
        if field.message_type is None or field.message_type.GetOptions().map_entry:
            continue
        for item in value if field.is_repeated else [value]:
            if isinstance(item, Timestamp):
                item.ClearField("nanos")
            elif not isinstance(item, Struct):
                without_nanos(item)
    return message


def assert_same(message: Any, sdk_message: Any) -> None:
    """Compares a message with one of the SDK, byte by byte."""
    sdk_message = type(message).FromString(sdk_message.SerializeToString())
    for stamp, sdk_stamp in zip(stamps(message), stamps(sdk_message), strict=True):
        seconds = stamp.seconds + stamp.nanos / 1e9
        assert sdk_stamp.ToNanoseconds() == int(seconds * 1e9)
    data = without_nanos(message).SerializeToString(deterministic=True)
    assert data == without_nanos(sdk_message).SerializeToString(deterministic=True)


def stamps(message: Any) -> Iterator[Timestamp]:
    for field, value in message.ListFields():
        if field.message_type is not None and not field.message_type.GetOptions().map_entry:
            for item in value if field.is_repeated else [value]:
                if isinstance(item, Timestamp):
                    yield item
                else:
                    yield from stamps(item)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.type)
def test_chat_items_equal_the_sdks(item: Any) -> None:
    assert_same(encoders.encode_chat_context_chat_item(item), sdk.encode_chat_item(item))


def test_usage_equals_the_sdks() -> None:
    assert_same(encoders.encode_agent_session_usage(USAGE), sdk.encode_session_usage(USAGE))
    sdk_message = sdk.encode_metrics(METRICS)
    assert_same(encoders.encode_metrics_report(METRICS), sdk_message)


# ---------------------------------------------------------------------------------------
# Texts.


def test_content_parts() -> None:
    parts = [
        "plain",
        Instructions("common", audio="speak", text="write"),
        ImageContent(image="https://example.org/a.png"),
        AudioContent(frame=[], transcript="heard"),
        CacheBreakpoint(),
        models.ChatMessageChatContent(text="model"),
        models.ChatMessageChatContent(text=None),
        {"text": "mapping"},
        {"type": "image_content", "image": "x"},
        None,
        "",
    ]
    encoded = encoders.encode_chat_message({**vars(MESSAGE), "content": parts})
    assert [part.text for part in encoded.content] == ["plain", "common", "model", "mapping", ""]


def test_instructions_object() -> None:
    update = AgentConfigUpdate.model_construct(
        instructions=Instructions("common", audio="speak"),
        tools_added=None,
        tools_removed=None,
        id="x",
        created_at=TIME,
    )
    assert encoders.encode_agent_config_update(update).instructions == "common"


def llm_error(text: Any) -> LLMError:
    return LLMError(timestamp=TIME, label="label", error=text, recoverable=False)


@pytest.mark.parametrize(
    "error, text",
    [
        (ValueError("it broke"), "it broke"),
        (ValueError(), "ValueError"),
        (llm_error(RuntimeError("deep")), "deep"),
        (llm_error(TimeoutError()), "TimeoutError"),
        ("text", "text"),
        ("", ""),
        (OSError(2, "no file"), "[Errno 2] no file"),
        (ValueError("\ud800"), "\ufffd"),
        ("half \ud800", "half \ufffd"),
    ],
)
def test_error_text(error: Any, text: str) -> None:
    event = ErrorEvent(error=error, source=None)
    assert encoders.encode_error(event).message == text
    close = CloseEvent.model_construct(reason=CloseReason.ERROR, error=error)
    encoded = encoders.encode_session_closed(close)
    assert (encoded.reason, encoded.HasField("error"), encoded.error) == (1, True, text)


def test_no_error() -> None:
    close = CloseEvent(reason=CloseReason.USER_INITIATED)
    assert not encoders.encode_session_closed(close).HasField("error")
    assert encoders.encode_error(ErrorEvent(error=None, source=None)).message == ""


def test_values_of_a_map_become_strings() -> None:
    extra = {"s": "x", "n": 1, "f": 0.5, "t": True, "none": None, "list": [1], "é": "é"}
    encoded = encoders.encode_function_call({**vars(CALL), "extra": extra})
    assert dict(encoded.extra) == {
        "s": "x",
        "n": "1",
        "f": "0.5",
        "t": "True",
        "none": "None",
        "list": "[1]",
        "é": "é",
    }


def test_keys_of_a_map_become_strings() -> None:
    encoded = encoders.encode_function_call({**vars(CALL), "extra": {1: "a", None: "b", "c": "d"}})
    assert dict(encoded.extra) == {"1": "a", "None": "b", "c": "d"}


@pytest.mark.parametrize("time", ["2026-01-01T00:00:00Z", "12", b"1", [1], object(), 1j])
def test_invalid_time(time: Any) -> None:
    with pytest.raises(ValueError, match="is not a number of seconds"):
        encoders.encode_function_call({**vars(CALL), "created_at": time})


# ---------------------------------------------------------------------------------------
# Events.

TIME_NANOS = 1_700_000_000_750_000_000
EVENT: Any = pb.AgentSessionEvent.DESCRIPTOR
PAYLOADS: dict[str, Any] = {
    arm.name: SAMPLES[arm.message_type.full_name][0].source
    for arm in EVENT.oneofs_by_name["event"].fields
    if arm.message_type.full_name in SAMPLES
} | {
    "function_tools_started": {"function_calls": [CALL]},
    "debug_message": pb.DebugMessage(payload=to_struct({"a": [1, None]})),
}


@pytest.mark.parametrize("arm", get_args(AgentSessionEventArm))
def test_every_event(arm: AgentSessionEventArm) -> None:
    source = PAYLOADS[arm]
    before = time.time_ns()
    event = encoders.encode_agent_session_event(arm, source)
    after = time.time_ns()
    field = EVENT.fields_by_name[arm]
    assert event.WhichOneof("event") == arm
    assert getattr(event, arm) == CODERS.by_name[field.message_type.full_name].encode(source)
    at = getattr(source, "created_at", None)
    if at is None:
        assert before - 1000 <= event.created_at.ToNanoseconds() <= after + 1000
    else:
        assert event.created_at.ToNanoseconds() == round(Fraction(at) * 10**9)
    filled = pb.AgentSessionEvent()
    encoders.fill_agent_session_event(arm, {**mapped(source), "created_at": TIME + 0.25}, filled)
    assert getattr(filled, arm) == getattr(event, arm)
    assert filled.created_at.ToNanoseconds() == TIME_NANOS


def mapped(source: Any) -> dict[str, Any]:
    """Returns an object's fields as a mapping."""
    if isinstance(source, pb.DebugMessage):
        return {"payload": source.payload}
    return dict(source) if isinstance(source, dict) else dict(vars(source))


def test_debug_message() -> None:
    payload = {"a": {"b": [1, "x", None, True]}, "": {}}
    for source in ({"payload": payload}, pb.DebugMessage(payload=to_struct(payload))):
        encoded = encoders.encode_agent_session_event("debug_message", source).debug_message
        assert decoders.decode_debug_message(encoded).payload == payload


def test_unknown_event_arm() -> None:
    with pytest.raises(KeyError):
        encoders.encode_agent_session_event("nonsense", {})  # type: ignore[arg-type]
