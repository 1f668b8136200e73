"""Conversion of the JSON that peers print to messages of the protocol, and back.

The JSON for comparisons leaves out the fields that differ from run to run.
"""

from __future__ import annotations

from typing import Any

from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.dispatch import AGENT_SESSION_EVENT_ARMS, SESSION_RESPONSE_ARMS
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message import Message

# The fields that differ from run to run, by message.
_VOLATILE: dict[str, tuple[str, ...]] = {
    "ChatMessage": ("id", "created_at", "metrics"),
    "FunctionCall": ("id", "created_at"),
    "FunctionCallOutput": ("id", "created_at"),
    "AgentHandoff": ("id", "created_at"),
    "AgentConfigUpdate": ("id", "created_at"),
    "ReplyUpdated": ("speech_id",),
    "Error": ("message",),
    "GetSessionUsageResponse": ("created_at",),
}


def event_payload(event: dict[str, Any]) -> Message:
    """Returns the payload of an event that a driver printed."""
    kind: Any = AGENT_SESSION_EVENT_ARMS[event["event"]].type
    payload: Message = ParseDict(event["payload"], kind())
    return payload


def answer_payload(request: str, answer: dict[str, Any]) -> Any:
    """Returns the payload of a response that a driver printed."""
    arm: Any = "pong" if request == "ping" else request
    return ParseDict(answer, SESSION_RESPONSE_ARMS[arm].type())


def comparable(message: Message) -> dict[str, Any]:
    """Returns a message as JSON, without the fields that differ from run to run."""
    copy = type(message)()
    copy.CopyFrom(message)
    _clear_volatile(copy)
    return MessageToDict(copy, preserving_proto_field_name=True)


def _clear_volatile(message: Message) -> None:
    for name in _VOLATILE.get(message.DESCRIPTOR.name, ()):
        message.ClearField(name)
    for field, value in message.ListFields():
        if field.message_type is None or field.message_type.GetOptions().map_entry:
            continue
        for inner in value if field.is_repeated else [value]:
            _clear_volatile(inner)


def item_of(item: pb.ChatContext.ChatItem) -> Any:
    """Returns the message in the oneof of a chat item."""
    arm = item.WhichOneof("item")
    assert arm is not None
    return getattr(item, arm)
