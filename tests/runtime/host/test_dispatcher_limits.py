"""Limits of requests to a host: number, size and ids."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest
from agent_session import MAX_FRAME_SIZE, MemorySessionTransport, UnencodableMessage
from agent_session_protocol import agent_session_pb2 as pb
from scripted_session import PlainSession, block_stats, chat_message, hosted, request
from transport_messages import run

ARMS = [field.name for field in pb.SessionRequest.DESCRIPTOR.oneofs_by_name["request"].fields]


def test_a_request_needs_a_unique_id() -> None:
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


@pytest.mark.parametrize("maximum", [1, 64])
def test_requests_over_the_limit_wait(maximum: int) -> None:
    async def main() -> None:
        session = PlainSession()
        gate = block_stats(session)
        async with hosted(session, max_in_flight=maximum) as (driver, _, _):
            names = [await driver.send("get_rtc_stats") for _ in range(maximum + 36)]
            await driver.ask("ping")
            assert session.asked == maximum
            for arm in ("ping", "get_session_state", "get_chat_history"):
                assert (await driver.ask(arm)).WhichOneof("response")  # these wait for nothing
            gate.set()
            for name in names:
                assert (await driver.answer(name)).HasField("get_rtc_stats")
            answered = [each.request_id for each in driver.responses]
            assert [name for name in answered if name in names] == names

    run(main())


def test_a_host_handles_64_requests_at_a_time_by_default() -> None:
    async def main() -> None:
        session = PlainSession()
        gate = block_stats(session)
        async with hosted(session) as (driver, _, _):
            names = [await driver.send("get_rtc_stats") for _ in range(100)]
            await driver.ask("ping")
            assert session.asked == 64
            gate.set()
            for name in names:
                assert (await driver.answer(name)).HasField("get_rtc_stats")

    run(main())


@pytest.mark.parametrize(
    ("settings", "text", "fit"),
    [
        ({}, "x" * 500_000, 8),  # 4 MiB
        ({"max_waiting_bytes": 6_000}, "", 11),  # 512 bytes and a few more for each
    ],
)
def test_requests_are_busy_beyond_the_bytes_that_may_wait(
    settings: dict[str, int], text: str, fit: int
) -> None:
    async def main() -> None:
        session = PlainSession()
        gate = block_stats(session)
        async with hosted(session, max_in_flight=1, **settings) as (driver, _, _):
            held = await driver.send("get_rtc_stats")
            arm = "finalize_simulation" if text else "get_rtc_stats"
            fields = {"provisional_reason": text} if text else {}
            names = [await driver.send(arm, **fields) for _ in range(fit + 3)]
            for name in names[fit:]:
                assert (await driver.answer(name)).error == "busy"
            assert len(driver.responses) == 3
            gate.set()
            for name in [held, *names[:fit]]:
                assert not (await driver.answer(name)).HasField("error")
            again = await driver.ask("get_rtc_stats")
            assert not again.HasField("error")

    run(main())


def test_the_id_of_a_waiting_request_is_in_flight() -> None:
    async def main() -> None:
        session = PlainSession()
        gate = block_stats(session)
        async with hosted(session, max_in_flight=1) as (driver, _, _):
            await driver.send("get_rtc_stats")
            await driver.send("get_rtc_stats", "twice")
            await driver.send("get_session_usage", "twice")
            assert "in flight" in (await driver.answer("twice")).error
            driver.messages.clear()
            gate.set()
            assert (await driver.answer("twice")).HasField("get_rtc_stats")

    run(main())


@pytest.mark.parametrize("in_time", [True, False])
def test_requests_that_wait_when_the_host_closes(
    in_time: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        session = PlainSession()
        gate = block_stats(session)
        async with hosted(session, max_in_flight=2, close_timeout=5 if in_time else 0.1) as (
            driver,
            host,
            _,
        ):
            names = [await driver.send("get_rtc_stats") for _ in range(5)]
            await driver.ask("ping")
            if in_time:
                gate.set()
            await host.close()
            await driver.end()
            errors = [(await driver.answer(name)).error for name in names]
        cancelled, refused = "the request was cancelled", "the host is closing"
        assert errors == ([""] * 5 if in_time else [*[cancelled] * 2, *[refused] * 3])

    run(main())
    assert ("cancels 2 get_rtc_stats, 3 waiting" in caplog.text) != in_time


def test_a_waiting_finalize_keeps_the_hold() -> None:
    async def main() -> None:
        session = PlainSession()
        session.simulated = True
        gate = block_stats(session)
        async with hosted(session, max_in_flight=1, finalize_timeout=0.0) as (driver, _, _):
            await driver.send("get_rtc_stats")
            name = await driver.send("finalize_simulation", provisional_reason="fine")
            await driver.ask("ping")
            session.closes()
            await driver.event("session_closed")
            assert not session.finalizing
            gate.set()
            assert (await driver.answer(name)).HasField("finalize_simulation")
            await driver.end()
        assert session.finalizing == [(False, "fine")]

    run(main())


@pytest.mark.parametrize("texts", [["x" * (1 << 20)], ["x" * 1_000] * 2_000])
def test_a_response_over_the_limit_becomes_an_error(texts: list[str]) -> None:
    async def main() -> None:
        session = PlainSession()
        session.items.extend(chat_message(number, text) for number, text in enumerate(texts))
        async with hosted(session) as (driver, _, _):
            response = await driver.ask("get_chat_history")
            assert str(MAX_FRAME_SIZE) in response.error and "the limit is" in response.error
            assert response.WhichOneof("response") is None
            assert (await driver.ask("ping")).HasField("pong")  # the session continues

    run(main())


def test_a_response_that_cannot_be_encoded_becomes_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Current protobuf refuses such a response when it is created."""
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


