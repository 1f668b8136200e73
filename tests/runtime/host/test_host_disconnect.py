"""Drivers that disconnect, or are too slow, and the end of their host."""

from __future__ import annotations

import asyncio
import logging

import pytest
from agent_session import (
    SessionHost,
    StreamLimits,
    TruncatedFrame,
    memory_pair,
)
from agent_session_protocol import responses
from scripted_session import PlainSession, block_stats, hosted, request
from transport_messages import run


def test_a_host_does_not_wait_for_requests_of_a_disconnected_driver(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Also if the driver disconnects while the host waits for them."""

    async def main() -> None:
        for leaves_first in (True, False):
            session = PlainSession()
            block_stats(session)
            async with hosted(session, close_timeout=1000, max_in_flight=2) as (driver, host, _):
                for _ in range(4):
                    await driver.send("get_rtc_stats")
                await driver.ask("ping")
                closing = None if leaves_first else asyncio.ensure_future(host.close())
                await asyncio.sleep(0)
                await driver.transport.close()
                await asyncio.wait_for(host.wait_closed(), 5)
                if closing is not None:
                    await closing

    run(main())
    assert caplog.text == ""


def test_a_disconnect_ends_the_wait_for_the_close_of_the_session() -> None:
    async def main() -> None:
        session = PlainSession()
        session.closes_soon = True
        async with hosted(session, close_timeout=1000) as (driver, host, _):
            closing = asyncio.ensure_future(host.close())
            await driver.ask("ping")
            await driver.transport.close()
            await asyncio.wait_for(closing, 5)

    run(main())


def test_a_disconnect_after_session_closed_logs_no_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The driver has read all messages."""

    async def main() -> None:
        session = PlainSession()
        async with hosted(session, finalize_timeout=1000) as (driver, host, _):
            session.simulated = True
            session.closes()
            await driver.event("session_closed")
            await driver.transport.close()
            await host.wait_closed()

    run(main())
    assert caplog.text == ""


def test_the_driver_disconnects() -> None:
    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, host, _):
            await driver.transport.close()
            await asyncio.wait_for(host.wait_closed(), 5)
            assert session.host is None and not any(session.listeners.values())
            session.emit("error", {"message": "nobody listens"})
            session.closes()

    run(main())


def test_the_driver_disconnects_inside_a_frame(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        session = PlainSession()
        block_stats(session)
        async with hosted(session, close_timeout=0.1) as (driver, host, host_end):
            await driver.send("get_rtc_stats")
            await driver.ask("ping")
            driver.transport._stream.write(b"\0\0\1\0half")  # type: ignore[attr-defined]
            await driver.transport.close()
            await asyncio.wait_for(host.wait_closed(), 5)
            assert isinstance(host_end.reason, TruncatedFrame)

    run(main())
    assert "the connection to the driver was lost" in caplog.text


def test_a_slow_driver_ends_the_host_but_not_the_session(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        session = PlainSession()
        host_end, driver_end = memory_pair(StreamLimits(send_queue=2 << 20))
        host = SessionHost(session, host_end)
        await host.start()
        driver_end._stream.pause_reading()
        for _ in range(5_000):
            session.emit("error", {"message": "x" * 1_000})
        await asyncio.wait_for(host.wait_closed(), 5)
        assert type(host_end.reason).__name__ == "SlowConsumer"
        await driver_end.close(0)

    with caplog.at_level(logging.WARNING):
        run(main())
    assert caplog.text.count("the connection to the driver was lost") == 1
    assert "event" not in caplog.text


def test_requests_that_wait_for_a_slow_driver_are_cancelled() -> None:
    """The requests wait for space to send their responses, not for their handlers."""

    async def main() -> None:
        session = PlainSession()
        host_end, driver_end = memory_pair()
        host = SessionHost(session, host_end, close_timeout=0.2)
        await host.start()
        session.info["instructions"] = "x" * 900_000
        for number in range(10):
            driver_end.send_nowait(request(str(number), "get_agent_info"))
        await driver_end.flush()
        driver_end._stream.pause_reading()
        while len(host._dispatcher._in_flight) < 8:
            await asyncio.sleep(0)
        for _ in range(20):
            await asyncio.sleep(0)
        assert session.asked < 4  # handlers do not run until their responses can be sent
        await asyncio.wait_for(host.close(), 5)
        await driver_end.close(0)

    run(main())


def test_a_disconnect_while_session_closed_is_flushed_logs_no_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        session = PlainSession()
        host_end, driver_end = memory_pair()
        host = SessionHost(session, host_end, finalize_timeout=0, close_timeout=1000)
        await host.start()
        await host_end.flush()
        driver_end._stream.pause_reading()
        session.closes()
        while host_end._space_waiter is None:  # until the host waits in its flush
            await asyncio.sleep(0)
        await driver_end.close(0)
        await asyncio.wait_for(host.wait_closed(), 5)

    run(main())
    assert caplog.text == ""


def test_a_cancelled_request_of_a_disconnected_driver_logs_no_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Its handler still runs when the host closes, since it ignores its cancellation."""

    async def main() -> None:
        session = PlainSession()
        done = asyncio.Event()
        cancelled = asyncio.Event()

        async def stubborn() -> responses.GetRTCStatsResponse:
            while not done.is_set():
                try:
                    await done.wait()
                except asyncio.CancelledError:
                    cancelled.set()
            return {"publisher_stats": (), "subscriber_stats": ()}

        session.stats = stubborn
        async with hosted(session, close_timeout=0) as (driver, host, _):
            await driver.send("get_rtc_stats")
            await driver.ask("ping")
            await driver.transport.close()
            await asyncio.wait_for(host.wait_closed(), 5)
            assert cancelled.is_set()
            done.set()

    run(main())
    assert "the host is closing, and cancels" not in caplog.text
    assert "handlers did not end after their cancellation: 1 get_rtc_stats" in caplog.text
