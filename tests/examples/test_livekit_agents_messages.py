"""The livekit-agents example: its messages beside those of the SDK's own host, byte by byte.

The host and the driver of the example meet each other peer in `interop/test_interop_example.py`.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
import sdk_items
import sdk_objects
from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp
from interop_agent import Clerk, job, scripted_session
from livekit import rtc
from livekit.agents._proto import encode_chat_item
from livekit.agents.voice import AgentSession, remote_session
from livekit.agents.voice.events import UserInputTranscribedEvent
from livekit.protocol.agent_pb import agent_session as pb
from sessiongen_command import ROOT

EXAMPLE = ROOT / "examples" / "livekit-agents"
sys.path.insert(0, str(EXAMPLE))

from session_host import SessionHost
from session_protocol import encoders
from session_protocol.errors import UnmappedValueError

SDKHost = remote_session.SessionHost
NOW = 1_800_000_000.0
SENT = "2027-01-15T08:00:00Z"
Json = dict[str, Any]


@pytest.fixture(autouse=True)
def event_loop_of_sdk() -> Iterator[None]:
    """Sets an event loop, which the SDK's host takes when it is constructed."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


class RecordingTransport(remote_session.SessionTransport):
    """Records what a host sends, and receives nothing."""

    def __init__(self) -> None:
        self.sent: list[pb.AgentSessionMessage] = []

    async def start(self) -> None: ...

    async def send_message(self, msg: pb.AgentSessionMessage) -> None:
        self.sent.append(msg)

    async def close(self) -> None: ...

    def __aiter__(self) -> AsyncIterator[pb.AgentSessionMessage]:
        return self

    async def __anext__(self) -> pb.AgentSessionMessage:
        raise StopAsyncIteration


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stops the clocks that hosts read."""
    monkeypatch.setattr(time, "time", lambda: NOW)
    monkeypatch.setattr(time, "time_ns", lambda: int(NOW * 1_000_000_000))


# ---------------------------------------------------------------------------------------
# Events.

_EVENT = "agent_session.AgentSessionEvent"
EVENTS: dict[str, list[Any]] = {
    arm: [sample.source for sample in sdk_objects.SAMPLES[f"{_EVENT}.{message}"]]
    for arm, message in {
        "agent_state_changed": "AgentStateChanged",
        "user_state_changed": "UserStateChanged",
        "conversation_item_added": "ConversationItemAdded",
        "user_input_transcribed": "UserInputTranscribed",
        "function_tools_executed": "FunctionToolsExecuted",
        "error": "Error",
        "overlapping_speech": "OverlappingSpeech",
        "session_usage_updated": "SessionUsageUpdated",
        "amd_prediction": "AmdPrediction",
        "eot_prediction": "EotPrediction",
        "tool_execution_updated": "ToolExecutionUpdated",
        "agent_false_interruption": "AgentFalseInterruption",
    }.items()
}
_PAYLOAD = Struct()
_PAYLOAD.update({"step": 3, "tags": ["a"]})
EVENTS["debug_message"] = [pb.DebugMessage(), pb.DebugMessage(payload=_PAYLOAD)]

# The differences of each event, by the path of the field: what the SDK sends, and the example.
# None is a field that is not sent. docs/livekit-agents.md lists them as well.
TIME = {"event.created_at": (SENT, sdk_items.STAMP)}
_STARTED = "event.tool_execution_updated.started.function_call"
DIFFERENCES: dict[str, list[dict[str, tuple[Any, Any]]]] = {
    "agent_state_changed": [TIME],
    "conversation_item_added": [TIME],
    "user_input_transcribed": [
        {**TIME, "event.user_input_transcribed.language": (None, "de")},
    ],
    "function_tools_executed": [
        {
            **TIME,
            "event.function_tools_executed.function_calls.0.id": (None, "item_2"),
            "event.function_tools_executed.function_calls.0.created_at": (None, sdk_items.STAMP),
            "event.function_tools_executed.function_calls.0.extra": (None, {"k": "7"}),
            "event.function_tools_executed.function_call_outputs.0.id": (None, "item_3"),
            "event.function_tools_executed.function_call_outputs.0.created_at": (
                None,
                sdk_items.STAMP,
            ),
        }
    ],
    "overlapping_speech": [TIME],
    "session_usage_updated": [TIME],
    "eot_prediction": [TIME],
    "tool_execution_updated": [
        {
            f"{_STARTED}.created_at": (None, sdk_items.STAMP),
            f"{_STARTED}.extra": (None, {"k": "7"}),
        },
        {},
        {},
        {},
    ],
}


def flat(message: Json, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yields the path and the value of each field."""
    for key, value in message.items():
        if isinstance(value, list):
            value = {str(index): item for index, item in enumerate(value)}
        if isinstance(value, dict) and value and key != "extra":
            yield from flat(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


def differences(
    before: pb.AgentSessionMessage, after: pb.AgentSessionMessage
) -> dict[str, tuple[Any, Any]]:
    """Returns the fields that differ; {} means equal bytes, except for times within a microsecond."""
    one, two = (
        dict(flat(MessageToDict(item, preserving_proto_field_name=True)))
        for item in (before, after)
    )
    result = {
        path: (one.get(path), two.get(path))
        for path in [*one, *(path for path in two if path not in one)]
        if one.get(path) != two.get(path)
    }
    bytes_ = [item.SerializeToString(deterministic=True) for item in (before, after)]
    assert (bytes_[0] == bytes_[1]) == (not result), (before, after)
    return {path: values for path, values in result.items() if not are_close(path, *values)}


def are_close(path: str, before: Any, after: Any) -> bool:
    """Whether both are times and differ by what the SDK loses, as it computes them with floats."""
    if not path.endswith("_at") or before is None or after is None:
        return False
    one, two = Timestamp(), Timestamp()
    one.FromJsonString(before)
    two.FromJsonString(after)
    return abs(one.ToNanoseconds() - two.ToNanoseconds()) < 1000


class Sessions(rtc.EventEmitter[str]):
    """Stands for a session whose events both hosts forward."""


def emitted(arm: str, event: object) -> list[pb.AgentSessionMessage]:
    """Returns what the host of the SDK and that of the example send for an event."""
    session: Any = Sessions()
    messages = []
    for host_class in (SDKHost, SessionHost):
        host = host_class(RecordingTransport())
        host.register_session(session)
        if arm in ("amd_prediction", "eot_prediction"):
            getattr(host, f"_on_{arm}")(event)
        else:
            session.emit(arm, event)
        messages.append(host._event_ch.recv_nowait())
        assert host._event_ch.empty()
    return messages


def test_every_event_of_the_sdk_is_compared() -> None:
    arms = {field.name for field in pb.AgentSessionEvent.DESCRIPTOR.oneofs_by_name["event"].fields}
    assert EVENTS.keys() == arms - {"function_tools_started"}


@pytest.mark.parametrize("arm", sorted(EVENTS.keys() - {"error"}))
def test_events_beside_the_sdk(arm: str, now: None) -> None:
    sources = EVENTS[arm]
    expected = DIFFERENCES.get(arm, [{}] * len(sources))
    for source, wanted in zip(sources, expected, strict=True):
        assert differences(*emitted(arm, source)) == wanted


def test_errors_beside_the_sdk(now: None) -> None:
    texts = [
        tuple(message.event.error.message for message in emitted("error", source))
        for source in EVENTS["error"]
    ]
    # The SDK sends the model of an error as Python prints it.
    assert "label=" in texts[0][0] and texts[0][1] == "it broke"
    assert texts[1:] == [("", "ValueError"), ("plain", "plain")]


def test_lone_surrogates_are_not_sent_by_either(now: None) -> None:
    event = UserInputTranscribedEvent(transcript="\ud83d", is_final=False)
    session: Any = Sessions()
    host = SDKHost(RecordingTransport())
    host.register_session(session)
    session.emit("user_input_transcribed", event)
    assert host._event_ch.empty()


def test_a_state_that_the_protocol_lacks_is_logged(
    now: None, caplog: pytest.LogCaptureFixture
) -> None:
    [source] = EVENTS["agent_state_changed"]
    event = source.model_copy(update={"new_state": "dreaming"})
    emitted("agent_state_changed", event)
    before, after = emitted("agent_state_changed", event)
    assert before.event.agent_state_changed == after.event.agent_state_changed
    assert after.event.agent_state_changed.new_state == pb.AS_IDLE
    [record] = [item for item in caplog.records if item.name.startswith("session_protocol")]
    assert record.levelname == "WARNING" and "'dreaming'" in record.getMessage()


def test_a_role_that_the_protocol_lacks_is_an_error() -> None:
    message = sdk_items.MESSAGE.model_copy(update={"role": "narrator"})
    with pytest.raises(KeyError):
        encode_chat_item(message)
    with pytest.raises(UnmappedValueError):
        encoders.encode_chat_context_chat_item(message)


# ---------------------------------------------------------------------------------------
# Requests.

REQUESTS: dict[str, pb.SessionRequest] = {
    "ping": pb.SessionRequest(ping=pb.SessionRequest.Ping()),
    "get_chat_history": pb.SessionRequest(get_chat_history=pb.SessionRequest.GetChatHistory()),
    "get_agent_info": pb.SessionRequest(get_agent_info=pb.SessionRequest.GetAgentInfo()),
    "get_session_state": pb.SessionRequest(get_session_state=pb.SessionRequest.GetSessionState()),
    "get_rtc_stats": pb.SessionRequest(get_rtc_stats=pb.SessionRequest.GetRTCStats()),
    "get_session_usage": pb.SessionRequest(get_session_usage=pb.SessionRequest.GetSessionUsage()),
    "get_framework_info": pb.SessionRequest(
        get_framework_info=pb.SessionRequest.GetFrameworkInfo()
    ),
    "update_io": pb.SessionRequest(
        update_io=pb.SessionRequest.UpdateIO(
            output=pb.SessionRequest.UpdateIO.Output(audio_enabled=False)
        )
    ),
    "finalize_simulation": pb.SessionRequest(
        finalize_simulation=pb.SessionRequest.FinalizeSimulation(provisional_success=True)
    ),
    "run_input without a text": pb.SessionRequest(run_input=pb.SessionRequest.RunInput()),
}


async def answered(
    session: AgentSession[None], request: pb.SessionRequest
) -> list[pb.AgentSessionMessage]:
    """Returns the responses of the host of the SDK and of that of the example."""
    messages = []
    for host_class in (SDKHost, SessionHost):
        transport = RecordingTransport()
        host = host_class(transport)
        host._session = session
        if isinstance(host, SessionHost):
            host.register_session(session)
        request.request_id = "r1"
        await host._handle_request_safe(request)
        messages += transport.sent or [pb.AgentSessionMessage()]
    return messages


def in_session(
    check: Callable[[AgentSession[None]], Any], verdict: str | None = "too slow"
) -> None:
    """Calls a function with a session that has a conversation."""

    async def run() -> None:
        with job(verdict):
            session = scripted_session()
            await session.start(Clerk(), session_host=False)
            for text in ("hello", "where is parcel 7", "watch parcel 9"):
                await session.run(user_input=text)
            await check(session)
            await session.aclose()

    asyncio.run(run())
    with warnings.catch_warnings():
        # The job has a temporary folder.
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def test_requests_beside_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    async def check(session: AgentSession[None]) -> None:
        assert len(session.history.items) > 8
        for name, request in REQUESTS.items():
            with monkeypatch.context() as patch:
                if name == "get_session_usage":
                    patch.setattr(time, "time", lambda: NOW)
                assert differences(*await answered(session, request)) == {}, name

    in_session(check)


def test_an_agents_error_is_answered_with_the_same_text() -> None:
    async def check(session: AgentSession[None]) -> None:
        before, after = await answered(session, REQUESTS["finalize_simulation"])
        assert before.response.error == "the judge failed"
        assert differences(before, after) == {}

    in_session(check, "raise")


def test_a_failure_of_the_host_is_an_internal_error() -> None:
    broken: Any = object()

    async def check() -> None:
        before, after = await answered(broken, REQUESTS["get_chat_history"])
        assert before.response.error == "internal error"
        assert differences(before, after) == {}

    # The stand-in has no events to subscribe to.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("session_host.subscribe", lambda *_: None)
        asyncio.run(check())


def test_an_unknown_request_is_answered() -> None:
    async def check(session: AgentSession[None]) -> None:
        request = pb.SessionRequest.FromString(b"\x9a\x06\x00")  # field 99
        before, after = await answered(session, request)
        assert before == pb.AgentSessionMessage()
        assert after.response.error == "unimplemented request: field 99"

    in_session(check)
