"""Emits events of livekit-agents that need a microphone, a detector or a debugger to occur.

Their values are the `sdk_events` of `conversation.json`. They are emitted in the same way as by the
SDK.
"""

from __future__ import annotations

from typing import Any

from google.protobuf.struct_pb2 import Struct
from interop_agent import CONVERSATION
from livekit.agents.inference.interruption import OverlappingSpeechEvent
from livekit.agents.voice import AgentSession
from livekit.agents.voice.amd import AMDCategory, AMDPredictionEvent
from livekit.agents.voice.events import (
    AgentFalseInterruptionEvent,
    EotPredictionEvent,
    UserInputTranscribedEvent,
)
from livekit.protocol.agent_pb import agent_session as agent_pb

_PLAIN = {
    "user_input_transcribed": UserInputTranscribedEvent,
    "agent_false_interruption": AgentFalseInterruptionEvent,
    "overlapping_speech": OverlappingSpeechEvent,
}


def emit_event(session: AgentSession[None], arm: str) -> None:
    """Emits the event of an arm."""
    values: dict[str, Any] = CONVERSATION["sdk_events"][arm]
    emitter: Any = session  # the type stubs of the SDK lack some of its events
    if arm == "user_state_changed":
        session._update_user_state(values["new_state"], last_speaking_time=values["created_at"])
    elif arm == "amd_prediction":
        category = AMDCategory(values["category"])
        _host(session)._on_amd_prediction(AMDPredictionEvent(**{**values, "category": category}))
    elif arm == "eot_prediction":
        _host(session)._on_eot_prediction(EotPredictionEvent(**values))
    elif arm == "debug_message":
        payload = Struct()
        payload.update(values)
        emitter.emit("debug_message", agent_pb.DebugMessage(payload=payload))
    else:
        emitter.emit(arm, _PLAIN[arm](**values))


def _host(session: AgentSession[None]) -> Any:
    """Returns the host, whose methods the detectors of the SDK call."""
    assert session._session_host is not None
    return session._session_host
