"""Requests to a host: what each is answered, and what is refused."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
import textwrap
from collections import deque
from datetime import datetime, timezone
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from agent_session.mended import encoded
from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol import decoders, encoders, sources
from agent_session_protocol.errors import RequestError
from google.protobuf.timestamp_pb2 import Timestamp
from host_support import PlainSession, chat_message, hosted, request
from livekit.agents.metrics import LLMModelUsage
from livekit.agents.voice.events import CloseReason
from transport_support import run

ARMS = [field.name for field in pb.SessionRequest.DESCRIPTOR.oneofs_by_name["request"].fields]


def test_ping_is_answered_with_pong_and_nothing_else() -> None:
    async def main() -> None:
        async with hosted(PlainSession()) as (driver, _, _):
            expected = pb.SessionResponse(request_id="1", pong=pb.SessionResponse.Pong())
            assert await driver.ask("ping") == expected
            second = await driver.ask("ping")
            assert second.request_id == "2" and second.WhichOneof("response") == "pong"

    run(main())


def test_every_request_has_the_response_arm_of_the_contract() -> None:
    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            for arm in ARMS:
                if arm == "run_input":
                    continue
                response = await driver.ask(arm)
                assert response.WhichOneof("response") == ("pong" if arm == "ping" else arm)
                assert not response.HasField("error")

    run(main())


def test_chat_history_is_every_item_in_order() -> None:
    async def main() -> None:
        session = PlainSession()
        session.items = [chat_message(0, "hi"), chat_message(1, "ho")]
        async with hosted(session) as (driver, _, _):
            items = (await driver.ask("get_chat_history")).get_chat_history.items
        assert [item.message.id for item in items] == ["item_0", "item_1"]
        assert [item.message.content[0].text for item in items] == ["hi", "ho"]
        assert items[1].message.created_at.seconds == 1_700_000_001

    run(main())


def test_texts_that_utf8_cannot_spell_are_mended_and_the_rest_stays(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        session = PlainSession()
        # As a model streams them: an emoji in two halves, and half of one.
        session.items += [chat_message(0, "\ud83d\ude00 ok \udc80"), chat_message(1, "ho")]
        session.info["instructions"] = "odd \udcff"
        session.used["model_usage"] = [LLMModelUsage(provider="p\ud83d", model="m", input_tokens=3)]
        async with hosted(session) as (driver, _, _):
            items = (await driver.ask("get_chat_history")).get_chat_history.items
            info = (await driver.ask("get_agent_info")).get_agent_info
            usage = (await driver.ask("get_session_usage")).get_session_usage.usage
            session.emit("conversation_item_added", {"item": session.items[0], "created_at": 2.5})
            added = (await driver.event("conversation_item_added")).conversation_item_added
        assert [item.message.content[0].text for item in items] == ["\U0001f600 ok \ufffd", "ho"]
        assert items[0].message.created_at.seconds == 1_700_000_000
        assert info.instructions == "odd \ufffd" and list(info.chat_ctx) == list(items)
        assert usage.model_usage[0].llm.provider == "p\ufffd"
        assert usage.model_usage[0].llm.input_tokens == 3
        assert added.item == items[0]

    run(main())
    assert "cannot be spelled in UTF-8" in caplog.text
    assert not any("ok" in message.split() for message in caplog.messages)


def test_what_is_told_as_a_text_reads_the_same_beside_a_text_that_is_mended() -> None:
    call: dict[str, Any] = {
        "id": "item_1",
        "call_id": "call_1",
        "arguments": "{}",
        "name": "look \ud83d",
        "created_at": 1.0,
        "extra": {"limits": {"most": [Fraction(1, 3), "\udcff"]}, "least": Fraction(1, 4)},
    }

    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            source = {"function_calls": [call], "function_call_outputs": []}
            session.emit("function_tools_executed", source)
            event = (await driver.event("function_tools_executed")).function_tools_executed
        (sent,) = event.function_calls
        assert sent.name == "look \ufffd"
        assert sent.extra["limits"] == "{'most': [Fraction(1, 3), '\ufffd']}"
        assert sent.extra["least"] == "1/4"

    run(main())


class Color(Enum):
    RED = "red"


class Note:
    """What an application may put into `extra`."""

    def __repr__(self) -> str:
        return "Note('\ud83d\ude00 \udc80')"


def test_what_has_no_text_of_its_own_is_mended_to_what_it_would_be_otherwise() -> None:
    """Each value of `extra` is told by its str(), with and without a broken text elsewhere."""
    extra = {
        "note": Note(),
        "list": [Note(), "x"],
        "pair": (1, "two"),
        "set": frozenset({3}),
        "deep": {"deep": [Decimal("1.50"), None, True, CloseReason.ERROR]},
        "enum": Color.RED,
        7: 0.25,
    }
    told = {
        "note": "Note('\U0001f600 \ufffd')",
        "list": "[Note('\U0001f600 \ufffd'), 'x']",
        "pair": "(1, 'two')",
        "set": "frozenset({3})",
        "deep": str(extra["deep"]),
        "enum": "Color.RED",
        "7": "0.25",
    }

    async def main() -> None:
        session = PlainSession()
        whole = {"extra": {name: extra[name] for name in extra if name not in ("note", "list")}}
        session.items += [{**chat_message(0, "ok"), **whole}]
        async with hosted(session) as (driver, _, _):
            [item] = (await driver.ask("get_chat_history")).get_chat_history.items
            session.items[0]["extra"] = extra
            session.items[0]["created_at"] = Decimal("1700000000.25")
            [mended] = (await driver.ask("get_chat_history")).get_chat_history.items
        assert dict(mended.message.extra) == told
        assert item.message.extra.items() <= told.items()
        assert mended.message.created_at.nanos == 250_000_000

    run(main())


@pytest.mark.parametrize(
    "at",
    [
        1_700_000_000.25,
        Decimal("1700000000.25"),
        datetime(2023, 11, 14, 22, 13, 20, 250_000, timezone.utc),
        Timestamp(seconds=1_700_000_000, nanos=250_000_000),
    ],
    ids=type,
)
def test_what_holds_no_text_is_not_touched(at: Any) -> None:
    extra = {"key \udc80": "v", "time": at}
    item = {**chat_message(0, "half \ud83d"), "created_at": at, "extra": extra}
    made = encoded(encoders.encode_chat_message, item)
    assert made.created_at.ToNanoseconds() == 1_700_000_000_250_000_000
    assert dict(made.extra) == {"key \ufffd": "v", "time": str(at)}


def test_texts_of_every_response_are_mended() -> None:
    async def main() -> None:
        session = PlainSession()
        session.simulated = True
        session.state |= {"agent_id": "a \ud83d", "options": {"o \udc80": "v \udcff"}}
        session.verdict = SimpleNamespace(success=True, reason="well \ud83d")
        async with hosted(session) as (driver, _, _):
            state = (await driver.ask("get_session_state")).get_session_state
            name = await driver.send("run_input", text="hi")
            (await session.run_begins()).result.set_result([chat_message(1, "ho \udc80")])
            [item] = (await driver.answer(name)).run_input.items
            verdict = (await driver.ask("finalize_simulation")).finalize_simulation.user_verdict
        assert (state.agent_id, dict(state.options)) == ("a \ufffd", {"o \ufffd": "v \ufffd"})
        assert item.message.content[0].text == "ho \ufffd"
        assert (verdict.success, verdict.reason) == (True, "well \ufffd")

    run(main())


def test_json_values_are_mended_at_any_depth() -> None:
    stats = {"k \udc80": ("half \ud83d", 1, None, [{"deep": ("\ud83d\ude00",)}])}
    source = sources.GetRTCStatsResponse(publisher_stats=(stats,), subscriber_stats=None)
    made = encoded(encoders.encode_get_rtc_stats_response, source)
    assert decoders.decode_get_rtc_stats_response(made).publisher_stats == (
        {"k \ufffd": ["half \ufffd", 1, None, [{"deep": ["\U0001f600"]}]]},
    )


def test_collections_of_any_kind_are_mended() -> None:
    async def main() -> None:
        session = PlainSession()
        items = deque([chat_message(0, "half \ud83d"), chat_message(1, "ho")])
        session.info |= {"tools": {"a": 1, "b\udc80": 2}.keys(), "chat_ctx": items}
        session.info["instructions"] = None
        async with hosted(session) as (driver, _, _):
            info = (await driver.ask("get_agent_info")).get_agent_info
        assert list(info.tools) == ["a", "b\ufffd"] and not info.HasField("instructions")
        texts = [item.message.content[0].text for item in info.chat_ctx]
        assert texts == ["half \ufffd", "ho"]

    run(main())


@pytest.mark.parametrize("implementation", ["python", "upb"])
def test_texts_are_mended_whatever_protobuf_is_made_of(implementation: str) -> None:
    """And what is wrong for another reason stays wrong."""
    code = """
        from agent_session.host_events import _message
        from agent_session.mended import encoded
        from agent_session_protocol.encoders import encode_agent_session_event
        from google.protobuf.internal import api_implementation
        said = {"transcript": "half \\ud83d", "is_final": True, "created_at": 1.5}
        print(api_implementation.Type())
        for source in (said, {**said, "created_at": "now"}):
            for encode in (
                lambda source: _message("user_input_transcribed", source).event,
                lambda source: encoded(
                    lambda given: encode_agent_session_event("user_input_transcribed", given), source
                ),
            ):
                try:
                    print(ascii(encode(source).user_input_transcribed.transcript))
                except ValueError as error:
                    print(error)
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": implementation,
        },
        capture_output=True,
        text=True,
        check=True,
    )
    wrong = "'now' is not a number of seconds"
    assert done.stdout.splitlines() == [implementation, *["'half \\ufffd'"] * 2, *[wrong] * 2]


