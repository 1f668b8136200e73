"""The start of a host."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar

import agent_session
import pytest
from agent_session import (
    ConnectFailed,
    SessionHost,
    TcpSessionTransport,
    TransportClosed,
    listen,
    memory_pair,
)
from scripted_session import Driver, PlainSession, hosted
from transport_messages import run


def test_concurrent_starts_start_once() -> None:
    async def main() -> None:
        session = PlainSession()
        async with await listen() as listener:
            host = SessionHost(session, TcpSessionTransport(listener.host, listener.port))
            await asyncio.gather(host.start(), host.start())
            driver_end = await listener.accept()
            driver = Driver(driver_end)
            driver_end.deliver_to(driver)
            await driver.ask("ping")
            assert driver.arms() == ["agent_state_changed"]
            await host.close()
            await driver_end.close()

    run(main())


def test_handlers_run_in_the_context_of_the_start() -> None:
    job: ContextVar[str] = ContextVar("job", default="none")

    async def main() -> None:
        session = PlainSession()
        names: list[str] = []
        session.on_finalize = lambda: names.append(job.get())
        host_end, driver_end = memory_pair()
        host = SessionHost(session, host_end)
        driver = Driver(driver_end)
        driver_end.deliver_to(driver)

        async def entrypoint() -> None:
            job.set("mine")
            await host.start()

        await asyncio.ensure_future(entrypoint())
        await driver.ask("finalize_simulation")
        assert names == ["mine"]
        await host.close()
        await driver_end.close()

    run(main())


def test_repeated_and_early_closes() -> None:
    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, host, _):
            await asyncio.gather(host.close(), host.close(), host.wait_closed())
            await host.close()
            await driver.end()
        host_end, driver_end = memory_pair()
        host = SessionHost(session, host_end)
        await host.close()
        await host.wait_closed()
        with pytest.raises(TransportClosed):
            await host.start()
        assert session.host is None and not any(session.listeners.values())
        await driver_end.close()

    run(main())


def test_a_failed_start_can_be_repeated() -> None:
    async def main() -> None:
        session = PlainSession()
        async with await listen() as listener:
            host, port = listener.host, listener.port
        transport = TcpSessionTransport(host, port)
        served = SessionHost(session, transport)
        with pytest.raises(ConnectFailed):
            await served.start()
        assert session.host is None and not any(session.listeners.values())
        async with await listen(host, port) as listener:
            await served.start()
            await served.start()  # which does nothing
            driver_end = await listener.accept()
            first = await driver_end.__anext__()
            assert first.event.HasField("agent_state_changed")
            await served.close()
            await driver_end.close()

    run(main())


def test_a_session_that_closes_while_the_host_connects() -> None:
    async def main() -> None:
        session = PlainSession()
        async with await listen() as listener:
            host = SessionHost(session, TcpSessionTransport(listener.host, listener.port))
            starting = asyncio.ensure_future(host.start())
            await asyncio.sleep(0)
            session.closes()
            assert not host.ending  # nothing may wait for a host that has not started
            await starting
            driver_end = await listener.accept()
            driver = Driver(driver_end)
            driver_end.deliver_to(driver)
            await driver.event("session_closed")
            await host.wait_closed()
            await driver_end.close()

    run(main())


def test_a_session_can_have_a_host_after_another() -> None:
    async def main() -> None:
        session = PlainSession()
        for _ in range(3):
            async with hosted(session) as (driver, _, _):
                assert (await driver.ask("ping")).HasField("pong")
                session.emit("error", {"message": "once"})
                await driver.event("error")
            assert driver.arms() == ["agent_state_changed", "error"]

    run(main())


def test_the_earlier_name_of_the_adapter_can_be_imported() -> None:
    assert agent_session.HostedSession is agent_session.SessionAdapter
