"""A timeout that is NaN is refused where it is passed, and disturbs nothing else."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from agent_session import (
    RemoteSession,
    RequestTimedOut,
    SessionHost,
    StreamLimits,
    TcpSessionTransport,
    memory_pair,
)
from agent_session_protocol import agent_session_pb2 as pb
from scripted_host import driven, pong
from scripted_session import PlainSession
from transport_messages import run

NAN = math.nan


@pytest.mark.parametrize(
    ("create", "name"),
    [
        (lambda: StreamLimits(stall_timeout=NAN), "stall_timeout"),
        (lambda: StreamLimits(close_timeout=NAN), "close_timeout"),
        (lambda: StreamLimits(linger=NAN), "linger"),
        (lambda: TcpSessionTransport("127.0.0.1", 1, connect_timeout=NAN), "connect_timeout"),
    ],
)
def test_limits_and_transports(create: Callable[[], object], name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be a number of seconds"):
        create()


@pytest.mark.parametrize("name", ["finalize_timeout", "close_timeout"])
def test_hosts(name: str) -> None:
    async def main() -> None:
        left, right = memory_pair()
        settings: dict[str, Any] = {name: NAN}
        with pytest.raises(ValueError, match=name):
            SessionHost(PlainSession(), left, **settings)
        await left.close()
        await right.close()

    run(main())


@pytest.mark.parametrize(
    "call",
    [
        lambda session: session.ping(timeout=NAN),
        lambda session: session.run_input(text="hi", timeout=NAN),
        lambda session: session.send(pb.SessionRequest(), NAN),
        lambda session: session.probe(NAN),
        lambda session: session.wait_for_ready(NAN),
        lambda session: session.close(NAN),
    ],
)
def test_drivers(call: Callable[[RemoteSession], Awaitable[object]]) -> None:
    async def main() -> None:
        with pytest.raises(ValueError, match="timeout must be a number of seconds"):
            RemoteSession(memory_pair()[0], timeout=NAN)
        async with driven() as (session, host):
            with pytest.raises(ValueError, match="timeout must be a number of seconds"):
                await call(session)
            # Other requests still have their timeouts, and the session continues.
            with pytest.raises(RequestTimedOut):
                await session.ping(timeout=0.01)
            host.requests.clear()
            pinging = asyncio.ensure_future(session.ping(timeout=math.inf))
            host.respond(pong(await host.request()))
            await pinging

    run(main())
