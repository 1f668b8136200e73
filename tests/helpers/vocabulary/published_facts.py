"""Facts about published SDKs, collected from their packages by hand."""

from __future__ import annotations

from dataclasses import dataclass, field


from scopes import PYTHON, TYPESCRIPT


@dataclass(frozen=True)
class Facts:
    """The facts about one version of an SDK.

    A place is `file:line`. Names are separated by spaces; `?` marks an optional field, `...`
    an open set. `arm=event` is a forwarded event, `arm:method` a request.
    """

    version: str
    places: dict[str, str]
    enums: dict[str, str]
    events: str
    forwards: str = ""
    calls: dict[str, str] = field(default_factory=dict)
    answers: str = ""
    driver_events: str = ""
    sends: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    constructions: dict[str, str] = field(default_factory=dict)
    absent: tuple[str, ...] = ()


STATES = {
    "AgentState": "idle initializing listening speaking thinking",
    "UserState": "away listening speaking",
    "ChatRole": "assistant developer system user",
}
REASONS = "error job_shutdown participant_disconnected user_initiated"
CATEGORIES = "human machine-ivr machine-unavailable machine-vm uncertain"

REQUESTS_FIRST = (
    "get_agent_info get_chat_history get_framework_info get_rtc_stats get_session_state "
    "get_session_usage ping run_input"
)
REQUESTS = (
    "finalize_simulation get_agent_info get_chat_history get_framework_info get_rtc_stats "
    "get_session_state get_session_usage ping run_input update_io"
)
PYTHON_SENDS = (
    "finalize_simulation:finalize_simulation get_agent_info:get_agent_info "
    "get_chat_history:get_chat_history get_framework_info:get_framework_info "
    "get_session_state:get_session_state ping:wait_for_ready run_input:run update_io:update_io"
)
PYTHON_EVENTS = (
    "agent_false_interruption agent_state_changed close conversation_item_added debug_message "
    "error function_tools_executed metrics_collected overlapping_speech session_usage_updated "
    "speech_created tool_execution_updated user_input_transcribed user_state_changed "
    "user_transcription_timeout"
)
PYTHON_DRIVER_EVENTS = (
    "agent_false_interruption agent_state_changed conversation_item_added error "
    "function_tools_executed session_usage_updated tool_execution_updated "
    "user_input_transcribed user_state_changed"
)
PYTHON_FORWARDS = (
    "agent_false_interruption=agent_false_interruption agent_state_changed=agent_state_changed "
    "amd_prediction conversation_item_added=conversation_item_added debug_message=debug_message "
    "eot_prediction error=error function_tools_executed=function_tools_executed "
    "overlapping_speech=overlapping_speech session_usage_updated=session_usage_updated "
    "tool_execution_updated=tool_execution_updated "
    "user_input_transcribed=user_input_transcribed user_state_changed=user_state_changed"
)
PYTHON_ENUMS = {
    **STATES,
    "CloseReason": f"{REASONS} task_completed",
    "AMDCategory": CATEGORIES,
    "SpeechCreatedEvent.source": "generate_reply say",
}
TOOL_ENUMS = {
    "ToolCallEnded.status": "cancelled done error",
    "ToolReplyUpdated.status": "completed interrupted scheduled skipped",
}
TRANSCRIBED_FIRST = "created_at is_final language? speaker_id? transcript type"
TRANSCRIBED = "created_at is_final item_id? language? speaker_id? transcript type"

