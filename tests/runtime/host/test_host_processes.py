"""Hosts and drivers in subprocesses: killed processes, and a driver that does not read."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import host_process
from agent_session import SessionHost, TcpSessionTransport, listen
from scripted_session import Driver, PlainSession
from transport_messages import run


@contextmanager
def peer(role: str, *address: str | int) -> Iterator[subprocess.Popen[str]]:
    command = host_process.command(role, *address)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


async def read_line(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    line = await asyncio.to_thread(process.stdout.readline)
    facts: dict[str, Any] = json.loads(line)
    return facts


def test_the_driver_is_killed() -> None:
    async def main() -> None:
        session = PlainSession()
        session.stats = asyncio.Event().wait
        with peer("drive") as process:
            address = await read_line(process)
            transport = TcpSessionTransport(address["host"], address["port"])
            async with SessionHost(session, transport, close_timeout=0.2) as host:
                assert (await read_line(process))["asked"]
                process.send_signal(signal.SIGKILL)
                await asyncio.wait_for(host.wait_closed(), 10)
                session.emit("error", {"message": "nobody is there"})
                session.closes()
            assert session.host is None

    run(main(), 60)


def test_the_host_is_killed() -> None:
    async def main() -> None:
        async with await listen() as listener:
            with peer("serve", listener.host, listener.port) as process:
                transport = await listener.accept()
                driver = Driver(transport)
                transport.deliver_to(driver)
                assert (await driver.ask("ping")).HasField("pong")
                process.send_signal(signal.SIGKILL)
                await driver.end()
                assert "session_closed" not in driver.arms()
                await transport.close()

    run(main(), 60)


def test_a_host_process_exits_after_the_driver_disconnects() -> None:
    async def main() -> None:
        async with await listen() as listener:
            with peer("serve", listener.host, listener.port) as process:
                transport = await listener.accept()
                await transport.__anext__()
                await transport.close()
                assert (await read_line(process))["closed"]
                assert await asyncio.to_thread(process.wait, 20) == 0

    run(main(), 60)


def test_memory_with_a_driver_that_does_not_read() -> None:
    """Audio is dropped, oldest first. 100,000 events overflow the send queue."""

    async def main() -> None:
        async with await listen() as listener:
            with peer("flood", listener.host, listener.port) as process:
                transport = await listener.accept()
                transport._stream.pause_reading()
                facts = await read_line(process)
                await transport.close(0)
        assert facts["alive"] and facts["dropped"] > 10_000
        assert facts["reason"] == "SlowConsumer"
        assert facts["growth"] < 100 << 20

    run(main(), 60)
