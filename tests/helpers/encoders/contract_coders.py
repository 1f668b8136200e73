"""The coders of the contract's package, and the literals of its enums, collected by hand."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import coders
from agent_session_protocol import agent_session_pb2 as pb

LITERALS: dict[str, dict[int, Any]] = {
    "agent_session.ChatRole": {0: "developer", 1: "system", 2: "user", 3: "assistant"},
    "agent_session.AgentState": dict(
        enumerate(["initializing", "idle", "listening", "thinking", "speaking"])
    ),
    "agent_session.UserState": {0: "speaking", 1: "listening", 2: "away"},
    "agent_session.ToolCallStatus": {1: "done", 2: "error", 3: "cancelled"},
    "agent_session.ToolReplyStatus": dict(
        enumerate(["scheduled", "completed", "interrupted", "skipped"])
    ),
    "agent_session.CloseReason": {
        0: None,
        1: "error",
        2: "job_shutdown",
        3: "participant_disconnected",
        4: "user_initiated",
        5: "task_completed",
    },
    "agent_session.AmdCategory": {
        0: None,
        1: "human",
        2: "machine-ivr",
        3: "machine-vm",
        4: "machine-unavailable",
        5: "uncertain",
    },
}


class Contract:
    """The contract's package, with the interface of other generated packages."""

    def module(self, name: str) -> ModuleType:
        return importlib.import_module(f"agent_session_protocol.{name}")


CODERS = coders.coders(Contract(), LITERALS)


def without_empty_parts(message: Any) -> Any:
    """Removes the parts of chat messages without text, which no encoder writes."""
    for field, value in message.ListFields():
        if field.message_type is None or coders.is_map(field):
            continue
        for item in value if field.is_repeated else [value]:
            without_empty_parts(item)
    if isinstance(message, pb.ChatMessage):
        parts = [part for part in message.content if part.HasField("text")]
        del message.content[:]
        message.content.extend(parts)
    return message
