"""A host or a driver for tests of hosts: `python host_process.py ROLE [HOST PORT]`.

It prints lines of JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import psutil
from agent_session import SessionHost, TcpSessionTransport, listen
from scripted_session import Driver, PlainSession, request
from transport_messages import TIMEOUT

AUDIO = 1 << 30
EVENTS = 100_000


def write(**facts: object) -> None:
    print(json.dumps(facts), flush=True)


async def drive(*_: str) -> None:
    """Sends a request that is never answered, reports it, and waits until killed."""
    async with await listen() as listener:
        write(host=listener.host, port=listener.port)
        transport = await listener.accept()
        driver = Driver(transport)
        transport.deliver_to(driver)
        await driver.send("get_rtc_stats")
        await driver.ask("ping")
        write(asked=True)
        await asyncio.sleep(TIMEOUT)


async def serve(host: str, port: str) -> None:
    """Serves a session until the driver disconnects."""
    session = PlainSession()
    async with SessionHost(session, TcpSessionTransport(host, int(port))) as served:
        await asyncio.wait_for(served.wait_closed(), TIMEOUT)
    write(closed=True)


async def flood(host: str, port: str) -> None:
    """Sends 1 GiB of audio, then 100,000 events, to a driver that does not read."""
    session = PlainSession()
    transport = TcpSessionTransport(host, int(port))
    process = psutil.Process()
    async with SessionHost(session, transport, console_audio=True) as served:
        assert session.console is not None
        frame = request("", None)
        frame.audio_output.data = bytes(48_000 * 2)
        frame.audio_output.sample_rate = 48_000
        frame.audio_output.num_channels = 1
        frame.audio_output.samples_per_channel = 48_000
        start = peak = process.memory_info().rss
        for number in range(AUDIO // 96_000):
            await session.console.sink.play(frame.audio_output)
            if number % 100 == 0:
                peak = max(peak, process.memory_info().rss)
        alive = not transport.closed
        for number in range(EVENTS):
            session.emit("error", {"message": "x" * 100})
            if number % 1_000 == 0:
                peak = max(peak, process.memory_info().rss)
        await asyncio.wait_for(served.wait_closed(), TIMEOUT)
        reason = type(transport.reason).__name__
        write(growth=peak - start, dropped=transport.dropped_frames, alive=alive, reason=reason)


ROLES: dict[str, Callable[..., Coroutine[Any, Any, None]]] = {
    "drive": drive,
    "serve": serve,
    "flood": flood,
}


def command(role: str, *address: str | int) -> list[str]:
    return [sys.executable, str(Path(__file__)), role, *map(str, address)]


if __name__ == "__main__":
    asyncio.run(ROLES[sys.argv[1]](*sys.argv[2:]))