PYTHON_FACTS = [
    Facts(
        version="1.5.17",
        places={
            "CloseReason": "voice/events.py:271",
            "UserState": "voice/events.py:107",
            "AgentState": "voice/events.py:108",
            "AMDCategory": "voice/amd/classifier.py:28",
            "ChatRole": "llm/chat_context.py:250",
            "UserInputTranscribedEvent": "voice/events.py:125",
            "MetricsReport": "llm/chat_context.py:260",
            "SessionHost": "voice/remote_session.py:349",
            "AgentSession": "voice/agent_session.py:205",
        },
        enums=PYTHON_ENUMS,
        events="agent_false_interruption agent_state_changed close conversation_item_added "
        "debug_message error function_tools_executed metrics_collected overlapping_speech "
        "session_usage_updated speech_created user_input_transcribed user_state_changed",
        forwards="agent_state_changed=agent_state_changed amd_prediction "
        "conversation_item_added=conversation_item_added debug_message=debug_message error=error "
        "function_tools_executed=function_tools_executed overlapping_speech=overlapping_speech "
        "session_usage_updated=session_usage_updated "
        "user_input_transcribed=user_input_transcribed user_state_changed=user_state_changed",
        calls={"amd_prediction": "voice/amd/detector.py:543"},
        answers=REQUESTS_FIRST,
        fields={"UserInputTranscribedEvent": TRANSCRIBED_FIRST},
        constructions={
            "FunctionCallOutput SessionHost._on_function_tools_executed": "call_id is_error output",
            "AgentSessionEvent.UserInputTranscribed SessionHost._on_user_input_transcribed": (
                "is_final transcript"
            ),
            "MetricsReport _metrics_to_proto": "...",
        },
        absent=("RemoteSession", "SimulationVerdict", "ToolCallEnded", "ToolReplyUpdated"),
    ),
    Facts(
        version="1.6.10",
        places={
            "CloseReason": "voice/events.py:578",
            "UserState": "voice/events.py:316",
            "AgentState": "voice/events.py:317",
            "ToolCallEnded.status": "voice/events.py:513",
            "ToolReplyUpdated.status": "voice/events.py:524",
            "AMDCategory": "voice/amd/classifier.py:28",
            "ChatRole": "llm/chat_context.py:221",
            "UserInputTranscribedEvent": "voice/events.py:334",
            "SessionHost": "voice/remote_session.py:420",
            "RemoteSession": "voice/remote_session.py:1132",
            "AgentSession": "voice/agent_session.py:350",
        },
        enums={**PYTHON_ENUMS, **TOOL_ENUMS},
        events=PYTHON_EVENTS,
        forwards=PYTHON_FORWARDS,
        calls={
            "amd_prediction": "voice/amd/detector.py:565",
            "eot_prediction": "voice/agent_activity.py:2319",
        },
        answers=REQUESTS,
        driver_events=PYTHON_DRIVER_EVENTS,
        sends=PYTHON_SENDS,
        fields={"UserInputTranscribedEvent": TRANSCRIBED},
        constructions={"MetricsReport _metrics_to_proto": "..."},
    ),
    Facts(
        version="1.7.1",
        places={
            "CloseReason": "voice/events.py:565",
            "UserState": "voice/events.py:305",
            "AgentState": "voice/events.py:306",
            "ToolCallEnded.status": "voice/events.py:500",
            "ToolReplyUpdated.status": "voice/events.py:511",
            "AMDCategory": "voice/amd/classifier.py:28",
            "ChatRole": "llm/chat_context.py:222",
            "UserInputTranscribedEvent": "voice/events.py:323",
            "SessionHost": "voice/remote_session.py:337",
            "RemoteSession": "voice/remote_session.py:976",
            "AgentSession": "voice/agent_session.py:354",
        },
        enums={**PYTHON_ENUMS, **TOOL_ENUMS},
        events=PYTHON_EVENTS,
        forwards=PYTHON_FORWARDS,
        calls={
            "amd_prediction": "voice/amd/detector.py:565",
            "eot_prediction": "voice/agent_activity.py:2421",
        },
        answers=REQUESTS,
        driver_events=PYTHON_DRIVER_EVENTS,
        sends=PYTHON_SENDS,
        fields={"UserInputTranscribedEvent": TRANSCRIBED},
    ),
    Facts(
        version="1.8.9",
        places={
            "CloseReason": "voice/events.py:589",
            "UserState": "voice/events.py:327",
            "AgentState": "voice/events.py:328",
            "ToolCallEnded.status": "voice/events.py:524",
            "ToolReplyUpdated.status": "voice/events.py:535",
            "AMDCategory": "voice/amd/classifier.py:28",
            "ChatRole": "llm/chat_context.py:276",
            "SimulationVerdict": "simulation.py:36",
            "TimedString": "types.py:170",
            "SessionHost": "voice/remote_session.py:336",
            "RemoteSession": "voice/remote_session.py:975",
            "AgentSession": "voice/agent_session.py:383",
        },
        enums={**PYTHON_ENUMS, **TOOL_ENUMS},
        events=PYTHON_EVENTS,
        forwards=PYTHON_FORWARDS,
        calls={
            "amd_prediction": "voice/amd/detector.py:566",
            "eot_prediction": "voice/agent_activity.py:2696",
        },
        answers=REQUESTS,
        driver_events=PYTHON_DRIVER_EVENTS,
        sends=PYTHON_SENDS,
        fields={
            "UserInputTranscribedEvent": TRANSCRIBED,
            "AMDPredictionEvent": "category delay reason speech_duration transcript type",
            "FunctionCall": "arguments call_id created_at extra group_id? id name type",
            "SimulationVerdict": "reason success",
            "AgentSessionUsage": "model_usage",
            "InterruptionModelUsage": "model provider total_requests type",
        },
        constructions={
            "FunctionCall SessionHost._on_function_tools_executed": "arguments call_id name",
            "FunctionCall SessionHost._on_tool_execution_updated": "arguments call_id id name",
            "FunctionCall encode_chat_item": "...",
            "AgentSessionEvent.UserInputTranscribed SessionHost._on_user_input_transcribed": (
                "is_final transcript"
            ),
            "AgentSessionEvent.OverlappingSpeech SessionHost._on_overlapping_speech": (
                "detected_at detection_delay is_interruption overlap_started_at"
            ),
            "AgentSessionEvent.ToolExecutionUpdated.Ended SessionHost._on_tool_execution_updated": (
                "call_id id message status"
            ),
        },
    ),
]