def test_what_is_wrong_for_another_reason_is_not_mended(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ValueError, match="is not a number of seconds"):
        encoded(encoders.encode_chat_message, {**chat_message(0), "created_at": "now"})

    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            session.emit("error", {"error": "why", "created_at": "now"})
            await driver.ask("ping")
            assert "error" not in driver.arms()

    run(main())
    assert [text for text in caplog.messages if "UTF-8" in text] == []
    assert [text for text in caplog.messages if text.startswith("no error event")] != []


def test_an_agent_without_a_conversation() -> None:
    async def main() -> None:
        session = PlainSession()
        session.info |= {"chat_ctx": None, "tools": None}
        async with hosted(session) as (driver, _, _):
            info = (await driver.ask("get_agent_info")).get_agent_info
        assert (info.id, list(info.tools), list(info.chat_ctx)) == ("clerk", [], [])

    run(main())


@pytest.mark.parametrize("count", [127, 128, 129, 1_000])
def test_long_histories_arrive_whole_and_in_order(count: int) -> None:
    async def main() -> None:
        session = PlainSession()
        session.items.extend(chat_message(number) for number in range(count))
        names = [f"item_{number}" for number in range(count)]
        async with hosted(session) as (driver, _, _):
            history = (await driver.ask("get_chat_history")).get_chat_history
            assert [item.message.id for item in history.items] == names
            info = (await driver.ask("get_agent_info")).get_agent_info
            assert [item.message.id for item in info.chat_ctx] == names
            assert (info.id, info.instructions) == ("clerk", "be brief")
            assert list(info.tools) == ["look", "find"]

    run(main())


