"""Transports over TCP between processes: peers that are killed, and peers that do not read."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import transport_process
from agent_session import TcpSessionTransport, TransportClosed, TruncatedFrame, listen
from transport_messages import ping, read_all, run


@asynccontextmanager
async def peer(role: str) -> AsyncIterator[tuple[TcpSessionTransport, subprocess.Popen[str]]]:
    """Yields the transport to a peer in a subprocess."""
    async with await listen() as listener:
        command = transport_process.command(role, listener.host, listener.port)
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                async with await listener.accept() as driver:
                    yield driver, process
            finally:
                process.kill()


def read_line(process: subprocess.Popen[str]) -> dict[str, Any]:
    output, _ = process.communicate(timeout=40)
    facts: dict[str, Any] = json.loads(output)
    return facts


def test_an_echo_across_processes() -> None:
    async def main() -> None:
        async with peer("echo") as (driver, process):
            async with driver:
                sending = asyncio.ensure_future(send_many(driver))
                for number in range(20_000):
                    assert await driver.__anext__() == ping(number)
                await sending
            facts = await asyncio.to_thread(read_line, process)
            assert facts == {"count": 20_000, "reason": "None"}

    async def send_many(driver: TcpSessionTransport) -> None:
        for number in range(20_000):
            await driver.send(ping(number))

    run(main(), 60)


@pytest.mark.parametrize(("role", "reason"), [("linger", type(None)), ("cut", TruncatedFrame)])
def test_a_killed_peer_ends_the_transport(role: str, reason: type[object]) -> None:
    async def main() -> None:
        async with peer(role) as (driver, process):
            assert await driver.__anext__() == ping(1)
            if role == "cut":
                while not driver._decoder._partial:
                    await asyncio.sleep(0)
            process.send_signal(signal.SIGKILL)
            assert await read_all(driver) == []
            assert isinstance(driver.reason, reason)
            with pytest.raises(TransportClosed):
                await driver.send(ping(2))

    run(main(), 60)


def test_sends_to_a_killed_peer_end() -> None:
    async def main() -> None:
        async with peer("linger") as (driver, process):
            assert await driver.__anext__() == ping(1)
            process.send_signal(signal.SIGKILL)
            with pytest.raises(TransportClosed):
                while True:
                    await driver.send(ping(2))
                    await asyncio.sleep(0)

    run(main(), 60)


def test_a_late_reader_gets_all_messages() -> None:
    async def main() -> None:
        async with peer("late") as (driver, process):
            driver._stream.pause_reading()
            for _ in range(20):
                await asyncio.sleep(0)
            driver._stream.resume_reading()
            assert await read_all(driver) == [ping(number) for number in range(20_000)]
            assert (await asyncio.to_thread(read_line, process)) == {"reason": "None"}

    run(main(), 60)


def test_memory_is_bounded_when_the_peer_does_not_read() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        host, port = server.getsockname()
        command = transport_process.command("flood", host, port)
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            connection, _ = server.accept()
            with connection:
                facts = read_line(process)
    assert facts["dropped"] > 1500 and not facts["closed"]  # audio alone ends nothing
    assert facts["reason"] == "SlowConsumer" and facts["sent"] > 8000
    assert facts["growth"] < 32 << 20