JS_FORWARDS_FIRST = (
    "agent_state_changed=agent_state_changed conversation_item_added=conversation_item_added "
    "error=error function_tools_executed=function_tools_executed "
    "overlapping_speech=overlapping_speech session_usage_updated=metrics_collected "
    "user_input_transcribed=user_input_transcribed user_state_changed=user_state_changed"
)
JS_SENDS_FIRST = (
    "get_agent_info:fetchAgentInfo get_chat_history:fetchChatHistory get_rtc_stats:fetchRtcStats "
    "get_session_state:fetchSessionState get_session_usage:fetchSessionUsage run_input:sendMessage"
)
JS_ENUMS = {
    **STATES,
    "CloseReason": REASONS,
    "ShutdownReason": f"{REASONS} ...",
    "SpeechSource": "generate_reply say tool_response",
}

JS_FACTS = [
    Facts(
        version="1.2.6",
        places={
            "CloseReason": "src/voice/events.ts:41",
            "UserState": "src/voice/events.ts:38",
            "AgentState": "src/voice/events.ts:39",
            "ShutdownReason": "src/voice/events.ts:48",
            "ChatRole": "src/llm/chat_context.ts:10",
            "UserInputTranscribedEvent": "src/voice/events.ts:88",
            "SessionHost": "src/voice/remote_session.ts:463",
            "RemoteSession": "src/voice/remote_session.ts:860",
            "AgentSession": "src/voice/agent_session.ts:200",
        },
        enums=JS_ENUMS,
        events="agent_state_changed close conversation_item_added error function_tools_executed "
        "metrics_collected overlapping_speech session_usage_updated speech_created "
        "user_input_transcribed user_state_changed",
        forwards=JS_FORWARDS_FIRST,
        answers=REQUESTS_FIRST,
        driver_events="agent_state_changed conversation_item_added error function_tools_executed "
        "overlapping_speech session_usage user_input_transcribed user_state_changed",
        sends=JS_SENDS_FIRST,
        fields={
            "UserInputTranscribedEvent": ("createdAt isFinal language? speakerId? transcript type")
        },
        constructions={
            "FunctionCallOutput SessionHost.onFunctionToolsExecuted": "call_id is_error output",
            "MetricsReport chatItemToProto": (
                "e2e_latency end_of_turn_delay llm_node_ttft on_user_turn_completed_delay "
                "transcription_delay tts_node_ttfb"
            ),
        },
        absent=("AMDCategory", "SimulationVerdict"),
    ),
    Facts(
        version="1.9.0",
        places={
            "CloseReason": "src/voice/events.ts:48",
            "UserState": "src/voice/events.ts:45",
            "AgentState": "src/voice/events.ts:46",
            "ShutdownReason": "src/voice/events.ts:55",
            "ChatRole": "src/llm/chat_context.ts:11",
            "AMDCategory": "src/voice/amd.ts:32",
            "SimulationVerdict": "src/simulation.ts:24",
            "TimedString": "src/voice/io.ts:41",
            "SessionHost": "src/voice/remote_session.ts:549",
            "RemoteSession": "src/voice/remote_session.ts:1122",
            "AgentSession": "src/voice/agent_session.ts:508",
        },
        enums={**JS_ENUMS, "AMDCategory": CATEGORIES},
        events="agent_false_interruption agent_state_changed close conversation_item_added "
        "debug_message eot_prediction error function_tools_executed metrics_collected "
        "overlapping_speech session_usage_updated speech_created user_input_transcribed "
        "user_state_changed user_transcription_timeout",
        forwards=f"agent_false_interruption=agent_false_interruption {JS_FORWARDS_FIRST} "
        "amd_prediction debug_message=debug_message eot_prediction=eot_prediction",
        calls={"amd_prediction": "src/voice/agent_session.ts:1260"},
        answers=REQUESTS,
        driver_events="agent_false_interruption agent_state_changed amd_prediction "
        "conversation_item_added debug_message eot_prediction error function_tools_executed "
        "overlapping_speech session_usage user_input_transcribed user_state_changed",
        sends="finalize_simulation:finalizeSimulation get_framework_info:fetchFrameworkInfo "
        + JS_SENDS_FIRST,
        fields={
            "UserInputTranscribedEvent": (
                "createdAt isFinal itemId? language? speakerId? transcript type"
            ),
            "FunctionCall": "args callId createdAt extra groupId? id name thoughtSignature? type",
            "SimulationVerdict": "reason success",
            "AMDPredictionEvent": (
                "category delayMs isMachine rawResponse reason speechDurationMs transcript type"
            ),
            "TimedString": "confidence? endTime? speakerId? startTime? startTimeOffset? text",
        },
        constructions={
            "FunctionCall SessionHost.onFunctionToolsExecuted": "arguments call_id name",
            "FunctionCall encodeChatItem": "arguments call_id created_at id name",
            "MetricsReport encodeMetrics": (
                "e2e_latency end_of_turn_delay llm_node_ttft on_user_turn_completed_delay "
                "started_speaking_at stopped_speaking_at transcription_delay tts_node_ttfb"
            ),
            "AgentSessionEvent.UserInputTranscribed SessionHost.onUserInputTranscribed": (
                "is_final transcript"
            ),
        },
    ),
]

CASES = [(PYTHON, facts) for facts in PYTHON_FACTS] + [(TYPESCRIPT, facts) for facts in JS_FACTS]
IDS = [f"{scope.sdk}-{facts.version}" for scope, facts in CASES]