def test_a_long_history_is_encoded_a_part_at_a_time() -> None:
    """A ping that comes while it is encoded is answered before it."""

    async def main() -> None:
        session = PlainSession()
        session.items.extend(chat_message(number) for number in range(5_000))
        async with hosted(session) as (driver, _, _):
            await driver.send("get_chat_history")
            while session.asked < 2:  # for its length, and for the first part
                await asyncio.sleep(0)
            await driver.send("ping")
            await driver.answer("1")
            assert [response.request_id for response in driver.responses] == ["2", "1"]

    run(main())


def test_a_history_that_changes_while_it_is_answered_is_the_one_that_was_asked_for() -> None:
    async def main() -> None:
        session = PlainSession()
        session.items.extend(chat_message(number) for number in range(1_000))
        async with hosted(session) as (driver, _, _):
            await driver.send("get_chat_history")
            await driver.send("ping")
            await driver.answer("2")
            session.items.clear()
            assert len((await driver.answer("1")).get_chat_history.items) == 1_000

    run(main())


def test_agent_info_without_instructions_leaves_them_absent() -> None:
    async def main() -> None:
        session = PlainSession()
        session.info["instructions"] = None
        async with hosted(session) as (driver, _, _):
            info = (await driver.ask("get_agent_info")).get_agent_info
        assert not info.HasField("instructions")

    run(main())


def test_session_state() -> None:
    async def main() -> None:
        async with hosted(PlainSession()) as (driver, _, _):
            state = (await driver.ask("get_session_state")).get_session_state
        assert (state.agent_state, state.user_state) == (pb.AS_LISTENING, pb.US_AWAY)
        assert state.agent_id == "clerk" and dict(state.options) == {"max_tool_steps": "3"}
        assert (state.created_at.seconds, state.created_at.nanos) == (1_700_000_000, 250_000_000)

    run(main())


def test_a_state_that_the_protocol_does_not_have_is_an_error_and_no_default() -> None:
    async def main() -> None:
        session = PlainSession()
        session.state["user_state"] = "asleep"
        async with hosted(session) as (driver, _, _):
            response = await driver.ask("get_session_state")
        assert response.error == "internal error" and response.WhichOneof("response") is None

    run(main())


