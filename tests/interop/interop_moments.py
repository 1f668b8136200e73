"""Things that happen in a session and need a microphone, a detector or a debugger to happen.

Comes in: the `moments` of `conversation.json`. Goes out: the same as events of livekit-agents,
raised on a session at the place where the SDK itself would raise them.
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


def raise_moment(session: AgentSession[None], arm: str) -> None:
    """Let it happen."""
    values: dict[str, Any] = CONVERSATION["moments"][arm]
    emitter: Any = session  # the SDK's stubs know fewer events than it has
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
    """Where the SDK's detectors report."""
    assert session._session_host is not None
    return session._session_host
