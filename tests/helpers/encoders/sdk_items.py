"""Chat items, metrics and usage of livekit-agents with every field set, and their JSON.

The JSON was written by hand.
"""

from __future__ import annotations

from typing import Any

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
    group_id="group_1",
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
    id="item_3",
    name="look",
    call_id="call_1",
    output="seen",
    is_error=True,
    created_at=TIME,
    reply_required=False,
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
    "playback_latency": 0.9,
    "provider_request_ids": ["r"],
    "llm_metadata": {"model_name": "m", "model_provider": "p"},
    "tts_metadata": {"model_name": "m", "model_provider": "p"},
    "stt_metadata": {"model_name": "m", "model_provider": "p"},
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
    input_cache_creation_tokens=13,
    output_reasoning_tokens=14,
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
STT = STTModelUsage(
    provider="p",
    model="m",
    input_tokens=1,
    output_tokens=2,
    audio_duration=3.5,
    input_audio_tokens=4,
)
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
HANDOFF = AgentHandoff(id="item_4", old_agent_id="one", new_agent_id="two", created_at=TIME)
CONFIG = AgentConfigUpdate(
    id="item_5", instructions="be kind", tools_added=["a"], tools_removed=["b"], created_at=TIME
)
ERROR = LLMError(timestamp=TIME, label="model", error=ValueError("it broke"), recoverable=False)
