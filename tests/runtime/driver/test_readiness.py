"""Probes of a host, and `wait_for_ready`."""

from __future__ import annotations

import asyncio
import socket

import pytest
from agent_session import (
    Alive,
    ConnectFailed,
    DriverClosed,
    Ended,
    Lost,
    NotReady,
    NotStarted,
    RemoteSession,
    RequestTimedOut,
    SessionLost,
    Stalled,
    Status,
    TcpSessionTransport,
    TransportClosed,
    listen,
    memory_pair,
)
from agent_session.driver.readiness import wait_for_ready
from agent_session_protocol import agent_session_pb2 as pb
from scripted_host import Host, driven, pong
from tcp_transports import QUICK
from transport_messages import run


def describe(status: Status) -> str:
    """Returns a text for a status. Type checkers report a missing case."""
    match status:
        case Ended(reason, error):
            return f"ended: {reason}, {error}"
        case Lost(error, by_driver):
            return f"lost: {error}, {by_driver}"
        case Stalled(waited):
            return f"stalled: {waited}"
        case Alive(round_trip):
            return f"alive: {round_trip >= 0}"


def test_a_host_is_alive_after_any_response() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            host.answer = pong
            assert describe(await session.probe()) == "alive: True"
            host.answer = lambda request: pb.SessionResponse(
                request_id=request.request_id, error="what is a ping?"
            )
            assert isinstance(await session.probe(), Alive)
            host.answer = lambda request: pb.SessionResponse(request_id=request.request_id)
            assert isinstance(await session.probe(), Alive)
            assert session.outcome is None

    run(main())


def test_a_host_without_a_response_is_stalled_and_can_recover() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            assert describe(await session.probe(0.05)) == "stalled: 0.05"
            assert session.outcome is None
            host.answer = pong
            assert isinstance(await session.probe(), Alive)

    run(main())


def test_a_probe_after_the_end_returns_the_outcome() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            host.say_closed(pb.CR_USER_INITIATED)
            ended = await session.wait_ended()
            assert await session.probe() == ended and not host.requests
            assert describe(ended) == "ended: 4, None"
        async with driven() as (session, host):
            probing = asyncio.ensure_future(session.probe())
            await host.request()
            host.say_closed(pb.CR_ERROR, "no model")
            await host.transport.close()
            assert describe(await probing) == "ended: 1, no model"
        async with driven() as (session, host):
            probing = asyncio.ensure_future(session.probe())
            await host.request()
            await host.transport.close()
            assert describe(await probing) == "lost: None, False"
        async with driven() as (session, host):
            probing = asyncio.ensure_future(session.probe())
            await host.request()
            await session.close()
            assert describe(await probing) == "lost: None, True"

    run(main())


def test_a_session_that_ends_during_a_probe_is_ended() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            probing = asyncio.ensure_future(session.probe(0.1))
            await host.request()
            host.say_closed()
            assert describe(await probing) == "ended: 5, None"

    run(main())


def test_wait_for_ready_returns_when_the_host_responds() -> None:
    async def main() -> None:
        driver_end, host_end = memory_pair()
        host = Host(host_end)
        host.answer = pong
        async with host_end:
            session = RemoteSession(driver_end)
            await session.wait_for_ready()
            await session.wait_for_ready(1)
            await session.close()

    run(main())


def test_wait_for_ready_retries_until_the_host_listens() -> None:
    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as placeholder:
            port = placeholder.getsockname()[1]
        session = RemoteSession(TcpSessionTransport("127.0.0.1", port, limits=QUICK))
        with pytest.raises(ConnectFailed):
            await session.start()
        waiting = asyncio.ensure_future(session.wait_for_ready(20))
        with pytest.raises(NotStarted):
            await session.ping()
        async with await listen(port=port, limits=QUICK) as listener:
            async with await listener.accept() as transport:
                host = Host(transport)
                # The first ping may be lost; the second one is answered.
                await host.request()
                assert not waiting.done()
                host.respond(pong(await host.request()))
                await waiting
                await session.close()

    run(main())


