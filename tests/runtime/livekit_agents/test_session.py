"""A host over a real AgentSession of livekit-agents, with a scripted model."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from types import SimpleNamespace
from typing import Any

import pytest
from agent_session import Ended, RemoteSession, SessionHost, memory_pair
from agent_session_protocol import agent_session_pb2 as pb
from scripted_session import hosted, ready
from transport_messages import run

agents = pytest.importorskip("livekit.agents")

from google.protobuf.json_format import MessageToDict  # noqa: E402
from google.protobuf.struct_pb2 import Struct  # noqa: E402
from scripted_agent import (
    Call,
    Clerk,
    Say,
    Script,
    scripted_session,
)  # noqa: E402
from livekit.agents import Agent, function_tool, llm  # noqa: E402
from livekit.agents.voice.amd import AMDCategory, AMDPredictionEvent  # noqa: E402
from livekit.agents.voice.events import EotPredictionEvent, UserStateChangedEvent  # noqa: E402
from livekit.protocol.agent_pb import agent_session as sdk_pb  # noqa: E402
from livekit.rtc._proto.stats_pb2 import RtcStats  # noqa: E402

GREETING: Script = {"hi": [Say("hello")]}


def kinds(items: Any) -> list[str | None]:
    return [item.WhichOneof("item") for item in items]


def test_importing_the_package_does_not_import_livekit() -> None:
    code = (
        "import sys, agent_session, agent_session.host; "
        "print([name for name in sys.modules if name.split('.')[0] == 'livekit'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.parametrize("host_first", [True, False])
def test_a_conversation(host_first: bool) -> None:
    async def main() -> None:
        script: Script = {
            **GREETING,
            "find 3": [Call("look", '{"number": 3}'), Say("it is here")],
            "bye": [Call("hang_up")],
        }
        session = scripted_session(script)
        if not host_first:
            await session.start(Clerk(), session_host=False)
        async with hosted(session) as (driver, host, _):
            if host_first:
                await session.start(Clerk(), session_host=False)
                await ready(driver)
            answer = (await driver.ask("run_input", text="hi")).run_input
            assert [item.message.content[0].text for item in answer.items] == ["hello"]
            answer = (await driver.ask("run_input", text="find 3")).run_input
            assert kinds(answer.items) == ["function_call", "function_call_output", "message"]
            assert answer.items[1].function_call_output.output == "parcel 3 is here"
            goodbye = await driver.ask("run_input", text="bye")
            assert not goodbye.HasField("error")
            assert kinds(goodbye.run_input.items) == ["function_call", "function_call_output"]
            await driver.end()
            await host.wait_closed()
        arms = driver.arms()
        assert arms[0] == "agent_state_changed" and arms[-1] == "session_closed"
        assert arms.count("function_tools_executed") == 2
        assert {"conversation_item_added", "session_usage_updated", "tool_execution_updated"} < {
            *arms
        }
        assert driver.events[-1].session_closed.reason == pb.CR_USER_INITIATED
        initial = pb.AS_INITIALIZING if host_first else pb.AS_LISTENING
        assert driver.events[0].agent_state_changed.new_state == initial

    run(main())


def test_all_requests_of_a_driver() -> None:
    async def main() -> None:
        before = time.time()
        session = scripted_session(GREETING, max_tool_steps=7)
        await session.start(Clerk(), session_host=False)
        async with hosted(session) as (driver, _, _):
            await driver.ask("run_input", text="hi")
            history = (await driver.ask("get_chat_history")).get_chat_history
            assert [item.message.content[0].text for item in history.items[-2:]] == ["hi", "hello"]
            assert [item.id for item in session.history.items] == [_id(i) for i in history.items]
            info = (await driver.ask("get_agent_info")).get_agent_info
            assert info.id == "clerk" and info.instructions == "You look for parcels."
            assert sorted(info.tools) == ["hang_up", "look"]
            assert len(info.chat_ctx) == len(session.current_agent.chat_ctx.items)
            state = (await driver.ask("get_session_state")).get_session_state
            assert (state.agent_state, state.user_state) == (pb.AS_LISTENING, pb.US_LISTENING)
            assert state.agent_id == "clerk" and state.options["max_tool_steps"] == "7"
            assert "min_delay" in state.options["endpointing"]
            assert before <= state.created_at.ToMicroseconds() / 1e6 + 1e-3 <= time.time()
            assert session._started_at is not None
            assert abs(state.created_at.ToNanoseconds() / 1e9 - session._started_at) < 1e-6
            usage = (await driver.ask("get_session_usage")).get_session_usage
            (model,) = usage.usage.model_usage
            assert (model.llm.provider, model.llm.model) == ("tests", "script")
            assert (model.llm.input_tokens, model.llm.output_tokens) == (7, 3)
            stats = await driver.ask("get_rtc_stats")
            assert stats.get_rtc_stats == pb.SessionResponse.GetRTCStatsResponse()
            framework = (await driver.ask("get_framework_info")).get_framework_info
            assert (framework.sdk, framework.sdk_version) == ("python", agents.__version__)
            verdict = await driver.ask("finalize_simulation")
            assert not verdict.HasField("error")
            assert not verdict.finalize_simulation.HasField("user_verdict")
        await session.aclose()

    run(main())


def test_statistics_of_a_room() -> None:
    async def main() -> None:
        report = RtcStats()
        report.codec.rtc.id = "CODEC_1"
        report.codec.codec.clock_rate = 48_000

        class Room:
            async def get_rtc_stats(self) -> Any:
                return SimpleNamespace(publisher_stats=[report], subscriber_stats=[])

        session = scripted_session({})
        await session.start(Clerk(), session_host=False)
        async with hosted(session) as (driver, _, _):
            setattr(session, "_room_io", SimpleNamespace(room=Room()))
            stats = (await driver.ask("get_rtc_stats")).get_rtc_stats
            session._room_io = None
        (sent,) = stats.publisher_stats
        assert MessageToDict(sent) == {
            "codec": {"rtc": {"id": "CODEC_1"}, "codec": {"clockRate": 48_000.0}}
        }
        assert not stats.subscriber_stats
        await session.aclose()

    run(main())


def _id(item: pb.ChatContext.ChatItem) -> str:
    result: str = getattr(item, item.WhichOneof("item") or "").id
    return result


def test_update_io_sets_the_switches_of_the_session() -> None:
    async def main() -> None:
        session = scripted_session({})
        await session.start(Clerk(), session_host=False)
        async with hosted(session) as (driver, _, _):
            for side, name in [
                ("input", "audio"),
                ("input", "video"),
                ("output", "audio"),
                ("output", "video"),
                ("output", "transcription"),
            ]:
                for on in (False, True):
                    message = pb.AgentSessionMessage()
                    message.request.request_id = f"{side}{name}{on}"
                    setattr(getattr(message.request.update_io, side), f"{name}_enabled", on)
                    await driver.transport.send(message)
                    answer = await driver.answer(message.request.request_id)
                    assert answer.HasField("update_io") and not answer.HasField("error")
                    assert getattr(getattr(session, side), f"{name}_enabled") is on
        await session.aclose()

    run(main())


def test_instructions_for_audio_and_flattened_toolsets() -> None:
    @function_tool
    async def outer() -> None:
        """Does something."""

    @function_tool
    async def inner() -> None:
        """Does something else."""

    async def main() -> None:
        nested = llm.Toolset(id="b", tools=[llm.Toolset(id="a", tools=[inner]), outer])
        instructions = llm.chat_context.Instructions("Be brief.", audio=" Aloud.", text=" *Bold*.")
        session = scripted_session({})
        await session.start(Agent(instructions=instructions, tools=[nested]), session_host=False)
        async with hosted(session) as (driver, _, _):
            info = (await driver.ask("get_agent_info")).get_agent_info
            assert list(info.tools) == ["inner", "outer"]
            assert "Aloud" in info.instructions and "Bold" not in info.instructions
        await session.aclose()

    run(main())


def test_a_driver_that_connects_before_the_agent_starts() -> None:
    async def main() -> None:
        session = scripted_session(GREETING)
        async with hosted(session) as (driver, _, _):
            for arm in ("get_agent_info", "get_session_state"):
                assert "has not started" in (await driver.ask(arm)).error
            early = await driver.send("run_input", text="hi")
            assert not (await driver.ask("get_chat_history")).HasField("error")
            await session.start(Clerk(), session_host=False)
            assert [
                item.message.content[0].text
                for item in (await driver.answer(early)).run_input.items
            ] == ["hello"]
            assert (await driver.ask("run_input", text="hi")).run_input.items
            await session.aclose()

    run(main())


@pytest.mark.parametrize("how", ["shutdown", "aclose", "host first"])
def test_a_session_that_closes_during_the_close_of_its_host(how: str) -> None:
    async def main() -> None:
        session = scripted_session(GREETING)
        host_end, driver_end = memory_pair()
        async with RemoteSession(driver_end) as driver:
            async with SessionHost(session, host_end) as host:
                await session.start(Clerk(), session_host=False)
                await driver.run_input(text="hi")
                closing = None
                if how == "shutdown":
                    session.shutdown()
                elif how == "aclose":
                    closing = asyncio.ensure_future(session.aclose())
                else:
                    await asyncio.gather(host.close(), session.aclose())
            assert await driver.wait_ended() == Ended(pb.CR_USER_INITIATED, None)
            if closing is not None:
                await closing
            await session.aclose()  # waits for the close that is under way

    run(main())


def test_predictions_that_the_sdk_reports_only_to_its_host() -> None:
    async def main() -> None:
        session = scripted_session({})
        async with hosted(session) as (driver, _, _):
            await session.start(Clerk(), session_host=False)
            assert session._activity is not None
            session._activity.on_eot_prediction(
                EotPredictionEvent(
                    probability=0.5, threshold=0.25, inference_duration=0.125, delay=1.5
                )
            )
            event = await driver.event("eot_prediction")
            assert event.eot_prediction.probability == 0.5
            assert event.eot_prediction.delay.nanos == 500_000_000
            host = session._session_host
            assert host is not None
            host._on_amd_prediction(
                AMDPredictionEvent(
                    category=AMDCategory.MACHINE_IVR,
                    reason="llm",
                    transcript="press one",
                    speech_duration=2.0,
                    delay=0.25,
                )
            )
            event = await driver.event("amd_prediction")
            assert event.amd_prediction.category == pb.AMD_MACHINE_IVR
            await session.aclose()
        assert session._session_host is None

    run(main())


def test_events_of_the_sdks_own_classes() -> None:
    async def main() -> None:
        session = scripted_session({})
        await session.start(Clerk(), session_host=False)
        async with hosted(session) as (driver, _, _):
            note = Struct()
            note.update({"step": 3})
            emit: Any = session.emit  # whose types leave this event out
            emit("debug_message", sdk_pb.DebugMessage(payload=note))
            assert (await driver.event("debug_message")).debug_message.payload["step"] == 3
            session.emit(
                "user_state_changed",
                UserStateChangedEvent(
                    old_state="listening", new_state="away", created_at=1_700_000_000.5
                ),
            )
            event = await driver.event("user_state_changed")
            assert event.user_state_changed.new_state == pb.US_AWAY
            assert event.created_at.seconds == 1_700_000_000
        await session.aclose()

    run(main())
