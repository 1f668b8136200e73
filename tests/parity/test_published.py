"""Published SDKs, against values written down by hand from their packages.

A package is fetched once and kept in pytest's cache folder. Without network, or without
npm for the JS package, a test is skipped and says so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from sessiongen.diagnostics import Refusal, Severity
from sessiongen.vocabulary import PYTHON, TYPESCRIPT, Reading, Scope, Vocabulary
from sessiongen.vocabulary.fetch import fetch
from sessiongen.vocabulary.store import dump, load
from sessiongen.vocabulary.verbs import read

ROOT = Path(__file__).resolve().parents[2]

Folder = Callable[[Scope, str], Path]
Read = Callable[[Scope, str], Reading]


@dataclass(frozen=True)
class Facts:
    """What a person found in a package.

    A place is `file:line`; words stand in one string; `?` marks a field that may be left
    out, `...` a set that is open; `arm=event` is an event sent on, `arm:method` a request.
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
    builds: dict[str, str] = field(default_factory=dict)
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
        builds={
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
        builds={"MetricsReport _metrics_to_proto": "..."},
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
        builds={
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
        builds={
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
        builds={
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


@pytest.fixture(scope="session")
def published(pytestconfig: pytest.Config) -> Folder:
    """Return the folder of a published version, fetched when it is not there yet."""
    kept = pytestconfig.cache
    assert kept is not None
    root = kept.mkdir("published_sdks")

    def get(scope: Scope, version: str) -> Path:
        folder = root / f"{scope.sdk}-{version}"
        if folder.is_dir():
            return folder
        if scope.language == "typescript" and shutil.which("npm") is None:
            pytest.skip("npm is not installed, so the JS package cannot be fetched")
        try:
            files = fetch(scope, version).files
        except Refusal as refusal:
            pytest.skip(f"{scope.sdk} {version} cannot be fetched: {refusal}")
        staging = root / f".{folder.name}.{os.getpid()}"
        for path, data in files.items():
            (staging / path).parent.mkdir(parents=True, exist_ok=True)
            (staging / path).write_bytes(data)
        staging.rename(folder)
        return folder

    return get


@pytest.fixture(scope="session")
def reading(published: Folder) -> Read:
    """Return the reading of a published version, made once."""

    @cache
    def get(scope: Scope, version: str) -> Reading:
        return read(scope, published(scope, version))

    return get


def known(reading: Reading) -> Vocabulary:
    assert reading.vocabulary is not None
    return reading.vocabulary


def words(text: str) -> list[str]:
    return sorted(text.split())


def places(vocabulary: Vocabulary) -> Iterator[tuple[str, str]]:
    """Yield every named fact with its place, as a person writes it down."""
    front = "livekit/agents/" if vocabulary.language == "python" else ""
    roles = [vocabulary.session, vocabulary.host, vocabulary.driver]
    for item in [*vocabulary.enums, *vocabulary.records, *(role for role in roles if role)]:
        yield item.name, str(item.place).removeprefix(front)


@pytest.mark.parametrize(("scope", "facts"), CASES, ids=IDS)
def test_definitions(reading: Read, scope: Scope, facts: Facts) -> None:
    diagnostics = reading(scope, facts.version).diagnostics
    vocabulary = known(reading(scope, facts.version))
    assert vocabulary.version == facts.version
    assert {item.severity for item in diagnostics} <= {Severity.WARNING}
    assert [item.message.split()[2] for item in diagnostics] == list(facts.absent)
    found = dict(places(vocabulary))
    assert {name: found.get(name) for name in facts.places} == facts.places
    for name, expected in facts.enums.items():
        enum = vocabulary.enum(name)
        assert enum is not None, name
        assert sorted([*enum.values, *(["..."] if enum.open else [])]) == words(expected), name
    for name, expected in facts.fields.items():
        record = vocabulary.record(name)
        assert record is not None, name
        spelled = [f"{item.name}{'?' if item.optional else ''}" for item in record.fields]
        assert sorted(spelled) == words(expected), name


@pytest.mark.parametrize(("scope", "facts"), CASES, ids=IDS)
def test_events_and_requests(reading: Read, scope: Scope, facts: Facts) -> None:
    vocabulary = known(reading(scope, facts.version))
    assert vocabulary.session is not None and vocabulary.host is not None
    assert [item.name for item in vocabulary.session.events] == words(facts.events)
    # every event that is declared is also emitted in each of these versions
    assert [item.name for item in vocabulary.session.emits] == words(facts.events)
    host = vocabulary.host
    forwards = [f"{item.arm}={item.event}" if item.event else item.arm for item in host.forwards]
    assert sorted(forwards) == words(facts.forwards)
    front = "livekit/agents/" if scope is PYTHON else ""
    calls = {
        item.arm: str(item.via).removeprefix(front) for item in host.forwards if not item.event
    }
    assert calls == facts.calls
    assert [item.arm for item in host.answers] == words(facts.answers)
    assert {item.arm: item.response for item in host.answers if item.response != item.arm} == {
        "ping": "pong"
    }
    driver = vocabulary.driver
    assert [item.name for item in (driver.events if driver else ())] == words(facts.driver_events)
    assert sorted(
        f"{item.arm}:{item.method}" for item in (driver.sends if driver else ())
    ) == words(facts.sends)


@pytest.mark.parametrize(("scope", "facts"), CASES, ids=IDS)
def test_builds(reading: Read, scope: Scope, facts: Facts) -> None:
    vocabulary = known(reading(scope, facts.version))
    found: dict[str, set[str]] = {}
    for item in vocabulary.builds:
        fields = found.setdefault(f"{item.message} {item.within}", set())
        fields.update([*item.fields, *(["..."] if item.open else [])])
    for name, expected in facts.builds.items():
        assert sorted(found.get(name, ())) == words(expected), name


def test_python_driver_emits_by_arm_and_js_renames_usage(reading: Read) -> None:
    python = known(reading(PYTHON, "1.8.9")).driver
    assert python is not None
    assert str(python.by_name) == "livekit/agents/voice/remote_session.py:1017"
    assert python.receives == ()
    js = known(reading(TYPESCRIPT, "1.9.0")).driver
    assert js is not None
    renamed = [(item.arm, item.event) for item in js.receives if item.arm != item.event]
    assert renamed == [("session_usage_updated", "session_usage")]


def test_js_host_ignores_video_switches(reading: Read) -> None:
    def reads(scope: Scope, version: str) -> set[str]:
        host = known(reading(scope, version)).host
        assert host is not None
        return {path for item in host.answers if item.arm == "update_io" for path in item.reads}

    sound = {"input.audio_enabled", "output.audio_enabled", "output.transcription_enabled"}
    video = {"input.video_enabled", "output.video_enabled"}
    assert reads(TYPESCRIPT, "1.9.0") == sound
    assert reads(PYTHON, "1.8.9") == sound | video


@pytest.mark.parametrize(
    ("scope", "version"), [(PYTHON, "1.8.9"), (TYPESCRIPT, "1.9.0")], ids=["python", "js"]
)
def test_committed_vocabulary_is_what_the_package_says(
    reading: Read, scope: Scope, version: str
) -> None:
    path = ROOT / "vocabularies" / scope.file
    assert reading(scope, version).diagnostics == []
    assert known(reading(scope, version)) == load(path)
    assert dump(known(reading(scope, version))) == path.read_bytes()


@pytest.mark.parametrize(
    ("scope", "version"), [(PYTHON, "1.8.9"), (TYPESCRIPT, "1.9.0")], ids=["python", "js"]
)
def test_same_bytes_under_any_hash_seed(
    published: Folder, tmp_path: Path, scope: Scope, version: str
) -> None:
    code = (
        "import sys; from pathlib import Path; from sessiongen.vocabulary.verbs import update;"
        "print(update(Path(sys.argv[1]), {sys.argv[2]: Path(sys.argv[3])}).diagnostics)"
    )
    written = []
    for seed in ("1", "2"):
        out = tmp_path / seed
        arguments = [str(out), scope.language, str(published(scope, version))]
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == "[]"
        written.append((out / scope.file).read_bytes())
    assert written[0] == written[1]