def test_rtc_stats_usage_and_framework() -> None:
    async def main() -> None:
        session = PlainSession()
        session.used = {"model_usage": [_llm_usage()]}
        async with hosted(session) as (driver, _, _):
            stats = (await driver.ask("get_rtc_stats")).get_rtc_stats
            assert [dict(each) for each in stats.publisher_stats] == [{"rtt": 0.5}]
            assert not stats.subscriber_stats
            answer = (await driver.ask("get_session_usage")).get_session_usage
            assert answer.usage.model_usage[0].llm.input_tokens == 7
            assert answer.created_at.seconds > 1_700_000_000
            framework = (await driver.ask("get_framework_info")).get_framework_info
            assert (framework.sdk, framework.sdk_version) == ("plain", "1.2")

    run(main())


def _llm_usage() -> dict[str, Any]:
    names = [field.name for field in pb.LLMModelUsage.DESCRIPTOR.fields]
    return {"type": "llm_usage", **dict.fromkeys(names), "input_tokens": 7}


def test_update_io_applies_only_the_switches_that_are_present() -> None:
    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            message = request("io", "update_io")
            message.request.update_io.input.audio_enabled = False
            message.request.update_io.output.transcription_enabled = True
            await driver.transport.send(message)
            response = await driver.answer("io")
            assert response.WhichOneof("response") == "update_io"
            assert session.switches == [
                ("input", "audio_enabled", False),
                ("output", "transcription_enabled", True),
            ]
            await driver.ask("update_io")
            assert len(session.switches) == 2

    run(main())


def test_an_arm_that_is_unset_or_unknown_is_answered_at_once() -> None:
    async def main() -> None:
        async with hosted(PlainSession(), max_in_flight=1, close_timeout=0.1) as (driver, _, _):
            await driver.send("run_input", "busy", text="hi")
            response = await driver.ask(None)
            assert response.error == "unimplemented request: no arm is set"
            message = pb.AgentSessionMessage()
            message.request.ParseFromString(b"\x0a\x01u" + b"\xea\x01\x00")  # field 29, empty
            await driver.transport.send(message)
            response = await driver.answer("u")
            assert response.error == "unimplemented request: field 29"
            assert response.WhichOneof("response") is None

    run(main())


def test_the_detail_of_a_handlers_exception_stays_in_the_local_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        session = PlainSession()

        async def stats() -> None:
            raise RuntimeError("the room's secret")

        session.stats = stats
        async with hosted(session) as (driver, _, _):
            response = await driver.ask("get_rtc_stats")
        assert response.error == "internal error" and response.WhichOneof("response") is None

    run(main())
    assert "the room's secret" in caplog.text


@pytest.mark.parametrize("arm", ["update_io", "get_agent_info"])
def test_a_session_that_raises_the_end_of_a_cancelled_task_is_answered_for(arm: str) -> None:
    """Whether its request has a task of its own or not."""

    def cancelled(*_: object) -> Any:
        raise asyncio.CancelledError

    async def main() -> None:
        session = PlainSession()
        setattr(session, {"update_io": "switch", "get_agent_info": "agent_info"}[arm], cancelled)
        async with hosted(session) as (driver, _, _):
            message = request("mine", arm)
            if arm == "update_io":
                message.request.update_io.input.audio_enabled = True
            driver.transport.send_nowait(message)
            assert (await driver.answer("mine")).error == "the request was cancelled"
            assert (await driver.ask("ping")).HasField("pong")

    run(main())


def test_what_a_session_refuses_is_said_as_it_says_it() -> None:
    async def main() -> None:
        session = PlainSession()

        async def stats() -> None:
            raise RequestError("not now")

        session.stats = stats
        async with hosted(session) as (driver, _, _):
            assert (await driver.ask("get_rtc_stats")).error == "not now"

    run(main())


def test_what_a_driver_has_no_business_to_send_is_ignored(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        async with hosted(PlainSession()) as (driver, _, _):
            for message in (
                pb.AgentSessionMessage(event=pb.AgentSessionEvent()),
                pb.AgentSessionMessage(response=pb.SessionResponse(request_id="1")),
                pb.AgentSessionMessage(),
            ):
                await driver.transport.send(message)
            assert (await driver.ask("ping")).HasField("pong")

    with caplog.at_level(logging.WARNING):
        run(main())
    assert caplog.text.count("ignoring") == 1
