from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from parlor.protocol.robot_pb import robot_dialog as wire

if TYPE_CHECKING:
    from .llm import TalkEntry

ROLES = {
    "caller": wire.CALLER,
    "assistant": wire.ASSISTANT,
}


def pack_timestamp(made_at: float) -> Timestamp:
    timestamp = Timestamp()
    timestamp.FromNanoseconds(int(made_at * 1e9))
    return timestamp


def pack_duration(seconds: float) -> Duration:
    duration = Duration()
    duration.FromNanoseconds(int(seconds * 1e9))
    return duration


def pack_talk_entry(item: TalkEntry) -> wire.TalkContext.TalkEntry:
    if item.type == "message":
        content = [wire.TalkMessage.TalkContent(text=c.whole()) for c in item.content]
        return wire.TalkContext.TalkEntry(
            message=wire.TalkMessage(
                id=item.id,
                role=ROLES[item.role],
                content=content,
                interrupted=item.interrupted,
                made_at=pack_timestamp(item.made_at),
            )
        )
    elif item.type == "tool_use":
        return wire.TalkContext.TalkEntry(
            tool_use=wire.ToolUse(
                use_id=item.use_id,
                name=item.name,
                arguments=item.arguments,
            )
        )
    return wire.TalkContext.TalkEntry()
