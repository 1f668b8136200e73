"""The summaries of messages."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from agent_session.command.message_summary import summarize, summary_lines
from agent_session.command.report import JsonReport, TextReport
from agent_session.command.screen import Screen, clean
from agent_session.driver.events import ReceivedEvent
from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.values import to_struct
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st

Event = pb.AgentSessionEvent
Update = Event.ToolExecutionUpdated
Item = pb.ChatContext.ChatItem
Response = pb.SessionResponse

CALL = pb.FunctionCall(call_id="c1", name="find", arguments='{"number": 7}')


def usage(**kinds: Message) -> Event.SessionUsageUpdated:
    models = [pb.ModelUsage(**{kind: message}) for kind, message in kinds.items()]  # type: ignore
    return Event.SessionUsageUpdated(usage=pb.AgentSessionUsage(model_usage=models))


def item(**arm: Any) -> Event.ConversationItemAdded:
    return Event.ConversationItemAdded(item=Item(**arm))


TEXT = pb.ChatMessage.ChatContent(text="Hi")
PICTURE = pb.ChatMessage.ChatContent.FromString(b"\x9a\x06\x00")
MESSAGE = pb.ChatMessage(role=pb.USER, content=[TEXT])

EVENTS = [
    (Event.AgentStateChanged(old_state=pb.AS_IDLE, new_state=pb.AS_SPEAKING), "idle → speaking"),
    (Event.AgentStateChanged(), "initializing"),
    (Event.AgentStateChanged(old_state=9), "unknown 9 → initializing"),  # type: ignore[arg-type]
    (Event.UserStateChanged(old_state=pb.US_SPEAKING, new_state=pb.US_AWAY), "speaking → away"),
    (item(message=MESSAGE), "user: Hi"),
    (
        item(message=pb.ChatMessage(role=pb.ASSISTANT, interrupted=True)),
        "assistant: (interrupted)",
    ),
    (item(message=pb.ChatMessage(role=7)), "unknown 7: (nothing)"),  # type: ignore[arg-type]
    (
        item(message=pb.ChatMessage(role=pb.USER, content=[TEXT, PICTURE, TEXT])),
        "user: Hi\nunknown field 99\nHi",
    ),
    (item(function_call=CALL), 'find({"number": 7})'),
    (item(function_call_output=pb.FunctionCallOutput(name="find", output="here")), "find → here"),
    (
        item(function_call_output=pb.FunctionCallOutput(call_id="c1", output="no", is_error=True)),
        "c1 failed: no",
    ),
    (item(agent_handoff=pb.AgentHandoff(new_agent_id="b")), "b takes over"),
    (
        item(agent_handoff=pb.AgentHandoff(old_agent_id="a", new_agent_id="b")),
        "b takes over from a",
    ),
    (
        item(
            agent_config_update=pb.AgentConfigUpdate(
                tools_added=["x", "y"], tools_removed=["z"], instructions="be brief"
            )
        ),
        "config +x, +y, -z, instructions: be brief",
    ),
    (item(agent_config_update=pb.AgentConfigUpdate()), "config (nothing)"),
    (
        item(agent_config_update=pb.AgentConfigUpdate(instructions="")),
        "config instructions: (nothing)",
    ),
    (item(agent_handoff=pb.AgentHandoff()), "unnamed takes over"),
    (item(function_call=pb.FunctionCall()), "unnamed()"),
    (item(function_call=pb.FunctionCall(call_id="c1", arguments="{}")), "c1()"),
    (item(function_call_output=pb.FunctionCallOutput()), "unnamed → (nothing)"),
    (item(), "(nothing)"),
    (Event.ConversationItemAdded(), "(nothing)"),
    (Event.UserInputTranscribed(), "(interim)"),
    (Event.UserInputTranscribed(is_final=True), "(nothing)"),
    (Event.UserInputTranscribed(transcript="one tw", language="en"), "one tw (interim, en)"),
    (Event.UserInputTranscribed(transcript="one two", is_final=True), "one two"),
    (
        Event.FunctionToolsExecuted(
            function_calls=[CALL, pb.FunctionCall(name="wait", call_id="c2", arguments="{}")],
            function_call_outputs=[pb.FunctionCallOutput(call_id="c1", output="here")],
        ),
        'find({"number": 7}) → here; wait()',
    ),
    (
        Event.FunctionToolsExecuted(
            function_calls=[CALL],
            function_call_outputs=[pb.FunctionCallOutput(call_id="c9", output="there")],
        ),
        'find({"number": 7}); c9 → there',
    ),
    (Event.FunctionToolsExecuted(), "(nothing)"),
    (Event.FunctionToolsStarted(), "(nothing)"),
    (Event.FunctionToolsStarted(function_calls=[CALL]), 'find({"number": 7})'),
    (
        Event.FunctionToolsStarted(function_calls=[CALL, CALL]),
        "; ".join(['find({"number": 7})'] * 2),
    ),
    (Event.Error(message="no model"), "no model"),
    (Event.Error(), "(nothing)"),
    (Event.OverlappingSpeech(detection_delay=0.25), "is_interruption no, detection_delay 0.25"),
    (
        usage(llm=pb.LLMModelUsage(provider="acme", model="m1", input_tokens=12, output_tokens=3)),
        "llm acme/m1: input 12, output 3",
    ),
    (
        usage(
            tts=pb.TTSModelUsage(model="t", characters_count=4, audio_duration=1.5),
            eot=pb.EotModelUsage(provider="p", total_requests=2),
        ),
        "tts t: characters_count 4, audio_duration 1.5; eot p: total_requests 2",
    ),
    (
        usage(llm=pb.LLMModelUsage(provider="unknown", model="unknown")),
        "llm unknown/unknown: (nothing)",
    ),
    (usage(stt=pb.STTModelUsage()), "stt unnamed: (nothing)"),
    (usage(), "(nothing)"),
    (
        Event.AmdPrediction(category=pb.AMD_MACHINE_VM, reason="llm", transcript="leave a"),
        "category AMD_MACHINE_VM, reason llm, transcript leave a",
    ),
    (Event.AmdPrediction(category=77), "category unknown 77"),  # type: ignore[arg-type]
    (Event.EotPrediction(probability=0.5, threshold=0.25), "probability 0.5, threshold 0.25"),
    (Event.EotPrediction(), "probability 0, threshold 0"),
    (pb.DebugMessage(payload=to_struct({"a": ["é", 1]})), '{"a": ["é", 1.0]}'),
    (pb.DebugMessage(payload=to_struct({})), "{}"),
    (pb.DebugMessage(), "(nothing)"),
    (pb.DebugMessage(payload=to_struct({"a": float("inf")})), "(not valid JSON)"),
    (Update(started=Update.Started(function_call=CALL)), 'started find({"number": 7})'),
    (
        Update(call_updated=Update.CallUpdated(id="c1_1", call_id="c1", message="soon")),
        "call_updated id c1_1, call_id c1, message soon",
    ),
    (
        Update(ended=Update.Ended(call_id="c1", message="here", status=pb.TC_DONE)),
        "ended done: here",
    ),
    (Update(ended=Update.Ended(call_id="c1", status=pb.TC_CANCELLED)), "ended cancelled"),
    (
        Update(reply_updated=Update.ReplyUpdated(update_ids=["a", "b"], status=pb.TR_SKIPPED)),
        "reply_updated update_ids a, b, status TR_SKIPPED",
    ),
    (Update(started=Update.Started()), "started (nothing)"),
    (Update(call_updated=Update.CallUpdated()), "call_updated (nothing)"),
    (Update(reply_updated=Update.ReplyUpdated()), "reply_updated status TR_SCHEDULED"),
    (Update(ended=Update.Ended()), "ended (nothing)"),
    (Update(ended=Update.Ended(message="here")), "ended here"),
    (Update(ended=Update.Ended(message="", status=pb.TC_DONE)), "ended done"),
    (Update(), "(nothing)"),
    (Update.FromString(b"\x9a\x06\x00"), "unknown field 99"),
    (Event.AgentFalseInterruption(resumed=True), "resumed yes"),
    (Event.SessionClosed(reason=pb.CR_COMPLETED), "CR_COMPLETED"),
    (Event.SessionClosed(reason=pb.CR_ERROR, error="no model"), "CR_ERROR: no model"),
    (Event.SessionClosed(reason=pb.CR_ERROR, error=""), "CR_ERROR"),
    (Event.SessionClosed(reason=44), "unknown 44"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("message", "text"), EVENTS)
def test_the_summary_of_an_event(message: Message, text: str) -> None:
    assert summarize(message) == text


def test_each_event_of_the_protocol_is_tested() -> None:
    tested = {type(message) for message, _ in EVENTS}
    arms = Event.DESCRIPTOR.oneofs_by_name["event"].fields
    assert {arm.message_type.name for arm in arms if arm.message_type} == {
        each.DESCRIPTOR.name for each in tested
    }


def test_a_duration_is_shown_in_seconds() -> None:
    event = Event.EotPrediction(threshold=0.5)
    event.delay.FromMilliseconds(1250)
    assert summarize(event) == "probability 0, threshold 0.5, delay 1.25 s"


def test_the_summary_lines_of_a_response() -> None:
    state = Response.GetSessionStateResponse(
        agent_state=pb.AS_IDLE, agent_id="desk", options={"b": "2", "a": "1"}
    )
    assert list(summary_lines(state)) == [
        "agent_state: AS_IDLE",
        "user_state: US_SPEAKING",
        "agent_id: desk",
        "options: a = 1",
        "options: b = 2",
    ]
    history = Response.GetChatHistoryResponse(items=[Item(message=MESSAGE), Item()])
    assert list(summary_lines(history)) == ["user: Hi", "(nothing)"]
    info = Response.GetAgentInfoResponse(id="desk", tools=["x", "y"], chat_ctx=history.items)
    assert list(summary_lines(info)) == [
        "id: desk",
        "tools: x, y",
        "chat_ctx: user: Hi",
        "chat_ctx: (nothing)",
    ]
    assert list(summary_lines(Response.Pong())) == []


def test_the_usage_of_each_model_has_its_own_line() -> None:
    usage = pb.AgentSessionUsage()
    usage.model_usage.add().llm.model = "a"
    usage.model_usage.add().eot.total_requests = 2
    assert list(summary_lines(Response.GetSessionUsageResponse(usage=usage))) == [
        "usage: llm a: (nothing)",
        "usage: eot unnamed: total_requests 2",
    ]
    none = Response.GetSessionUsageResponse(usage=pb.AgentSessionUsage())
    assert list(summary_lines(none)) == ["usage: (nothing)"]


NUMBERS = {
    FieldDescriptor.CPPTYPE_INT32: st.integers(-(1 << 31), (1 << 31) - 1),
    FieldDescriptor.CPPTYPE_INT64: st.integers(-(1 << 63), (1 << 63) - 1),
    FieldDescriptor.CPPTYPE_UINT32: st.integers(0, (1 << 32) - 1),
    FieldDescriptor.CPPTYPE_UINT64: st.integers(0, (1 << 64) - 1),
    FieldDescriptor.CPPTYPE_DOUBLE: st.floats(),
    FieldDescriptor.CPPTYPE_FLOAT: st.floats(width=32),
    FieldDescriptor.CPPTYPE_BOOL: st.booleans(),
    FieldDescriptor.CPPTYPE_ENUM: st.integers(0, 99),
}
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


def fill(data: st.DataObject, message: Any, depth: int) -> None:
    """Sets random fields of a message to random values."""
    for field in message.DESCRIPTOR.fields:
        if not data.draw(st.booleans()):
            continue
        value = getattr(message, field.name)
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            if field.message_type.fields_by_name["value"].message_type is None:
                value[data.draw(TEXTS)] = data.draw(TEXTS)
            elif depth:
                fill(data, value[data.draw(TEXTS)], depth - 1)
        elif isinstance(value, Message):
            value.SetInParent()
            if depth:
                fill(data, value, depth - 1)
        elif field.message_type is not None:
            if depth:
                fill(data, value.add(), depth - 1)
        elif isinstance(value, (str, int, float)):
            setattr(message, field.name, data.draw(scalar(field)))
        else:
            value.append(data.draw(scalar(field)))


def scalar(field: FieldDescriptor) -> st.SearchStrategy[Any]:
    return TEXTS if field.type == field.TYPE_STRING else NUMBERS[field.cpp_type]


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_random_events_and_responses_can_be_shown(data: st.DataObject) -> None:
    event, response = Event(), Response()
    fill(data, event, 5)
    fill(data, response, 5)
    written = io.StringIO()
    TextReport(Screen(written, False)).event(ReceivedEvent.of(event))
    assert written.getvalue().count("\n") == 1
    TextReport(Screen(written, False)).answer("run_input", response)
    assert all(each == "\n" or clean(each) == each for each in written.getvalue())
    written = io.StringIO()
    JsonReport(Screen(written, False)).event(ReceivedEvent.of(event))
    JsonReport(Screen(written, False)).answer("run_input", response)
    entries = [json.loads(line) for line in written.getvalue().splitlines()]
    assert [next(iter(each)) for each in entries] == ["event", "answer"]