def test_wait_for_ready_accepts_the_response_to_an_earlier_ping() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            waiting = asyncio.ensure_future(session.wait_for_ready(20))
            first, _ = await host.request(), await host.request()
            host.respond(pong(first))
            await waiting
            assert not session._pending._entries

    run(main())


def test_wait_for_ready_raises_connect_failed_without_a_listener() -> None:
    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as placeholder:
            port = placeholder.getsockname()[1]
        session = RemoteSession(TcpSessionTransport("127.0.0.1", port))
        with pytest.raises(ConnectFailed) as caught:
            await session.wait_for_ready(0.3)
        assert isinstance(caught.value.__cause__, ConnectionRefusedError)
        await session.close()

    run(main())


class Slow(TcpSessionTransport):
    """A transport that takes longer to connect than the timeout."""

    async def start(self) -> None:
        await asyncio.Event().wait()


def test_wait_for_ready_limits_the_time_to_connect() -> None:
    async def main() -> None:
        session = RemoteSession(Slow("127.0.0.1", 1))
        with pytest.raises(ConnectFailed, match="no connection within 0.05 s"):
            await session.wait_for_ready(0.05)
        await session.close()

    run(main())


def test_a_close_ends_a_start() -> None:
    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0), backlog=0) as server:
            transport = TcpSessionTransport(*server.getsockname())
            session = RemoteSession(transport)
            starting = asyncio.ensure_future(session.start())
            await asyncio.sleep(0)
            await session.close()
            with pytest.raises(DriverClosed):
                await starting
            assert await session.wait_ended() == Lost(None, by_driver=True)

    run(main())


class NotYet(TcpSessionTransport):
    """A transport that starts at once but cannot send yet."""

    async def start(self) -> None:
        pass


def test_wait_for_ready_retries_until_the_transport_can_send() -> None:
    async def main() -> None:
        session = RemoteSession(NotYet("127.0.0.1", 1))
        with pytest.raises(NotStarted):
            await session.wait_for_ready(0.05)
        await session.close()

    run(main())


def test_wait_for_ready_raises_not_ready_without_a_response() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            with pytest.raises(NotReady) as caught:
                await session.wait_for_ready(0.3)
            assert isinstance(caught.value, TimeoutError) and caught.value.timeout == 0.3
            assert len(host.requests) == 2 and not session._pending._entries

    run(main())


def test_wait_for_ready_raises_if_the_connection_is_lost() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            waiting = asyncio.ensure_future(session.wait_for_ready(20))
            await host.request()
            await host.transport.close()
            with pytest.raises(SessionLost):
                await waiting
        driver_end, host_end = memory_pair()
        await asyncio.gather(host_end.close(), driver_end.close())
        session = RemoteSession(driver_end)
        with pytest.raises(TransportClosed):
            await session.wait_for_ready(20)
        await session.close()

    run(main())


def test_concurrent_starts_connect_once() -> None:
    async def main() -> None:
        async with await listen(max_agents=None, limits=QUICK) as listener:
            transport = TcpSessionTransport(listener.host, listener.port, limits=QUICK)
            session = RemoteSession(transport)
            await asyncio.gather(session.start(), session.start())
            agent = await listener.accept()
            assert listener._connections == {agent}
            await asyncio.gather(session.close(), agent.close())

    run(main())


def test_attempts_have_an_interval_and_a_ping_timeout_is_one_attempt() -> None:
    async def main() -> None:
        tries: list[str] = []
        began = asyncio.get_running_loop().time()

        async def start() -> None:
            tries.append("start")
            if len(tries) < 3:
                raise ConnectFailed

        async def ping(timeout: float) -> None:
            tries.append("ping")
            if tries.count("ping") == 1:
                raise RequestTimedOut("ping", timeout)

        await wait_for_ready(start, ping, 20)
        assert tries == ["start", "start", "start", "ping", "start", "ping"]
        # Two attempts failed, each followed by an interval of 0.25 s.
        assert asyncio.get_running_loop().time() - began >= 0.4

    run(main())


def test_a_cancelled_wait_for_ready_leaves_no_task() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            waiting = asyncio.ensure_future(session.wait_for_ready(20))
            await host.request()
            waiting.cancel()
            await asyncio.wait([waiting])
            assert waiting.cancelled() and not session._pending._entries

    run(main())
