"""Objects of livekit-agents with every field set, and the JSON of their messages.

The JSON was written by hand: enums by their names, times in RFC 3339, durations in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy
from livekit.agents import (
    AgentFalseInterruptionEvent,
    AgentStateChangedEvent,
    CloseEvent,
    CloseReason,
    ConversationItemAddedEvent,
    ErrorEvent,
    FunctionToolsExecutedEvent,
    UserInputTranscribedEvent,
    UserStateChangedEvent,
)
from livekit.agents.inference.interruption import OverlappingSpeechEvent
from livekit.agents.language import LanguageCode
from livekit.agents.llm import AgentConfigUpdate, AgentHandoff
from livekit.agents.simulation import SimulationVerdict
from livekit.agents.voice.amd.classifier import AMDCategory, AMDPredictionEvent
from livekit.agents.voice.events import (
    EotPredictionEvent,
    SessionUsageUpdatedEvent,
    ToolCallEnded,
    ToolCallStarted,
    ToolCallUpdated,
    ToolExecutionUpdatedEvent,
    ToolReplyUpdated,
)
from sdk_items import (
    CALL,
    CALL_JSON,
    CONFIG,
    ERROR,
    HANDOFF,
    LLM,
    LLM_JSON,
    MESSAGE,
    MESSAGE_JSON,
    METRICS,
    METRICS_JSON,
    OUTPUT,
    OUTPUT_JSON,
    STAMP,
    STT,
    TIME,
    TTS,
    USAGE,
    USAGE_JSON,
)


@dataclass(frozen=True)
class Sample:
    """An object of the SDK, and the JSON of its message."""

    source: Any
    json: dict[str, Any]


def _tool(update: Any, json: dict[str, Any]) -> Sample:
    return Sample(ToolExecutionUpdatedEvent(update=update, created_at=TIME), json)


_EVENT = "agent_session.AgentSessionEvent"
_TOOLS = f"{_EVENT}.ToolExecutionUpdated"
SAMPLES: dict[str, list[Sample]] = {
    "agent_session.MetricsReport": [Sample(METRICS, METRICS_JSON)],
    "agent_session.ChatMessage": [Sample(MESSAGE, MESSAGE_JSON)],
    "agent_session.FunctionCall": [Sample(CALL, CALL_JSON)],
    "agent_session.FunctionCallOutput": [Sample(OUTPUT, OUTPUT_JSON)],
    "agent_session.AgentHandoff": [
        Sample(
            HANDOFF,
            {"id": "item_4", "oldAgentId": "one", "newAgentId": "two", "createdAt": STAMP},
        )
    ],
    "agent_session.AgentConfigUpdate": [
        Sample(
            CONFIG,
            {
                "id": "item_5",
                "instructions": "be kind",
                "toolsAdded": ["a"],
                "toolsRemoved": ["b"],
                "createdAt": STAMP,
            },
        )
    ],
    "agent_session.ChatContext.ChatItem": [
        Sample(MESSAGE, {"message": MESSAGE_JSON}),
        Sample(CALL, {"functionCall": CALL_JSON}),
        Sample(OUTPUT, {"functionCallOutput": OUTPUT_JSON}),
        Sample(
            AgentHandoff(id="h", new_agent_id="two", created_at=TIME),
            {"agentHandoff": {"id": "h", "newAgentId": "two", "createdAt": STAMP}},
        ),
        Sample(
            AgentConfigUpdate(id="c", created_at=TIME),
            {"agentConfigUpdate": {"id": "c", "createdAt": STAMP}},
        ),
    ],
    "agent_session.LLMModelUsage": [Sample(LLM, LLM_JSON)],
    "agent_session.TTSModelUsage": [Sample(TTS, USAGE_JSON["modelUsage"][1]["tts"])],
    "agent_session.STTModelUsage": [Sample(STT, USAGE_JSON["modelUsage"][2]["stt"])],
    "agent_session.InterruptionModelUsage": [
        Sample(USAGE.model_usage[3], USAGE_JSON["modelUsage"][3]["interruption"])
    ],
    "agent_session.EotModelUsage": [
        Sample(USAGE.model_usage[4], USAGE_JSON["modelUsage"][4]["eot"])
    ],
    "agent_session.ModelUsage": [
        Sample(source, json)
        for source, json in zip(USAGE.model_usage, USAGE_JSON["modelUsage"], strict=True)
    ],
    "agent_session.AgentSessionUsage": [Sample(USAGE, USAGE_JSON)],
    f"{_EVENT}.AgentStateChanged": [
        Sample(
            AgentStateChangedEvent(old_state="thinking", new_state="speaking", created_at=TIME),
            {"oldState": "AS_THINKING", "newState": "AS_SPEAKING"},
        )
    ],
    f"{_EVENT}.UserStateChanged": [
        Sample(
            UserStateChangedEvent(old_state="listening", new_state="away", created_at=TIME),
            {"oldState": "US_LISTENING", "newState": "US_AWAY"},
        )
    ],
    f"{_EVENT}.ConversationItemAdded": [
        Sample(
            ConversationItemAddedEvent(item=MESSAGE, created_at=TIME),
            {"item": {"message": MESSAGE_JSON}},
        )
    ],
    f"{_EVENT}.UserInputTranscribed": [
        Sample(
            UserInputTranscribedEvent(
                transcript="hi",
                is_final=True,
                language=LanguageCode("de"),
                created_at=TIME,
                item_id="item_6",
                speaker_id="speaker",
            ),
            {"transcript": "hi", "isFinal": True, "language": "de"},
        )
    ],
    f"{_EVENT}.FunctionToolsExecuted": [
        Sample(
            FunctionToolsExecutedEvent(
                function_calls=[CALL], function_call_outputs=[OUTPUT], created_at=TIME
            ),
            {"functionCalls": [CALL_JSON], "functionCallOutputs": [OUTPUT_JSON]},
        )
    ],
    f"{_EVENT}.Error": [
        Sample(ErrorEvent(error=ERROR, source="llm", created_at=TIME), {"message": "it broke"}),
        Sample(ErrorEvent(error=ValueError(), source=None), {"message": "ValueError"}),
        Sample(ErrorEvent(error="plain", source=None), {"message": "plain"}),
    ],
    f"{_EVENT}.OverlappingSpeech": [
        Sample(
            OverlappingSpeechEvent(
                is_interruption=True,
                overlap_started_at=TIME,
                detection_delay=0.25,
                detected_at=TIME + 1,
                created_at=TIME,
                agent_ended=True,
                total_duration=0.5,
                prediction_duration=0.5,
                speech_input=numpy.ones(2, numpy.int16),
                probabilities=numpy.ones(2, numpy.float32),
                probability=0.5,
                num_requests=2,
            ),
            {
                "isInterruption": True,
                "overlapStartedAt": STAMP,
                "detectionDelay": 0.25,
                "detectedAt": "2023-11-14T22:13:21.500Z",
            },
        )
    ],
    f"{_EVENT}.AmdPrediction": [
        Sample(
            AMDPredictionEvent(
                speech_duration=1.5,
                category=AMDCategory.MACHINE_IVR,
                reason="keys",
                transcript="press one",
                delay=0.25,
            ),
            {
                "speechDuration": "1.500s",
                "category": "AMD_MACHINE_IVR",
                "reason": "keys",
                "transcript": "press one",
                "delay": "0.250s",
            },
        )
    ],
    f"{_EVENT}.EotPrediction": [
        Sample(
            EotPredictionEvent(
                probability=0.5,
                threshold=0.25,
                inference_duration=0.125,
                delay=2.0,
                created_at=TIME,
            ),
            {"probability": 0.5, "threshold": 0.25, "inferenceDuration": "0.125s", "delay": "2s"},
        )
    ],
    f"{_EVENT}.SessionUsageUpdated": [
        Sample(SessionUsageUpdatedEvent(usage=USAGE, created_at=TIME), {"usage": USAGE_JSON})
    ],
    _TOOLS: [
        _tool(ToolCallStarted(function_call=CALL), {"started": {"functionCall": CALL_JSON}}),
        _tool(
            ToolCallUpdated(id="u", call_id="call_1", message="half way", silent=True),
            {"callUpdated": {"id": "u", "callId": "call_1", "message": "half way"}},
        ),
        _tool(
            ToolCallEnded(id="e", call_id="call_1", message="done", status="cancelled"),
            {
                "ended": {
                    "id": "e",
                    "callId": "call_1",
                    "message": "done",
                    "status": "TC_CANCELLED",
                }
            },
        ),
        _tool(
            ToolReplyUpdated(update_ids=["u"], status="skipped", speech_id="s"),
            {"replyUpdated": {"updateIds": ["u"], "status": "TR_SKIPPED", "speechId": "s"}},
        ),
    ],
    f"{_TOOLS}.Started": [Sample(ToolCallStarted(function_call=CALL), {"functionCall": CALL_JSON})],
    f"{_TOOLS}.CallUpdated": [
        Sample(
            ToolCallUpdated(id="u", call_id="call_1", message="half way", silent=True),
            {"id": "u", "callId": "call_1", "message": "half way"},
        )
    ],
    f"{_TOOLS}.Ended": [
        Sample(
            ToolCallEnded(id="e", call_id="call_1", message="bad", status="error"),
            {"id": "e", "callId": "call_1", "message": "bad", "status": "TC_ERROR"},
        )
    ],
    f"{_TOOLS}.ReplyUpdated": [
        Sample(
            ToolReplyUpdated(update_ids=["u", "v"], status="completed", speech_id="s"),
            {"updateIds": ["u", "v"], "status": "TR_COMPLETED", "speechId": "s"},
        )
    ],
    f"{_EVENT}.AgentFalseInterruption": [
        Sample(AgentFalseInterruptionEvent(resumed=True, created_at=TIME), {"resumed": True})
    ],
    f"{_EVENT}.SessionClosed": [
        Sample(
            CloseEvent(reason=CloseReason.TASK_COMPLETED, error=ERROR, created_at=TIME),
            {"reason": "CR_COMPLETED", "error": "it broke"},
        )
    ],
    "agent_session.SessionResponse.FinalizeSimulationResponse.SimulationVerdict": [
        Sample(SimulationVerdict(success=True, reason="well"), {"success": True, "reason": "well"})
    ],
}
