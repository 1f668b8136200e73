"""The handlers of requests to a host."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.errors import RequestError
from scripted_session import PlainSession, chat_message, hosted, request
from transport_messages import run

ARMS = [field.name for field in pb.SessionRequest.DESCRIPTOR.oneofs_by_name["request"].fields]


def test_ping_is_answered_with_pong_and_nothing_else() -> None:
    async def main() -> None:
        async with hosted(PlainSession()) as (driver, _, _):
            expected = pb.SessionResponse(request_id="1", pong=pb.SessionResponse.Pong())
            assert await driver.ask("ping") == expected
            second = await driver.ask("ping")
            assert second.request_id == "2" and second.WhichOneof("response") == "pong"

    run(main())


def test_each_request_has_the_response_arm_of_the_contract() -> None:
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


def test_chat_history_has_all_items_in_order() -> None:
    async def main() -> None:
        session = PlainSession()
        session.items = [chat_message(0, "hi"), chat_message(1, "ho")]
        async with hosted(session) as (driver, _, _):
            items = (await driver.ask("get_chat_history")).get_chat_history.items
        assert [item.message.id for item in items] == ["item_0", "item_1"]
        assert [item.message.content[0].text for item in items] == ["hi", "ho"]
        assert items[1].message.created_at.seconds == 1_700_000_001

    run(main())


def test_an_agent_without_a_conversation() -> None:
    async def main() -> None:
        session = PlainSession()
        session.info |= {"chat_ctx": None, "tools": None}
        async with hosted(session) as (driver, _, _):
            info = (await driver.ask("get_agent_info")).get_agent_info
        assert (info.id, list(info.tools), list(info.chat_ctx)) == ("clerk", [], [])

    run(main())


@pytest.mark.parametrize("count", [127, 128, 129, 1_000])
def test_long_histories_arrive_completely_and_in_order(count: int) -> None:
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


def test_a_long_history_is_encoded_in_chunks() -> None:
    """A ping that arrives during the encoding is answered first."""

    async def main() -> None:
        session = PlainSession()
        session.items.extend(chat_message(number) for number in range(5_000))
        async with hosted(session) as (driver, _, _):
            await driver.send("get_chat_history")
            while session.asked < 2:  # for its length, and for the first chunk
                await asyncio.sleep(0)
            await driver.send("ping")
            await driver.answer("1")
            assert [response.request_id for response in driver.responses] == ["2", "1"]

    run(main())


def test_a_history_is_that_at_the_time_of_the_request() -> None:
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


def test_agent_info_without_instructions() -> None:
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


def test_an_unmapped_state_is_an_error() -> None:
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


def test_an_unset_or_unknown_arm_is_answered() -> None:
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


def test_the_text_of_a_handlers_exception_is_only_logged(
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
def test_a_handler_that_raises_a_cancellation_gets_a_response(arm: str) -> None:
    """With and without a task for the request."""

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


def test_a_request_error_of_the_session_is_sent() -> None:
    async def main() -> None:
        session = PlainSession()

        async def stats() -> None:
            raise RequestError("not now")

        session.stats = stats
        async with hosted(session) as (driver, _, _):
            assert (await driver.ask("get_rtc_stats")).error == "not now"

    run(main())


def test_messages_not_for_hosts_are_ignored(
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
    assert caplog.text.count("ignored ") == 1


@pytest.mark.parametrize("failures", [1, 2, 1_000])
def test_a_history_that_cannot_be_read_is_an_internal_error(
    failures: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The request is answered, and the host continues."""

    async def main() -> None:
        session = PlainSession()
        items = [chat_message(number) for number in range(200)]
        left = [failures]

        def chat_items() -> list[Any]:
            left[0] -= 1
            if left[0] >= 0:
                raise LookupError("no history")
            return items

        monkeypatch.setattr(session, "chat_items", chat_items)
        async with hosted(session) as (driver, _, _):
            response = await driver.ask("get_chat_history")
            if failures == 1:
                assert len(response.get_chat_history.items) == 200
            else:
                assert response.error == "internal error"
            assert (await driver.ask("ping")).HasField("pong")

    run(main())
    assert ("no history" in caplog.text) == (failures > 1)


@pytest.mark.parametrize("count", [2, 200], ids=["at once", "in chunks"])
def test_a_history_that_fails_halfway_has_no_items(count: int) -> None:
    async def main() -> None:
        session = PlainSession()
        session.items.extend(chat_message(number) for number in range(count))
        session.items.append({"type": "message"})  # cannot be encoded
        async with hosted(session) as (driver, _, _):
            response = await driver.ask("get_chat_history")
            assert response.error == "internal error"
            assert not response.get_chat_history.items
            session.items.pop()
            assert len((await driver.ask("get_chat_history")).get_chat_history.items) == count

    run(main())


@pytest.mark.parametrize("count", [2, 200], ids=["at once", "in chunks"])
def test_a_history_with_half_an_emoji_has_each_item_once(count: int) -> None:
    async def main() -> None:
        session = PlainSession()
        session.items.extend(chat_message(number, "fine") for number in range(count - 1))
        session.items.append(chat_message(count, "half \ud83d"))
        async with hosted(session) as (driver, _, _):
            history = (await driver.ask("get_chat_history")).get_chat_history
        texts = [item.message.content[0].text for item in history.items]
        assert texts == ["fine"] * (count - 1) + ["half \ufffd"]

    run(main())
