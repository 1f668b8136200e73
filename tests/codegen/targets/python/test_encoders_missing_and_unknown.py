"""Tests of encoders with sources that are None, have missing fields, or have unknown values."""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import filled_messages
import pytest
from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol import encoders
from agent_session_protocol.errors import UnmappedValueError
from contract_coders import CODERS, LITERALS, without_empty_parts
from google.protobuf.struct_pb2 import Struct
from livekit.agents.voice.events import FunctionToolsExecutedEvent
from sdk_items import CALL, CONFIG, MESSAGE, METRICS, OUTPUT

# None, and missing fields.


def full(name: str) -> dict[str, Any]:
    """Returns a source that fills all fields of a message, by the names of its model."""
    coder = CODERS.by_name[name]
    message = coder.message()
    filled_messages.fill(message, filled_messages.DEPTH)
    model = coder.decode(without_empty_parts(message))
    return {item.name: getattr(model, item.name) for item in dataclasses.fields(model)}


def members() -> Iterator[Any]:
    """Yields each member of each model, and the fields of the message that it fills."""
    for name, coder in CODERS.by_name.items():
        if not coder.bare:
            arms = [item.name for oneof in coder.message.DESCRIPTOR.oneofs for item in oneof.fields]
            for member, field in coder.members():
                if field is not None or member != "type":
                    names = [field.name] if field is not None else arms
                    yield pytest.param(name, member, names, id=f"{name.split('.', 1)[1]}.{member}")


@pytest.mark.parametrize("name, member, names", list(members()))
def test_none_leaves_only_its_field_unset(name: str, member: str, names: Any) -> None:
    coder, source = CODERS.by_name[name], full(name)
    everything = coder.encode(SimpleNamespace(**source))
    source[member] = None
    enum = coder.message.DESCRIPTOR.fields_by_name[names[0]].enum_type
    if enum is not None and None not in LITERALS[enum.full_name].values():
        with pytest.raises(UnmappedValueError, match=f"{enum.full_name}.*None"):
            coder.encode(SimpleNamespace(**source))
        return
    # None is a literal of the enum, for unknown values, with the number zero.
    expected = coder.message()
    expected.CopyFrom(everything)
    for each in names:
        expected.ClearField(each)
    for form in (SimpleNamespace(**source), source):
        assert coder.encode(form) == expected != everything


@pytest.mark.parametrize("name, member, names", list(members()))
def test_missing_attribute_of_an_object(name: str, member: str, names: Any) -> None:
    coder, source = CODERS.by_name[name], full(name)
    del source[member]
    if name == "agent_session.MetricsReport":
        assert not set(names) & {
            f.name for f, _ in coder.encode(SimpleNamespace(**source)).ListFields()
        }
        return
    if (name, member) == ("agent_session.AgentSessionEvent.Error", "message"):
        member = "error"
    with pytest.raises(AttributeError, match=f"'{member}'"):
        coder.encode(SimpleNamespace(**source))


# Keys that a mapping may lack: optional fields of the SDK's classes, and other optional scalars.
MAY_LACK = {
    *(f"MetricsReport.{name}" for name in METRICS),
    "ChatMessage.transcript_confidence",
    "ChatMessage.ChatContent.text",
    "AgentHandoff.old_agent_id",
    "AgentConfigUpdate.instructions",
    "AgentConfigUpdate.tools_added",
    "AgentConfigUpdate.tools_removed",
    "AgentSessionEvent.UserInputTranscribed.language",
    "AgentSessionEvent.OverlappingSpeech.overlap_started_at",
    "AgentSessionEvent.ToolExecutionUpdated.Ended.message",
    "AgentSessionEvent.SessionClosed.error",
    "SessionResponse.GetAgentInfoResponse.instructions",
}


@pytest.mark.parametrize("name, member, names", list(members()))
def test_missing_key_of_a_mapping(name: str, member: str, names: Any) -> None:
    coder, source = CODERS.by_name[name], full(name)
    del source[member]
    if f"{name.split('.', 1)[1]}.{member}" in MAY_LACK:
        encoded = coder.encode(source)
        assert not set(names) & {field.name for field, _ in encoded.ListFields()}
        return
    with pytest.raises(AttributeError, match=f"'{member}'"):
        coder.encode(source)