def test_the_encoding_of_a_history_stops_at_the_size_limit() -> None:
    async def main() -> None:
        session = PlainSession()
        session.items.extend(chat_message(number, "x" * 1_000) for number in range(2_000))
        session.items.append({"type": "message"})  # which cannot be encoded
        async with hosted(session) as (driver, _, _):
            assert "the limit is" in (await driver.ask("get_chat_history")).error

    run(main())


def test_a_request_whose_id_is_too_long_for_a_response(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        async with hosted(PlainSession()) as (driver, _, _):
            room = 16  # for the envelopes and the payload
            await driver.send("get_session_state", "i" * (MAX_FRAME_SIZE - room))
            assert (await driver.ask("ping")).HasField("pong")

    run(main())
    assert "cannot be sent" in caplog.text and "iiii" not in caplog.text


def test_5000_concurrent_requests() -> None:
    """Each request gets exactly one response."""

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
                    assert answer.error == "unimplemented request: no arm is set"
            assert all(answers[number].HasField("pong") for number in range(0, 5_000, 5))

    run(main())


def test_a_driver_that_reads_is_not_a_slow_consumer() -> None:
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


def test_responses_that_are_ready_at_once_do_not_overflow_the_queue() -> None:
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


@pytest.mark.parametrize(("pings", "length"), [(300_000, 10), (200, 100_000)])
def test_pings_leave_no_memory(pings: int, length: int) -> None:
    """In a process of its own, which reports its growth in KiB."""
    program = f"""
import asyncio, psutil
from agent_session.host.dispatcher import RequestDispatcher
from agent_session_protocol import agent_session_pb2 as pb

class Sink:
    def send_nowait(self, message):
        return len(message.SerializeToString())

async def main():
    dispatcher = RequestDispatcher(None, Sink(), None, 64, 1 << 20)
    def ping(number):
        request = pb.SessionRequest(request_id=f"{{number:0{length}}}", ping={{}})
        dispatcher.dispatch(request, request.request_id)
    for number in range(1000):
        ping(number)
    before = psutil.Process().memory_info().rss // 1024
    for number in range({pings}):
        ping(number)
    print(psutil.Process().memory_info().rss // 1024 - before)

asyncio.run(main())
"""
    command = [sys.executable, "-c", program]
    growth = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    # One string of each would take 4,700 KiB, or 19,500 KiB.
    assert int(growth) < 2000
