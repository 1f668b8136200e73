"""RemoteSession over TCP with hosts in subprocesses: load, and hosts that are killed."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import driver_process
from agent_session import (
    Alive,
    ConnectionLost,
    DriverClosed,
    Ended,
    Lost,
    RemoteSession,
    SessionEnded,
    SessionLost,
    TcpSessionTransport,
    TruncatedFrame,
    listen,
)
from agent_session_protocol import agent_session_pb2 as pb
from transport_messages import run


@asynccontextmanager
async def host(role: str) -> AsyncIterator[tuple[RemoteSession, subprocess.Popen[bytes]]]:
    """Yields a session with a host in a subprocess."""
    async with await listen() as listener:
        command = driver_process.command(role, listener.host, listener.port)
        with subprocess.Popen(command) as process:
            try:
                async with RemoteSession(await listener.accept()) as session:
                    yield session, process
            finally:
                process.kill()


def test_five_thousand_concurrent_requests() -> None:
    async def main() -> None:
        async with host("serve") as (session, _):
            answers = await asyncio.gather(
                *(session.run_input(text=str(number)) for number in range(5000))
            )
            assert [answer.items[0].message.id for answer in answers] == [
                str(number) for number in range(5000)
            ]
            assert isinstance(await session.probe(), Alive)

    run(main(), 60)


def test_more_requests_than_the_send_queue_holds_are_answered() -> None:
    """30 MiB at once would overflow the send queue without the pacer."""

    async def main() -> None:
        async with host("serve") as (session, _):
            sizes = [4_000] * 5000 + [1_000_000] * 10
            answers = await asyncio.gather(
                *(session.run_input(text=f"{n:<{size}}") for n, size in enumerate(sizes))
            )
            assert [int(answer.items[0].message.id) for answer in answers] == [*range(5010)]

    run(main(), 60)


@pytest.mark.parametrize(
    ("role", "reasons"), [("hang", (type(None), ConnectionLost)), ("cut", (TruncatedFrame,))]
)
def test_a_host_that_is_killed(role: str, reasons: tuple[type[object], ...]) -> None:
    async def main() -> None:
        async with host(role) as (session, process):
            calls = [asyncio.ensure_future(session.run_input(text="x")) for _ in range(64)]
            assert isinstance(await session.probe(), Alive)
            transport = session._transport
            assert isinstance(transport, TcpSessionTransport)
            while role == "cut" and not transport._decoder._partial:
                await asyncio.sleep(0)
            process.send_signal(signal.SIGKILL)
            results = await asyncio.gather(*calls, return_exceptions=True)
            outcome = await session.wait_ended()
            assert isinstance(outcome, Lost) and isinstance(outcome.error, reasons)
            for result in results:
                assert isinstance(result, SessionLost) and result.reason is outcome.error

    run(main(), 60)


def test_close_while_64_requests_run() -> None:
    async def main() -> None:
        async with host("hang") as (session, process):
            calls = [asyncio.ensure_future(session.run_input(text="x")) for _ in range(64)]
            await session.ping()
            await session.close()
            results = await asyncio.gather(*calls, return_exceptions=True)
            assert {type(result) for result in results} == {DriverClosed}
            assert await asyncio.to_thread(process.wait, 20) == 0  # the host got a clean EOF

    run(main(), 60)


def test_the_agent_answers_finalize_during_the_hold() -> None:
    async def main() -> None:
        async with host("end") as (session, process):
            events = session.events()
            with pytest.raises(SessionEnded, match="CR_COMPLETED"):
                await session.run_input(text="bye")
            assert [received.arm async for received in events] == ["session_closed"]
            assert isinstance(await session.probe(), Ended)
            verdict = await session.finalize_simulation(
                provisional_success=False, provisional_reason="rude"
            )
            assert verdict.user_verdict.reason == "the agent's own"
            assert await asyncio.to_thread(process.wait, 20) == 0
            with pytest.raises(SessionLost):
                await session.ping()
            assert await session.wait_ended() == Ended(pb.CR_COMPLETED, None)

    run(main(), 60)


def test_a_thousand_sessions_in_one_driver() -> None:
    async def main() -> None:
        count = 1000
        async with await listen(max_agents=None) as listener:
            command = driver_process.command("serve", listener.host, listener.port, count)
            with subprocess.Popen(command) as process:
                try:
                    sessions = [RemoteSession(await listener.accept()) for _ in range(count)]
                    await asyncio.gather(*(session.start() for session in sessions))
                    for _ in range(3):
                        answers = await asyncio.gather(
                            *(each.run_input(text=str(n)) for n, each in enumerate(sessions))
                        )
                        assert [int(each.items[0].message.id) for each in answers] == [
                            *range(count)
                        ]
                    await asyncio.gather(*(session.close() for session in sessions))
                    assert await asyncio.to_thread(process.wait, 20) == 0
                finally:
                    process.kill()

    run(main(), 60)
