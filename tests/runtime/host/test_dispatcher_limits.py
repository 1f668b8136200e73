"""Requests to a host that are too many, too big or not well named."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agent_session import MAX_FRAME_SIZE, MemorySessionTransport, UnencodableMessage
from agent_session_protocol import agent_session_pb2 as pb
from scripted_session import PlainSession, chat_message, hosted, request
from transport_messages import run

ARMS = [field.name for field in pb.SessionRequest.DESCRIPTOR.oneofs_by_name["request"].fields]


def test_a_request_needs_an_id_and_one_of_its_own() -> None:
    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            for arm in (*ARMS, None):
                before = len(driver.responses)
                await driver.send(arm, "")
                await driver.until(lambda: len(driver.responses) > before)
                assert "needs a request_id" in driver.responses[-1].error, arm
            await driver.send("run_input", "twice", text="hi")
            begun = await session.run_begins()
            for arm in (*ARMS, None):
                before = len(driver.responses)
                await driver.send(arm, "twice")
                await driver.until(lambda: len(driver.responses) > before)
                assert "in flight" in driver.responses[-1].error, arm
            begun.result.set_result([])
            await driver.until(lambda: driver.responses[-1].error == "")
            assert driver.responses[-1].WhichOneof("response") == "run_input"
            driver.messages.clear()
            await driver.send("ping", "twice")  # it is free again
            assert (await driver.answer("twice")).HasField("pong")

    run(main())


@pytest.mark.parametrize("most", [1, 64])
def test_more_requests_than_the_limit_are_busy_but_pings_are_not(most: int) -> None:
    async def main() -> None:
        session = PlainSession()
        gate = asyncio.Event()

        async def stats() -> dict[str, Any]:
            await gate.wait()
            return {"publisher_stats": (), "subscriber_stats": ()}

        session.stats = stats
        async with hosted(session, max_in_flight=most) as (driver, _, _):
            held = [await driver.send("get_rtc_stats") for _ in range(most)]
            for arm in ARMS:
                response = await driver.ask(arm)
                assert (response.error or "pong") == ("pong" if arm == "ping" else "busy")
            gate.set()
            for name in held:
                assert (await driver.answer(name)).HasField("get_rtc_stats")
            assert (await driver.ask("get_session_state")).HasField("get_session_state")

    run(main())


def test_64_is_the_limit_unless_told_otherwise() -> None:
    async def main() -> None:
        session = PlainSession()
        session.stats = asyncio.Event().wait
        async with hosted(session, close_timeout=0.1) as (driver, _, _):
            for _ in range(70):
                await driver.send("get_rtc_stats")
            await driver.answer("70")
            assert [each.request_id for each in driver.responses] == [
                "65",
                "66",
                "67",
                "68",
                "69",
                "70",
            ]
            assert {each.error for each in driver.responses} == {"busy"}

    run(main())


@pytest.mark.parametrize("texts", [["x" * (1 << 20)], ["x" * 1_000] * 2_000])
def test_a_response_over_the_limit_becomes_an_error_that_says_so(texts: list[str]) -> None:
    async def main() -> None:
        session = PlainSession()
        session.items.extend(chat_message(number, text) for number, text in enumerate(texts))
        async with hosted(session) as (driver, _, _):
            response = await driver.ask("get_chat_history")
            assert str(MAX_FRAME_SIZE) in response.error and "the limit is" in response.error
            assert response.WhichOneof("response") is None
            assert (await driver.ask("ping")).HasField("pong")  # and the session goes on

    run(main())


def test_a_response_that_cannot_be_encoded_becomes_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """protobuf of today refuses such a response earlier, where it is made."""
    send = MemorySessionTransport.send_nowait

    def picky(transport: MemorySessionTransport, message: pb.AgentSessionMessage) -> int:
        if message.response.HasField("get_session_state"):
            raise UnencodableMessage
        return send(transport, message)

    async def main() -> None:
        monkeypatch.setattr(MemorySessionTransport, "send_nowait", picky)
        async with hosted(PlainSession()) as (driver, _, _):
            response = await driver.ask("get_session_state")
            assert (response.error, response.WhichOneof("response")) == ("internal error", None)
            assert (await driver.ask("ping")).HasField("pong")

    run(main())


def test_a_history_that_gets_too_long_is_not_encoded_to_its_end() -> None:
    async def main() -> None:
        session = PlainSession()
        session.items.extend(chat_message(number, "x" * 1_000) for number in range(2_000))
        session.items.append({"type": "message"})  # which cannot be encoded
        async with hosted(session) as (driver, _, _):
            assert "the limit is" in (await driver.ask("get_chat_history")).error

    run(main())


def test_a_request_whose_id_leaves_no_room_for_an_answer_hurts_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        async with hosted(PlainSession()) as (driver, _, _):
            room = 16  # for the envelopes and the payload
            await driver.send("get_session_state", "i" * (MAX_FRAME_SIZE - room))
            assert (await driver.ask("ping")).HasField("pong")

    run(main())
    assert "cannot be sent" in caplog.text and "iiii" not in caplog.text


def test_5000_requests_at_once() -> None:
    """Each gets exactly one answer, and each answer that was worked out arrives."""

    async def main() -> None:
        session = PlainSession()
        session.items.extend(chat_message(number) for number in range(20))
        async with hosted(session) as (driver, _, _):
            arms = ["ping", "get_chat_history", "get_session_state", "get_agent_info", None]
            for number in range(5_000):
                driver.transport.send_nowait(request(str(number), arms[number % 5]))
            await driver.until(lambda: len(driver.responses) == 5_000)
            answers = {int(each.request_id): each for each in driver.responses}
            assert set(answers) == set(range(5_000))
            for number, answer in answers.items():
                if answer.error:
                    assert answer.error in ("busy", "unimplemented request: no arm is set")
            assert all(answers[number].HasField("pong") for number in range(0, 5_000, 5))

    run(main())


def test_a_driver_that_reads_is_no_slow_consumer_however_much_it_asks_for() -> None:
    async def main() -> None:
        session = PlainSession()
        session.items.extend(chat_message(number, "x" * 7_000) for number in range(100))
        async with hosted(session) as (driver, _, _):
            for number in range(64):  # 45 MB of answers, several times what may wait
                driver.transport.send_nowait(request(str(number), "get_chat_history"))
            await driver.until(lambda: len(driver.responses) == 64)
            assert all(len(each.get_chat_history.items) == 100 for each in driver.responses)
            assert not driver.ended

    run(main())


def test_nor_if_all_that_it_asked_for_is_there_at_once() -> None:
    async def main() -> None:
        session = PlainSession()
        gate = asyncio.Event()

        async def stats() -> dict[str, Any]:
            await gate.wait()
            return {"publisher_stats": [{"note": "x" * 700_000}], "subscriber_stats": ()}

        session.stats = stats
        async with hosted(session) as (driver, _, _):
            for _ in range(64):
                await driver.send("get_rtc_stats")
            await driver.ask("ping")
            gate.set()
            await driver.until(lambda: len(driver.responses) == 65)
            assert all(each.HasField("get_rtc_stats") for each in driver.responses[1:])
            assert not driver.ended

    run(main())
