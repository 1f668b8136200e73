"""The event log example: it records events of livekit-agents and prints their transcript."""

from __future__ import annotations

import importlib.util
import io
from types import ModuleType
from typing import Any

import pytest
from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.dispatch import AgentSessionEventArm
from agent_session_protocol.events import SDK_EVENTS
from generated_packages import ROOT
from google.protobuf.json_format import Parse
from livekit.agents import (
    CloseEvent,
    CloseReason,
    ConversationItemAddedEvent,
    FunctionToolsExecutedEvent,
)
from livekit.agents.llm import AgentHandoff, ChatMessage, FunctionCall, FunctionCallOutput
from livekit.rtc import EventEmitter
from sdk_objects import SAMPLES

# 2001-09-09 01:46:40 UTC.
TIME = 1_000_000_000.0
NOT_EMITTED = {"function_tools_started", "debug_message"}


@pytest.fixture(scope="module")
def example() -> ModuleType:
    path = ROOT / "examples" / "event_log.py"
    spec = importlib.util.spec_from_file_location("event_log", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _item(item: ChatMessage | AgentHandoff, seconds: int) -> ConversationItemAddedEvent:
    return ConversationItemAddedEvent(item=item, created_at=TIME + seconds)


def test_the_transcript_of_an_sdk_session(example: ModuleType) -> None:
    emitter, file = EventEmitter[str](), io.StringIO()
    stop = example.record(emitter, file)
    call = FunctionCall(call_id="c", name="clock", arguments='{"zone": "UTC"}')
    output = FunctionCallOutput(call_id="c", name="clock", output="12:00", is_error=False)
    sent: list[tuple[str, Any]] = [
        ("conversation_item_added", _item(ChatMessage(role="user", content=["The", "time?"]), 0)),
        (
            "function_tools_executed",
            FunctionToolsExecutedEvent(
                function_calls=[call], function_call_outputs=[output], created_at=TIME + 1
            ),
        ),
        ("conversation_item_added", _item(AgentHandoff(new_agent_id="two"), 2)),
    ]
    for name, event in sent:
        emitter.emit(name, event)
    emitter.emit("close", CloseEvent(reason=CloseReason.TASK_COMPLETED, created_at=TIME + 60))
    stop()
    emitter.emit("close", CloseEvent(reason=CloseReason.ERROR))
    file.seek(0)
    assert list(example.transcript(file)) == [
        "01:46:40  user: The time?",
        '01:46:41  clock({"zone": "UTC"}) -> 12:00',
        "01:46:42  two takes over",
        "01:47:40  the session ended: CR_COMPLETED",
    ]


def test_each_event_of_the_sdk_is_recorded(example: ModuleType) -> None:
    emitter, file = EventEmitter[str](), io.StringIO()
    example.record(emitter, file)
    payloads = {
        arm.name: arm.message_type.full_name
        for arm in pb.AgentSessionEvent.DESCRIPTOR.oneofs_by_name["event"].fields
        if arm.message_type is not None
    }
    expected: list[AgentSessionEventArm] = [arm for arm in SDK_EVENTS if arm not in NOT_EMITTED]
    for arm in expected:
        emitter.emit(SDK_EVENTS[arm], SAMPLES[payloads[arm]][0].source)
    lines = file.getvalue().splitlines()
    events = [Parse(line, pb.AgentSessionEvent()) for line in lines]
    assert [event.WhichOneof("event") for event in events] == expected


def test_an_event_of_a_newer_version(example: ModuleType) -> None:
    file = io.StringIO('{"createdAt": "2001-09-09T01:46:40Z", "newEvent": {}}\n')
    assert list(example.transcript(file)) == ["01:46:40  an event that this version does not know"]
