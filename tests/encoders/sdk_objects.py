"""Objects of livekit-agents with every field filled, and what the wire must hold of each.

In: the real classes. Out: by full name of the message, the objects and the JSON of their
messages, written down by hand. The JSON is the reader's view: enums by their published
names, times in RFC 3339, spans in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
from livekit.agents.llm import (
    AgentConfigUpdate,
    AgentHandoff,
    AudioContent,
    ChatMessage,
    FunctionCall,
    FunctionCallOutput,
    ImageContent,
    LLMError,
)
from livekit.agents.metrics import AgentSessionUsage, LLMModelUsage, STTModelUsage, TTSModelUsage
from livekit.agents.metrics.usage import EOTModelUsage, InterruptionModelUsage
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

# 2023-11-14 22:13:20 UTC and a fraction that a float holds exactly.
TIME = 1_700_000_000.5
STAMP = "2023-11-14T22:13:20.500Z"
CALL = FunctionCall(
    id="item_2",
    call_id="call_1",
    arguments='{"a": 1}',
    name="look",
    created_at=TIME,
    extra={"k": 7},
)
CALL_JSON = {
    "id": "item_2",
    "callId": "call_1",
    "arguments": '{"a": 1}',
    "name": "look",
    "createdAt": STAMP,
    "extra": {"k": "7"},
}
OUTPUT = FunctionCallOutput(
    id="item_3", name="look", call_id="call_1", output="seen", is_error=True, created_at=TIME
)
OUTPUT_JSON = {
    "id": "item_3",
    "name": "look",
    "callId": "call_1",
    "output": "seen",
    "isError": True,
    "createdAt": STAMP,
}
METRICS: Any = {
    "started_speaking_at": TIME,
    "stopped_speaking_at": TIME + 1,
    "transcription_delay": 0.1,
    "end_of_turn_delay": 0.2,
    "on_user_turn_completed_delay": 0.3,
    "llm_node_ttft": 0.4,
    "tts_node_ttfb": 0.5,
    "e2e_latency": 0.6,
    "llm_node_tps": 0.7,
    "llm_node_ttfs": 0.8,
}
METRICS_JSON = {
    "startedSpeakingAt": STAMP,
    "stoppedSpeakingAt": "2023-11-14T22:13:21.500Z",
    "transcriptionDelay": 0.1,
    "endOfTurnDelay": 0.2,
    "onUserTurnCompletedDelay": 0.3,
    "llmNodeTtft": 0.4,
    "ttsNodeTtfb": 0.5,
    "e2eLatency": 0.6,
    "llmNodeTps": 0.7,
    "llmNodeTtfs": 0.8,
}
MESSAGE = ChatMessage(
    id="item_1",
    role="assistant",
    content=["hello", AudioContent(frame=[]), ImageContent(image="data:,"), "there"],
    interrupted=True,
    transcript_confidence=0.75,
    extra={"n": 1, "s": "x"},
    metrics=METRICS,
    created_at=TIME,
)
MESSAGE_JSON = {
    "id": "item_1",
    "role": "ASSISTANT",
    "content": [{"text": "hello"}, {"text": "there"}],
    "interrupted": True,
    "transcriptConfidence": 0.75,
    "extra": {"n": "1", "s": "x"},
    "metrics": METRICS_JSON,
    "createdAt": STAMP,
}
LLM = LLMModelUsage(
    provider="p",
    model="m",
    input_tokens=1,
    input_cached_tokens=2,
    input_audio_tokens=3,
    input_cached_audio_tokens=4,
    input_text_tokens=5,
    input_cached_text_tokens=6,
    input_image_tokens=7,
    input_cached_image_tokens=8,
    output_tokens=9,
    output_audio_tokens=10,
    output_text_tokens=11,
    session_duration=12.5,
)
LLM_JSON = {
    "provider": "p",
    "model": "m",
    "inputTokens": 1,
    "inputCachedTokens": 2,
    "inputAudioTokens": 3,
    "inputCachedAudioTokens": 4,
    "inputTextTokens": 5,
    "inputCachedTextTokens": 6,
    "inputImageTokens": 7,
    "inputCachedImageTokens": 8,
    "outputTokens": 9,
    "outputAudioTokens": 10,
    "outputTextTokens": 11,
    "sessionDuration": 12.5,
}
TTS = TTSModelUsage(
    provider="p",
    model="m",
    input_tokens=1,
    output_tokens=2,
    characters_count=3,
    audio_duration=4.5,
)
STT = STTModelUsage(provider="p", model="m", input_tokens=1, output_tokens=2, audio_duration=3.5)
USAGE = AgentSessionUsage(
    model_usage=[
        LLM,
        TTS,
        STT,
        InterruptionModelUsage(provider="p", model="m", total_requests=1),
        EOTModelUsage(provider="p", model="m", total_requests=2),
    ]
)
USAGE_JSON = {
    "modelUsage": [
        {"llm": LLM_JSON},
        {
            "tts": {
                "provider": "p",
                "model": "m",
                "inputTokens": 1,
                "outputTokens": 2,
                "charactersCount": 3,
                "audioDuration": 4.5,
            }
        },
        {
            "stt": {
                "provider": "p",
                "model": "m",
                "inputTokens": 1,
                "outputTokens": 2,
                "audioDuration": 3.5,
            }
        },
        {"interruption": {"provider": "p", "model": "m", "totalRequests": 1}},
        {"eot": {"provider": "p", "model": "m", "totalRequests": 2}},
    ]
}


@dataclass(frozen=True)
class Sample:
    """An object of the SDK, and the JSON of its message."""

    source: Any
    json: dict[str, Any]


def _tool(update: Any, json: dict[str, Any]) -> Sample:
    return Sample(ToolExecutionUpdatedEvent(update=update, created_at=TIME), json)


HANDOFF = AgentHandoff(id="item_4", old_agent_id="one", new_agent_id="two", created_at=TIME)
CONFIG = AgentConfigUpdate(
    id="item_5", instructions="be kind", tools_added=["a"], tools_removed=["b"], created_at=TIME
)
ERROR = LLMError(timestamp=TIME, label="model", error=ValueError("it broke"), recoverable=False)

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
                transcript="hi", is_final=True, language=LanguageCode("de"), created_at=TIME
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
        Sample(ErrorEvent(error=ERROR, source=None, created_at=TIME), {"message": "it broke"}),
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
            ToolCallUpdated(id="u", call_id="call_1", message="half way"),
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
            ToolCallUpdated(id="u", call_id="call_1", message="half way"),
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
