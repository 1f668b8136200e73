"""The finalize hold: the wait for finalize_simulation after the session has closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from agent_session import SessionHost
from scripted_session import Driver, PlainSession, hosted
from transport_messages import run


@asynccontextmanager
async def holding(
    session: PlainSession | None = None, **settings: Any
) -> AsyncIterator[tuple[PlainSession, Driver, SessionHost]]:
    """A host in its hold, and a driver that knows that the session has closed."""
    session = session or PlainSession()
    session.simulated = True
    async with hosted(session, **settings) as (driver, host, _):
        session.closes()
        await driver.event("session_closed")
        yield session, driver, host


def test_the_hold_ends_when_finalize_is_answered() -> None:
    async def main() -> None:
        async with holding() as (session, driver, host):
            session.verdict = SimpleNamespace(success=False, reason="no parcel")
            response = await driver.ask(
                "finalize_simulation", provisional_success=True, provisional_reason="all fine"
            )
            assert session.finalizing == [(True, "all fine")]
            verdict = response.finalize_simulation.user_verdict
            assert (verdict.success, verdict.reason) == (False, "no parcel")
            assert not response.HasField("error")
            await driver.end()
            await host.wait_closed()
            assert driver.reason is None

    run(main())


def test_other_requests_are_answered_during_the_hold() -> None:
    async def main() -> None:
        async with holding() as (_, driver, host):
            for arm in ("ping", "get_chat_history", "get_agent_info", "get_session_state"):
                assert not (await driver.ask(arm)).HasField("error")
            assert not driver.ended and host.ending

    run(main())


def test_a_run_during_the_hold_ends_it_without_a_response() -> None:
    async def main() -> None:
        async with holding() as (session, driver, _):
            await driver.send("run_input", text="still there?")
            await driver.end()
            assert driver.responses == [] and session.runs == []

    run(main())


def test_a_hold_without_finalize_ends_at_its_timeout(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with holding(finalize_timeout=0.05) as (_, driver, _):
            await driver.end()

    run(main())
    assert "no finalize_simulation arrived within 0.05 s" in caplog.text


def test_finalize_has_no_time_limit_once_it_has_arrived() -> None:
    async def main() -> None:
        session = PlainSession()
        gate = asyncio.Event()
        session.on_finalize = gate.wait
        async with holding(session, finalize_timeout=0.05) as (_, driver, _):
            name = await driver.send("finalize_simulation")
            await driver.ask("get_session_state")
            await asyncio.wait([asyncio.ensure_future(driver.end())], timeout=0.2)
            assert not (await driver.ask("get_session_state")).HasField("error")
            gate.set()
            assert (await driver.answer(name)).HasField("finalize_simulation")
            await driver.end()

    run(main())


def test_the_time_of_the_hold_is_not_part_of_the_close_timeout() -> None:
    async def main() -> None:
        session = PlainSession()
        gate = asyncio.Event()

        async def stats() -> dict[str, Any]:
            await gate.wait()
            return {"publisher_stats": (), "subscriber_stats": ()}

        session.stats = stats
        async with holding(session, close_timeout=0.5) as (_, driver, host):
            name = await driver.send("get_rtc_stats")
            await asyncio.wait([asyncio.ensure_future(host.wait_closed())], timeout=0.6)
            await driver.send("run_input", text="still there?")
            while "closing" not in (await driver.ask("get_session_state")).error:
                pass
            gate.set()
            assert (await driver.answer(name)).HasField("get_rtc_stats")
            await driver.end()

    run(main())


def test_a_run_does_not_end_a_finalize_in_progress() -> None:
    async def main() -> None:
        session = PlainSession()
        gate = asyncio.Event()
        session.on_finalize = gate.wait
        async with holding(session, close_timeout=0.05) as (_, driver, host):
            name = await driver.send("finalize_simulation")
            await driver.send("run_input", text="still there?")
            await driver.ask("get_session_state")
            await asyncio.wait([asyncio.ensure_future(host.wait_closed())], timeout=0.5)
            gate.set()
            assert not (await driver.answer(name)).HasField("error")
            await driver.end()
            assert session.runs == []

    run(main())


def test_a_long_error_text_does_not_displace_the_verdict() -> None:
    async def main() -> None:
        session = PlainSession()

        def fail() -> None:
            session.verdict = SimpleNamespace(success=False, reason="rude")
            raise RuntimeError("x" * (2 << 20))

        session.on_finalize = fail
        async with holding(session) as (_, driver, _):
            response = await driver.ask("finalize_simulation")
            assert response.error == "x" * 4096
            assert response.finalize_simulation.user_verdict.reason == "rude"

    run(main())


@pytest.mark.parametrize("redact_errors", [False, True])
def test_a_callback_that_raises_returns_its_error_and_verdict(
    redact_errors: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        session = PlainSession()

        async def judge() -> None:
            session.verdict = SimpleNamespace(success=False, reason="too slow")
            raise LookupError("the judge fell over")

        session.on_finalize = judge
        async with holding(session, redact_errors=redact_errors) as (_, driver, _):
            response = await driver.ask("finalize_simulation")
            expected = "internal error" if redact_errors else "the judge fell over"
            assert response.error == expected
            assert response.finalize_simulation.user_verdict.reason == "too slow"
            await driver.end()

    run(main())
    assert "the judge fell over" in caplog.text


def test_a_cancelled_callback_returns_an_error() -> None:
    async def main() -> None:
        session = PlainSession()

        async def judge() -> None:
            session.verdict = SimpleNamespace(success=False, reason="cut")
            raise asyncio.CancelledError

        session.on_finalize = judge
        async with holding(session) as (_, driver, _):
            response = await driver.ask("finalize_simulation")
            assert response.error == "CancelledError"
            assert response.finalize_simulation.user_verdict.reason == "cut"
            await driver.end()

    run(main())


def test_a_response_without_a_verdict() -> None:
    async def main() -> None:
        async with holding() as (_, driver, _):
            response = await driver.ask("finalize_simulation")
            assert response.WhichOneof("response") == "finalize_simulation"
            assert not response.finalize_simulation.HasField("user_verdict")

    run(main())


def test_a_finalize_before_the_close_needs_no_hold() -> None:
    async def main() -> None:
        session = PlainSession()
        session.simulated = True
        async with hosted(session) as (driver, _, _):
            await driver.ask("finalize_simulation")
            session.closes()
            await driver.event("session_closed")
            await driver.end()

    run(main())


def test_a_finalize_in_progress_at_the_close_is_completed() -> None:
    async def main() -> None:
        session = PlainSession()
        session.simulated = True
        gate = asyncio.Event()
        session.on_finalize = gate.wait
        async with hosted(session, finalize_timeout=0.05) as (driver, _, _):
            name = await driver.send("finalize_simulation")
            await driver.ask("get_session_state")
            session.closes()
            await driver.event("session_closed")
            assert (await driver.ask("ping")).HasField("pong")
            gate.set()
            await driver.answer(name)
            await driver.end()

    run(main())


def test_there_is_no_hold_without_a_simulation() -> None:
    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            session.closes()
            await driver.event("session_closed")
            await driver.end()

    run(main())


@pytest.mark.parametrize("how", ["driver leaves", "job shuts down", "host is closed"])
def test_other_ends_of_a_hold(how: str) -> None:
    async def main() -> None:
        async with holding() as (session, driver, host):
            assert session.host is not None and session.host.ending
            if how == "driver leaves":
                await driver.transport.close()
            elif how == "job shuts down":
                session.host.job_shuts_down()
            else:
                await asyncio.wait_for(host.close(), 5)
            await asyncio.wait_for(host.wait_closed(), 5)
            await driver.end()
            assert session.host is None and not host.ending

    run(main())


@pytest.mark.parametrize("leave", ["driver leaves", "job shuts down"])
def test_a_finalize_in_progress_without_a_hold_has_the_close_timeout(leave: str) -> None:
    async def main() -> None:
        session = PlainSession()
        cancelled = asyncio.Event()

        async def judge() -> None:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.set()
                raise

        session.on_finalize = judge
        async with holding(session, close_timeout=0.1) as (_, driver, host):
            await driver.send("finalize_simulation")
            await driver.ask("get_session_state")
            assert session.host is not None
            if leave == "driver leaves":
                await driver.transport.close()
            else:
                session.host.job_shuts_down()
            await asyncio.wait_for(host.wait_closed(), 5)
            assert cancelled.is_set()
            if leave == "job shuts down":
                assert driver.responses[-1].error == "CancelledError"

    run(main())


def test_two_finalizes_are_both_completed() -> None:
    async def main() -> None:
        session = PlainSession()
        gates = [asyncio.Event(), asyncio.Event()]
        session.on_finalize = lambda: gates[len(session.finalizing) - 1].wait()
        async with holding(session) as (_, driver, _):
            first = await driver.send("finalize_simulation")
            second = await driver.send("finalize_simulation")
            await driver.ask("get_session_state")
            gates[0].set()
            assert (await driver.answer(first)).HasField("finalize_simulation")
            for _ in range(5):
                assert not (await driver.ask("get_session_state")).HasField("error")
            gates[1].set()
            assert (await driver.answer(second)).HasField("finalize_simulation")
            await driver.end()

    run(main())
