"""The behaviour of published SDKs, collected from their packages by hand.

It adds to `published_facts`: the values to which hosts map literals, the defaults for other
literals, the events whose own time is sent, and the error texts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from scopes import PYTHON, TYPESCRIPT

STATES = "idle=AS_IDLE initializing=AS_INITIALIZING listening=AS_LISTENING speaking=AS_SPEAKING thinking=AS_THINKING"
USERS = "away=US_AWAY listening=US_LISTENING speaking=US_SPEAKING"
ROLES = "assistant=ASSISTANT developer=DEVELOPER system=SYSTEM user=USER"
CATEGORIES = (
    "human=AMD_HUMAN machine-ivr=AMD_MACHINE_IVR machine-unavailable=AMD_MACHINE_UNAVAILABLE "
    "machine-vm=AMD_MACHINE_VM uncertain=AMD_UNCERTAIN"
)
CALLS = "cancelled=TC_CANCELLED done=TC_DONE error=TC_ERROR"
REPLIES = (
    "completed=TR_COMPLETED interrupted=TR_INTERRUPTED scheduled=TR_SCHEDULED skipped=TR_SKIPPED"
)
IDLE = "AS_IDLE:SessionHost._handle_request AS_IDLE:SessionHost._on_agent_state_changed"
LISTENING = (
    "US_LISTENING:SessionHost._handle_request US_LISTENING:SessionHost._on_user_state_changed"
)

OPTIONS_FIRST = (
    "endpointing interruption ivr_detection max_tool_steps min_consecutive_speech_delay "
    "preemptive_generation use_tts_aligned_transcript user_away_timeout"
)
OPTIONS = f"{OPTIONS_FIRST} transcription_timeout"
JS_OPTIONS = (
    "endpointing interruption max_tool_steps preemptive_generation use_tts_aligned_transcript "
    "user_away_timeout"
)
CONVERSATION = (
    "event:sends event:receives request:sends request:receives response:sends response:receives"
)
CONSOLE = (
    "audio_input:receives audio_output:sends audio_playback_clear:sends "
    f"audio_playback_finished:receives audio_playback_flush:sends {CONVERSATION}"
)
TIMED = "agent_false_interruption tool_execution_updated user_state_changed"
JS_TIMED = (
    "agent_state_changed conversation_item_added error function_tools_executed "
    "session_usage_updated user_input_transcribed user_state_changed"
)
PYTHON_MAPS = {
    "_AGENT_STATE_MAP": STATES,
    "_AMD_CATEGORY_MAP": CATEGORIES,
    "_USER_STATE_MAP": USERS,
}
TOOL_MAPS = {"_TOOL_CALL_STATUS_MAP": CALLS, "_TOOL_REPLY_STATUS_MAP": REPLIES}
DEFAULTS = {"_AGENT_STATE_MAP": IDLE, "_USER_STATE_MAP": LISTENING}


@dataclass(frozen=True)
class Behaviour:
    """The behaviour of one SDK's host and driver.

    maps: `literal=VALUE` by the map's name. defaults: `VALUE:FUNCTION` by the map's name.
    timed: the arms whose handler reads the event's time. errors: the error texts of run_input.
    ignored_variants: `tag:FUNCTION`. emits_payload_only: where the driver emits only a payload.
    """

    version: str
    maps: dict[str, str]
    defaults: dict[str, str]
    options: str
    content: str
    timed: str
    envelope_uses: str
    errors: tuple[str, ...] = ("empty run_input text",)
    ignored_variants: str = ""
    emits_payload_only: str = ""
    places: dict[str, str] = field(default_factory=dict)


PYTHON_BEHAVIOUR = [
    Behaviour(
        "1.5.17",
        maps={**PYTHON_MAPS, "role_map": ROLES},
        defaults={**DEFAULTS, "role_map": "ASSISTANT:_chat_item_to_proto"},
        options=OPTIONS_FIRST,
        content="AudioContent ImageContent Instructions str",
        timed="user_state_changed",
        # This version has no driver, and the console's output is not sent by the host.
        envelope_uses="audio_input:receives audio_playback_finished:receives event:sends request:receives "
        "response:sends",
        errors=(),
    ),
    Behaviour(
        "1.6.10",
        maps={**PYTHON_MAPS, **TOOL_MAPS, "role_map": ROLES},
        defaults={**DEFAULTS, "role_map": "ASSISTANT:_chat_item_to_proto"},
        options=OPTIONS,
        content="AudioContent ImageContent str",
        timed=TIMED,
        envelope_uses=CONSOLE,
    ),
    Behaviour(
        "1.7.1",
        maps={**PYTHON_MAPS, **TOOL_MAPS, "ROLES": ROLES},
        defaults=DEFAULTS,
        options=OPTIONS,
        content="AudioContent ImageContent str",
        timed=TIMED,
        envelope_uses=CONSOLE,
    ),
    Behaviour(
        "1.8.9",
        maps={**PYTHON_MAPS, **TOOL_MAPS, "ROLES": ROLES},
        defaults=DEFAULTS,
        options=OPTIONS,
        content="AudioContent CacheBreakpoint ImageContent str",
        timed=TIMED,
        envelope_uses=CONSOLE,
        places={
            "_AGENT_STATE_MAP": "voice/remote_session.py:276",
            "options": "voice/remote_session.py:323",
            "ChatContent": "llm/chat_context.py:453",
            "ChatItem": "llm/chat_context.py:516",
            "audio_output": "cli/tcp_console.py:116",
        },
    ),
]
JS_BEHAVIOUR = [
    Behaviour(
        "1.2.6",
        maps={"AGENT_STATE_MAP": STATES, "USER_STATE_MAP": USERS, "roleMap": ROLES},
        defaults={"roleMap": "ASSISTANT:chatItemToProto"},
        options=JS_OPTIONS,
        content="AudioContent ImageContent string",
        timed=JS_TIMED,
        envelope_uses=CONVERSATION,
        errors=(),
        emits_payload_only="src/voice/remote_session.ts:930",
    ),
    Behaviour(
        "1.9.0",
        maps={
            "AGENT_STATE_MAP": STATES,
            "AMD_CATEGORY_MAP": CATEGORIES,
            "ROLE_MAP": ROLES,
            "USER_STATE_MAP": USERS,
        },
        defaults={"ROLE_MAP": "ASSISTANT:encodeChatItem"},
        options=f"{JS_OPTIONS} transcription_timeout",
        content="AudioContent ImageContent Instructions string",
        timed=f"agent_false_interruption {JS_TIMED}",
        envelope_uses=CONSOLE,
        errors=("agent produced no response items", "empty run_input text"),
        ignored_variants="agent_config_update:chatItemsToProto",
        emits_payload_only="src/voice/remote_session.ts:1192",
        places={
            "ROLE_MAP": "src/proto.ts:16",
            "options": "src/voice/remote_session.ts:535",
            "ChatContent": "src/llm/chat_context.ts:230",
            "audio_output": "src/voice/console_io.ts:115",
            "agent_config_update": "src/voice/remote_session.ts:408",
        },
    ),
]

BEHAVIOUR = [(PYTHON, found) for found in PYTHON_BEHAVIOUR] + [
    (TYPESCRIPT, it) for it in JS_BEHAVIOUR
]
BEHAVIOUR_IDS = [f"{scope.sdk}-{item.version}" for scope, item in BEHAVIOUR]
