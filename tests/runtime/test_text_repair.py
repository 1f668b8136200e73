"""The repair of texts that UTF-8 cannot encode."""

from __future__ import annotations

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
from agent_session.text_repair import encode_repaired
from agent_session_protocol import decoders, encoders, responses
from google.protobuf.timestamp_pb2 import Timestamp
from scripted_session import PlainSession, chat_message, hosted
from livekit.agents.metrics import LLMModelUsage
from livekit.agents.voice.events import CloseReason
from transport_messages import run


def test_only_texts_that_utf8_cannot_encode_are_repaired(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        session = PlainSession()
        # As a model streams them: the two halves of an emoji, and one half.
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
    assert "cannot be encoded in UTF-8" in caplog.text
    assert not any("ok" in message.split() for message in caplog.messages)


def test_values_converted_to_text_do_not_change_beside_a_repaired_text() -> None:
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
    """An object that an application may put into `extra`."""

    def __repr__(self) -> str:
        return "Note('\ud83d\ude00 \udc80')"


def test_str_of_other_values_is_the_same_with_a_repaired_text() -> None:
    """Each value of `extra` is sent as its `str()`, with and without a repaired text elsewhere."""
    extra = {
        "note": Note(),
        "list": [Note(), "x"],
        "pair": (1, "two"),
        "set": frozenset({3}),
        "deep": {"deep": [Decimal("1.50"), None, True, CloseReason.ERROR]},
        "enum": Color.RED,
        7: 0.25,
    }
    expected = {
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
            [repaired] = (await driver.ask("get_chat_history")).get_chat_history.items
        assert dict(repaired.message.extra) == expected
        assert item.message.extra.items() <= expected.items()
        assert repaired.message.created_at.nanos == 250_000_000

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
def test_values_without_text_are_not_copied(at: Any) -> None:
    extra = {"key \udc80": "v", "time": at}
    item = {**chat_message(0, "half \ud83d"), "created_at": at, "extra": extra}
    encoded = encode_repaired(encoders.encode_chat_message, item)
    assert encoded.created_at.ToNanoseconds() == 1_700_000_000_250_000_000
    assert dict(encoded.extra) == {"key \ufffd": "v", "time": str(at)}


def test_texts_of_every_response_are_repaired() -> None:
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


def test_json_values_are_repaired_at_any_depth() -> None:
    stats = {"k \udc80": ("half \ud83d", 1, None, [{"deep": ("\ud83d\ude00",)}])}
    source = responses.GetRTCStatsResponse(publisher_stats=(stats,), subscriber_stats=None)
    encoded = encode_repaired(encoders.encode_get_rtc_stats_response, source)
    assert decoders.decode_get_rtc_stats_response(encoded).publisher_stats == (
        {"k \ufffd": ["half \ufffd", 1, None, [{"deep": ["\U0001f600"]}]]},
    )


def test_collections_of_any_kind_are_repaired() -> None:
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
def test_texts_are_repaired_with_each_protobuf_implementation(implementation: str) -> None:
    """Other errors are not repaired."""
    code = """
        from agent_session.host.events import _message
        from agent_session.text_repair import encode_repaired
        from agent_session_protocol.encoders import encode_agent_session_event
        from google.protobuf.internal import api_implementation
        said = {"transcript": "half \\ud83d", "is_final": True, "created_at": 1.5}
        print(api_implementation.Type())
        for source in (said, {**said, "created_at": "now"}):
            for encode in (
                lambda source: _message("user_input_transcribed", source).event,
                lambda source: encode_repaired(
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


def test_other_errors_are_raised_without_a_repair(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ValueError, match="is not a number of seconds"):
        encode_repaired(encoders.encode_chat_message, {**chat_message(0), "created_at": "now"})

    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            session.emit("error", {"error": "why", "created_at": "now"})
            await driver.ask("ping")
            assert "error" not in driver.arms()

    run(main())
    assert [text for text in caplog.messages if "UTF-8" in text] == []
    assert [text for text in caplog.messages if text.startswith("error event not sent")] != []
