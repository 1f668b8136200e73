from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from livekit.protocol.agent_pb import agent_session as agent_pb

if TYPE_CHECKING:
    from .llm import ChatItem

ROLES = {
    "user": agent_pb.USER,
    "assistant": agent_pb.ASSISTANT,
}


def encode_timestamp(created_at: float) -> Timestamp:
    timestamp = Timestamp()
    timestamp.FromNanoseconds(int(created_at * 1e9))
    return timestamp


def encode_duration(seconds: float) -> Duration:
    duration = Duration()
    duration.FromNanoseconds(int(seconds * 1e9))
    return duration


def encode_chat_item(item: ChatItem) -> agent_pb.ChatContext.ChatItem:
    if item.type == "message":
        content = [agent_pb.ChatMessage.ChatContent(text=c) for c in item.content]
        return agent_pb.ChatContext.ChatItem(
            message=agent_pb.ChatMessage(
                id=item.id,
                role=ROLES[item.role],
                content=content,
                interrupted=item.interrupted,
                created_at=encode_timestamp(item.created_at),
            )
        )
    elif item.type == "function_call":
        return agent_pb.ChatContext.ChatItem(
            function_call=agent_pb.FunctionCall(
                call_id=item.call_id,
                name=item.name,
                arguments=item.arguments,
            )
        )
    return agent_pb.ChatContext.ChatItem()
