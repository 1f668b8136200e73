"""Tests that every field of every message has a source in the SDK's classes or a declared gap.

The sources are objects of livekit-agents with all fields set; the expected messages were
written by hand.
"""

from __future__ import annotations

from collections import UserDict
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

import pytest
import tomli
from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol import encoders
from google.protobuf.json_format import MessageToDict
from livekit.agents.llm.chat_context import MetricsReport
from sdk_items import CALL, MESSAGE, METRICS, OUTPUT, TIME
from sdk_objects import SAMPLES, Sample
from generated_packages import ROOT

_GAP_FILE = ROOT / "vocabularies" / "livekit-agents.gaps.toml"
GAPS = {
    difference: gap["reason"]
    for gap in tomli.loads(_GAP_FILE.read_text(encoding="utf-8"))["gaps"]
    for difference in gap["covers"]
}
# Messages without an object of the SDK: hosts construct them, or they are never sent.
MADE_BY_HOSTS = "agent_session.SessionResponse."
WITHOUT_CLASS = {
    "agent_session.ChatMessage.ChatContent",
    "agent_session.DebugMessage",
    "agent_session.AgentSessionEvent.FunctionToolsStarted",
}


def sent_messages() -> dict[str, Any]:
    """Returns the descriptors of all messages that events and responses contain, by full name."""
    messages: dict[str, Any] = {}

    def visit(descriptor: Any) -> None:
        own = descriptor.full_name.startswith("agent_session.")
        if own and descriptor.full_name not in messages and not descriptor.GetOptions().map_entry:
            messages[descriptor.full_name] = descriptor
            for field in descriptor.fields:
                if field.message_type is not None:
                    visit(field.message_type)

    for union in (pb.AgentSessionEvent, pb.SessionResponse):
        for oneof in union.DESCRIPTOR.oneofs:
            if not oneof.name.startswith("_"):
                for arm in oneof.fields:
                    visit(arm.message_type)
    return messages


def message_of(full_name: str) -> Any:
    """Returns a new message of a full name."""
    class_: Any = pb
    for part in full_name.split(".")[1:]:
        class_ = getattr(class_, part)
    return class_()


def filler_of(full_name: str) -> Any:
    """Returns the function that fills a message of a full name."""
    message = message_of(full_name)
    for name, function in vars(encoders).items():
        if name.startswith("fill_"):
            hint = function.__annotations__["to"].removeprefix("pb.")
            if f"agent_session.{hint}" == message.DESCRIPTOR.full_name:
                return function
    raise AssertionError(f"no encoder for {full_name}")


def encoded(full_name: str, source: Any) -> Any:
    """Encodes a source as the message with a full name."""
    message = message_of(full_name)
    filler_of(full_name)(source, message)
    return message


def unset(messages: list[Any]) -> list[str]:
    """Returns the names of fields that are set in none of the messages."""
    fields = messages[0].DESCRIPTOR.fields
    named = [{field.name for field, _ in message.ListFields()} for message in messages]
    return [field.name for field in fields if not any(field.name in names for names in named)]


def test_every_message_has_a_sample() -> None:
    expected = {name for name in sent_messages() if not name.startswith(MADE_BY_HOSTS)}
    made_by_hosts = {name for name in SAMPLES if name.startswith(MADE_BY_HOSTS)}
    assert set(SAMPLES) == (expected - WITHOUT_CLASS) | made_by_hosts


# Deprecated fields, which the SDK does not fill.
DEPRECATED = {
    "ChatMessage.hash",
    "AgentFalseInterruptionEvent.message",
    "AgentFalseInterruptionEvent.extra_instructions",
}


@pytest.mark.parametrize("full_name", SAMPLES)
def test_every_field_of_the_object_is_filled(full_name: str) -> None:
    """New fields of a class must be added to the samples."""
    source = SAMPLES[full_name][0].source
    if isinstance(source, dict):
        assert source.keys() == MetricsReport.__annotations__.keys()
        return
    for name, field in getattr(type(source), "model_fields", {}).items():
        if name != "type" and f"{type(source).__name__}.{name}" not in DEPRECATED:
            value, default = getattr(source, name), field.get_default()
            assert value is not None and (value is not default), name
            assert type(value).__module__ == "numpy" or value != default, name


@pytest.mark.parametrize("full_name", SAMPLES)
def test_every_field_is_on_the_wire(full_name: str) -> None:
    messages = [encoded(full_name, sample.source) for sample in SAMPLES[full_name]]
    path = full_name.removeprefix("agent_session.")
    missing = [name for name in unset(messages) if f"field {path}.{name}" not in GAPS]
    assert missing == []


def samples() -> Iterator[Any]:
    for full_name, message_samples in SAMPLES.items():
        for index, sample in enumerate(message_samples):
            yield pytest.param(full_name, sample, id=f"{full_name}-{index}")


@pytest.mark.parametrize("full_name, sample", list(samples()))
def test_values_equal_those_of_the_object(full_name: str, sample: Sample) -> None:
    assert MessageToDict(encoded(full_name, sample.source)) == sample.json


@pytest.mark.parametrize("form", [dict, MappingProxyType, UserDict])
@pytest.mark.parametrize("source", [MESSAGE, CALL, OUTPUT], ids=lambda source: source.type)
def test_a_mapping_gives_the_same_bytes(source: Any, form: Any) -> None:
    mapping = {name: getattr(source, name) for name in type(source).model_fields if name != "hash"}
    item = "agent_session.ChatContext.ChatItem"
    data = encoded(item, form(mapping)).SerializeToString(deterministic=True)
    assert data == encoded(item, source).SerializeToString(deterministic=True)


@pytest.mark.parametrize("form", [dict, MappingProxyType, UserDict])
def test_metrics_of_mappings(form: Any) -> None:
    assert encoded("agent_session.MetricsReport", form(METRICS)).llm_node_tps == 0.7
    few = encoded("agent_session.MetricsReport", form({"e2e_latency": 0.5, "llm_node_ttft": None}))
    assert [(field.name, value) for field, value in few.ListFields()] == [("e2e_latency", 0.5)]


def test_an_event_carries_the_time_of_its_source() -> None:
    pairs = {"agent_state_changed": "AgentStateChanged", "session_closed": "SessionClosed"}
    for arm, name in pairs.items():
        source = SAMPLES[f"agent_session.AgentSessionEvent.{name}"][0].source
        event = encoders.encode_agent_session_event(arm, source)  # type: ignore[arg-type]
        assert event.created_at.seconds == int(TIME)
        assert event.created_at.nanos == 500_000_000
        assert event.WhichOneof("event") == arm


def test_field_without_a_source() -> None:
    """A missing attribute raises; an attribute that is None leaves the field unset."""
    with pytest.raises(AttributeError, match="call_id"):
        encoded("agent_session.FunctionCall", {**CALL.model_dump(exclude={"call_id"})})
    call = encoded("agent_session.FunctionCall", CALL.model_copy(update={"name": None}))
    assert unset([call]) == ["name"]
