"""Writes the events of a session to a file as JSON lines, and makes a transcript of the file.

It uses the generated code alone. `record` takes any object that emits the SDK's events, such as an
AgentSession of livekit-agents; `Session` below is a stand-in for one.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any, TextIO

from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol import models
from agent_session_protocol.decoders import (
    decode_chat_context_chat_item,
    decode_function_tools_executed,
)
from agent_session_protocol.dispatch import (
    AgentSessionEventArm,
    AgentSessionEventHandlers,
    dispatch_agent_session_event,
)
from agent_session_protocol.encoders import encode_agent_session_event
from agent_session_protocol.enums import close_reason_name
from agent_session_protocol.errors import UnknownArmError
from agent_session_protocol.events import AgentSessionEventForwarders, Emitter, subscribe
from google.protobuf.json_format import MessageToJson, Parse


def record(session: Emitter, file: TextIO) -> Callable[[], None]:
    """Writes the events of a session to a file until the returned function is called."""

    def write(arm: AgentSessionEventArm) -> Callable[[Any], None]:
        def forward(source: Any) -> None:
            event = encode_agent_session_event(arm, source)
            file.write(f"{MessageToJson(event, indent=None)}\n")

        return forward

    # A type checker reports an event that is missing here.
    forwarders = AgentSessionEventForwarders(
        agent_state_changed=write("agent_state_changed"),
        user_state_changed=write("user_state_changed"),
        conversation_item_added=write("conversation_item_added"),
        user_input_transcribed=write("user_input_transcribed"),
        function_tools_executed=write("function_tools_executed"),
        error=write("error"),
        overlapping_speech=write("overlapping_speech"),
        session_usage_updated=write("session_usage_updated"),
        amd_prediction=write("amd_prediction"),
        eot_prediction=write("eot_prediction"),
        tool_execution_updated=write("tool_execution_updated"),
        agent_false_interruption=write("agent_false_interruption"),
        session_closed=write("session_closed"),
        # livekit-agents emits no such events.
        function_tools_started=None,
        debug_message=None,
    )
    return subscribe(session, forwarders)


def transcript(file: TextIO) -> Iterator[str]:
    """Yields a line for each message, tool round, handoff and error, and for the end."""
    for line in file:
        event = Parse(line, pb.AgentSessionEvent(), ignore_unknown_fields=True)
        try:
            text = dispatch_agent_session_event(event, _HANDLERS)
        except UnknownArmError:
            text = "an event that this version does not know"
        if text is not None:
            yield f"{event.created_at.ToDatetime():%H:%M:%S}  {text}"


def _item_added(payload: pb.AgentSessionEvent.ConversationItemAdded) -> str | None:
    item = decode_chat_context_chat_item(payload.item)
    if isinstance(item, models.ChatMessage):
        return f"{item.role}: {' '.join(part.text or '' for part in item.content)}"
    if isinstance(item, models.AgentHandoff):
        return f"{item.new_agent_id} takes over"
    return None


def _tools_executed(payload: pb.AgentSessionEvent.FunctionToolsExecuted) -> str:
    executed = decode_function_tools_executed(payload)
    outputs = {output.call_id: output.output for output in executed.function_call_outputs}
    return ", ".join(
        f"{call.name}({call.arguments}) -> {outputs.get(call.call_id)}"
        for call in executed.function_calls
    )


def _closed(payload: pb.AgentSessionEvent.SessionClosed) -> str:
    return f"the session ended: {close_reason_name(payload.reason)}"


def _ignore(_: object) -> None:
    return None


# A type checker reports an event that is missing here.
_HANDLERS: AgentSessionEventHandlers[str | None] = AgentSessionEventHandlers(
    agent_state_changed=_ignore,
    user_state_changed=_ignore,
    conversation_item_added=_item_added,
    user_input_transcribed=_ignore,
    function_tools_started=_ignore,
    function_tools_executed=_tools_executed,
    error=lambda payload: f"error: {payload.message}",
    overlapping_speech=_ignore,
    session_usage_updated=_ignore,
    amd_prediction=_ignore,
    eot_prediction=_ignore,
    debug_message=_ignore,
    tool_execution_updated=_ignore,
    agent_false_interruption=_ignore,
    session_closed=_closed,
)


class Session:
    """Emits events as the session of an SDK does."""

    def __init__(self) -> None:
        self._callbacks: dict[str, list[Callable[[Any], None]]] = {}

    def on(self, event: str, callback: Callable[[Any], None]) -> None:
        """Adds a callback of an event."""
        self._callbacks.setdefault(event, []).append(callback)

    def off(self, event: str, callback: Callable[[Any], None]) -> None:
        """Removes a callback of an event."""
        self._callbacks[event].remove(callback)

    def emit(self, event: str, source: object) -> None:
        """Calls the callbacks of an event."""
        for callback in tuple(self._callbacks.get(event, ())):
            callback(source)


def _said(role: str, text: str) -> dict[str, object]:
    message: dict[str, object] = {"type": "message", "id": "", "role": role, "content": [text]}
    return message | {"interrupted": False, "extra": {}, "metrics": None, "created_at": None}


def main() -> None:
    """Records a short session and prints its transcript."""
    session, file = Session(), io.StringIO()
    stop = record(session, file)
    session.emit("conversation_item_added", {"item": _said("user", "What time is it?")})
    session.emit("conversation_item_added", {"item": _said("assistant", "It is noon.")})
    session.emit("close", {"reason": "task_completed", "error": None})
    stop()
    file.seek(0)
    for line in transcript(file):
        print(line)


if __name__ == "__main__":
    main()