def test_mapping_without_a_tag() -> None:
    with pytest.raises(AttributeError, match="'type'"):
        encoders.encode_chat_context_chat_item({"id": "x"})
    with pytest.raises(AttributeError, match="'type'"):
        encoders.encode_tool_execution_updated({"update": {"id": "x"}})
    with pytest.raises(AttributeError, match="'update'"):
        encoders.encode_tool_execution_updated({})


def test_none_items_are_skipped() -> None:
    event = FunctionToolsExecutedEvent.model_construct(
        function_calls=[CALL, None, CALL], function_call_outputs=[None, OUTPUT, None]
    )
    encoded = encoders.encode_function_tools_executed(event)
    call, output = encoders.encode_function_call(CALL), encoders.encode_function_call_output(OUTPUT)
    assert list(encoded.function_calls) == [call, call]
    assert list(encoded.function_call_outputs) == [output]
    config = {**vars(CONFIG), "tools_added": ["a", None, "b"], "tools_removed": [None]}
    update = encoders.encode_agent_config_update(config)
    assert (list(update.tools_added), list(update.tools_removed)) == (["a", "b"], [])
    stats = encoders.encode_get_rtc_stats_response(
        {"publisher_stats": [None, {"a": 1}], "subscriber_stats": (Struct(), None)}
    )
    assert [len(stats.publisher_stats), len(stats.subscriber_stats)] == [1, 1]
    history = encoders.encode_get_chat_history_response({"items": [None, CALL]})
    assert [item.WhichOneof("item") for item in history.items] == ["function_call"]


def test_iterator_as_source() -> None:
    encoded = encoders.encode_get_chat_history_response({"items": iter([CALL, MESSAGE])})
    assert [item.WhichOneof("item") for item in encoded.items] == ["function_call", "message"]


# ---------------------------------------------------------------------------------------
# Unknown tags and literals.


def test_unknown_tag_leaves_the_oneof_unset_and_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    unknown_type = f"kind_{time.monotonic_ns()}"
    with caplog.at_level(logging.ERROR):
        for form in (SimpleNamespace(type=unknown_type), {"type": unknown_type}):
            item = encoders.encode_chat_context_chat_item(form)
            assert item.WhichOneof("item") is None
            update = encoders.encode_tool_execution_updated({"update": form})
            assert update.WhichOneof("update") is None
    assert [record.getMessage() for record in caplog.records] == [
        f"agent_session.ChatContext.ChatItem.item has no arm for a source of type {unknown_type!r}",
        "agent_session.AgentSessionEvent.ToolExecutionUpdated.update has no arm for a source of"
        f" type {unknown_type!r}",
    ]
    assert {record.name for record in caplog.records} == {"agent_session_protocol.fields"}


def test_unknown_tag_in_a_list() -> None:
    encoded = encoders.encode_run_input_response(
        {"items": [CALL, SimpleNamespace(type="unknown"), MESSAGE]}
    )
    kinds = [item.WhichOneof("item") for item in encoded.items]
    assert kinds == ["function_call", None, "message"]
    added = encoders.encode_conversation_item_added({"item": {"type": "unknown"}})
    assert added.HasField("item") and added.item.WhichOneof("item") is None


@pytest.mark.parametrize(
    "encode, source, enum",
    [
        (encoders.encode_chat_message, {**vars(MESSAGE), "role": "wizard"}, "ChatRole"),
        (
            encoders.encode_agent_state_changed,
            {"old_state": "x", "new_state": "idle"},
            "AgentState",
        ),
        (encoders.encode_user_state_changed, {"old_state": "away", "new_state": 1}, "UserState"),
        (
            encoders.encode_tool_execution_updated_ended,
            {"id": "", "call_id": "", "status": "running"},
            "ToolCallStatus",
        ),
        (
            encoders.encode_tool_execution_updated_reply_updated,
            {"update_ids": [], "status": "", "speech_id": ""},
            "ToolReplyStatus",
        ),
    ],
)
def test_unknown_literal_is_an_error(encode: Any, source: Any, enum: str) -> None:
    with pytest.raises(UnmappedValueError, match=f"agent_session.{enum}"):
        encode(source)


@pytest.mark.parametrize("reason", [None, "", "my own reason", "CR_ERROR"])
def test_custom_reason_is_unknown(reason: Any) -> None:
    encoded = encoders.encode_session_closed({"reason": reason})
    assert encoded.reason == pb.CloseReason.CR_UNKNOWN
