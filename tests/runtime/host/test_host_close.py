"""The close of a host."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agent_session import (
    MemorySessionTransport,
    SessionHost,
    TransportClosed,
    memory_pair,
)
from agent_session_protocol import agent_session_pb2 as pb
from scripted_session import PlainSession, block_stats, hosted
from transport_messages import run


@pytest.mark.parametrize(
    ("reason", "number"),
    [
        ("error", pb.CR_ERROR),
        ("job_shutdown", pb.CR_JOB_SHUTDOWN),
        ("participant_disconnected", pb.CR_PARTICIPANT_DISCONNECTED),
        ("user_initiated", pb.CR_USER_INITIATED),
        ("task_completed", pb.CR_COMPLETED),
        (None, pb.CR_UNKNOWN),
        ("the cleaner pulled the plug", pb.CR_UNKNOWN),
    ],
)
def test_session_closed_has_the_reason_of_the_close(reason: str, number: int) -> None:
    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, host, _):
            session.closes(reason, error="it broke" if reason == "error" else None)
            await host.wait_closed()
            await driver.end()
        event = driver.events[-1]
        assert event.session_closed.reason == number
        assert event.session_closed.HasField("error") is (reason == "error")
        assert event.session_closed.error == ("it broke" if reason == "error" else "")
        assert (event.created_at.seconds, event.created_at.nanos) == (1_700_000_009, 500_000_000)
        assert driver.reason is None

    run(main())


@pytest.mark.parametrize(
    "error, sent_error",
    [("a\ud800", "a\ufffd"), ("x" * (1 << 20), None)],
    ids=["no UTF-8", "too long"],
)
def test_session_closed_is_sent_without_an_error_that_cannot_be_encoded(
    error: str, sent_error: str | None
) -> None:
    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            session.closes("error", error=error)
            await driver.end()
        closed = driver.events[-1].session_closed
        assert closed.reason == pb.CR_ERROR
        assert (closed.error if closed.HasField("error") else None) == sent_error

    run(main())


def test_session_closed_is_the_last_event() -> None:
    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            session.emit("error", {"message": "last"})
            session.closes()
            session.emit("error", {"message": "too late"})
            await driver.end()
        assert driver.arms() == ["agent_state_changed", "error", "session_closed"]

    run(main())


def test_a_close_waits_for_64_requests() -> None:
    async def main() -> None:
        session = PlainSession()
        gate = block_stats(session)
        async with hosted(session) as (driver, host, _):
            names = [await driver.send("get_rtc_stats") for _ in range(64)]
            assert (await driver.ask("get_session_state")).HasField("get_session_state")
            closing = asyncio.ensure_future(host.close())
            assert (await driver.ask("ping")).HasField("pong")
            assert (await driver.ask("get_session_state")).error == "the host is closing"
            gate.set()
            await closing
            await driver.end()
            for name in names:
                assert (await driver.answer(name)).HasField("get_rtc_stats")

    run(main())


@pytest.mark.parametrize("at_once", [True, False])
def test_a_session_that_closes_during_the_close_of_its_host(at_once: bool) -> None:
    async def main() -> None:
        session = PlainSession()
        gate = block_stats(session)
        async with hosted(session) as (driver, host, _):
            await driver.send("get_rtc_stats")
            await driver.ask("ping")
            closing = asyncio.ensure_future(host.close())
            await asyncio.sleep(0)
            if not at_once:
                assert (await driver.ask("get_session_state")).error == "the host is closing"
            session.closes()
            await driver.event("session_closed")
            gate.set()
            await closing
            await driver.end()
            assert driver.arms().count("session_closed") == 1

    run(main())


def test_unfinished_requests_are_cancelled_at_the_deadline() -> None:
    async def main() -> None:
        session = PlainSession()
        block_stats(session)
        async with hosted(session, close_timeout=0.2) as (driver, host, _):
            names = [await driver.send("get_rtc_stats") for _ in range(64)]
            await driver.ask("ping")
            await host.close()
            await driver.end()
            for name in names:
                assert "cancelled" in (await driver.answer(name)).error

    run(main())


def test_a_handler_that_ignores_its_cancellation_does_not_delay_a_close(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        others = asyncio.all_tasks()
        session = PlainSession()
        release = asyncio.Event()

        async def stubborn() -> dict[str, Any]:
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    pass
            return {"publisher_stats": (), "subscriber_stats": ()}

        session.stats = stubborn
        async with hosted(session, close_timeout=0.1) as (driver, host, _):
            await driver.send("get_rtc_stats")
            await driver.ask("ping")
            await asyncio.wait_for(host.close(), 5)
            await driver.end()
        release.set()
        while asyncio.all_tasks() - others:
            await asyncio.sleep(0)

    run(main())
    assert "did not end after their cancellation" in caplog.text


def test_a_peer_that_does_not_read_does_not_delay_a_close(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        session = PlainSession()
        host_end, driver_end = memory_pair()
        host = SessionHost(session, host_end, close_timeout=0.2)
        await host.start()
        driver_end._stream.pause_reading()
        left: list[float | None] = []
        close = host_end.close

        async def closing(timeout: float | None = None) -> None:
            left.append(timeout)
            await close(timeout)

        monkeypatch.setattr(type(host_end), "close", lambda _, timeout=None: closing(timeout))
        for _ in range(2_000):
            session.emit("error", {"message": "x" * 1_000})
        session.closes()
        await asyncio.wait_for(host.wait_closed(), 5)
        # The flush has used all of the close timeout.
        assert left == [0.0]
        monkeypatch.undo()
        await driver_end.close(0)

    run(main())
    assert "session_closed may not have been sent" in caplog.text


def test_a_close_keeps_its_deadline() -> None:
    async def main() -> None:
        session = PlainSession()
        block_stats(session)
        async with hosted(session, close_timeout=1) as (driver, host, _):
            await driver.send("get_rtc_stats")
            await driver.ask("ping")
            loop = asyncio.get_running_loop()
            began = loop.time()
            await host.close()
            assert loop.time() - began < 2.5

    run(main())


@pytest.mark.parametrize("comes", ["before", "while it answers", "never"])
def test_a_host_waits_for_the_close_of_its_session(
    comes: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        session = PlainSession()
        gate = block_stats(session)
        async with hosted(session, close_timeout=1.5 if comes == "never" else 1000) as (
            driver,
            host,
            _,
        ):
            name = await driver.send("get_rtc_stats")
            await driver.ask("ping")
            session.closes_soon = comes != "while it answers"
            closing = asyncio.ensure_future(host.close())
            await asyncio.sleep(0)
            if comes == "before":
                session.emit("error", {"message": "said while it closes"})
                assert (await driver.ask("get_session_state")).HasField("get_session_state")
            elif comes == "while it answers":
                assert (await driver.ask("get_session_state")).error == "the host is closing"
                session.closes_soon = True
            gate.set()
            await driver.answer(name)
            await driver.ask("ping")
            assert not closing.done()
            if comes != "never":
                session.closes()
            await closing
            await driver.end()
        events = ["session_closed"] if comes != "never" else []
        events = ["error", *events] if comes == "before" else events
        assert driver.arms() == ["agent_state_changed", *events]

    run(main())
    assert caplog.text.count("the session did not close within") == (comes == "never")


@pytest.mark.parametrize("when", ["before the close", "while it closes", "after the close"])
@pytest.mark.parametrize("reason", ["user_initiated", "error"])
def test_session_closed_has_the_shutdown_of_the_job_as_reason(when: str, reason: str) -> None:
    """Only if the shutdown comes before the close of the session, and is its reason."""

    async def main() -> None:
        session = PlainSession()
        session.simulated = True
        async with hosted(session) as (driver, host, _):
            if when == "before the close":
                host.job_shuts_down()
            session.closes_soon = True
            if when == "while it closes":
                host.job_shuts_down()
            session.closes(reason)
            if when == "after the close":
                host.job_shuts_down()
            await driver.end()
        closed = driver.events[-1].session_closed
        expected = {
            "user_initiated": (
                pb.CR_JOB_SHUTDOWN if when == "before the close" else pb.CR_USER_INITIATED
            ),
            "error": pb.CR_ERROR,
        }
        assert closed.reason == expected[reason]
        assert driver.events[-1].created_at.seconds == 1_700_000_009

    run(main())


def test_a_close_during_a_flush_leaves_no_task(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(_: object) -> None:
        await asyncio.Event().wait()

    async def main() -> None:
        monkeypatch.setattr(MemorySessionTransport, "flush", never)
        session = PlainSession()
        session.info["instructions"] = "x" * 600_000
        async with hosted(session, close_timeout=0.1) as (driver, host, _):
            for _ in range(3):
                await driver.send("get_agent_info")
            await driver.answer("2")
            await asyncio.wait_for(host.close(), 5)

    run(main())


@pytest.mark.parametrize("flush_error", [TransportClosed(None), OSError("no such wire")])
def test_a_flush_that_fails_is_logged_and_responses_continue(
    flush_error: Exception, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(_: object) -> None:
        await asyncio.sleep(0)
        raise flush_error

    async def main() -> None:
        monkeypatch.setattr(MemorySessionTransport, "flush", fail)
        session = PlainSession()
        session.info["instructions"] = "x" * 600_000
        async with hosted(session) as (driver, _, _):
            for _ in range(4):
                await driver.send("get_agent_info")
            await driver.answer("4")

    run(main())
    assert ("the flush of a transport failed" in caplog.text) == isinstance(flush_error, OSError)
