"""A peer for tests of TCP transports: `python transport_process.py ROLE HOST PORT`.

It prints lines of JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import psutil
from agent_session import TcpSessionTransport, TransportClosed
from transport_messages import audio, ping, transcript

AUDIO = 64_000


def write(**facts: object) -> None:
    print(json.dumps(facts), flush=True)


async def echo(transport: TcpSessionTransport) -> None:
    """Sends all messages back."""
    count = 0
    async for message in transport:
        await transport.send(message)
        count += 1
    write(count=count, reason=repr(transport.reason))


async def linger(transport: TcpSessionTransport) -> None:
    """Sends one message, and waits until killed."""
    await transport.send(ping(1))
    await asyncio.sleep(60)


async def cut(transport: TcpSessionTransport) -> None:
    """Sends an incomplete frame, and waits until killed."""
    await transport.send(ping(1))
    transport._put(b"\0\0\1\0half")
    await asyncio.sleep(60)


async def flood(transport: TcpSessionTransport) -> None:
    """Sends 128 MiB of audio, then 20,000 events, to a peer that does not read."""
    process = psutil.Process()
    start = peak = process.memory_info().rss
    for number in range((128 << 20) // AUDIO):
        await transport.send(audio(AUDIO))
        if number % 50 == 0:
            peak = max(peak, process.memory_info().rss)
    dropped, closed, sent, reason = transport.dropped_frames, transport.closed, 0, ""
    try:
        while sent < 20_000:
            transport.send_nowait(transcript("x" * 1000))
            sent += 1
            peak = max(peak, process.memory_info().rss) if sent % 100 == 0 else peak
    except TransportClosed as error:
        reason = type(error.reason).__name__
    ended = [message async for message in transport]
    await transport.close()
    write(growth=peak - start, dropped=dropped, closed=closed, sent=sent, reason=reason)
    assert not ended


async def late(transport: TcpSessionTransport) -> None:
    """Sends 20,000 messages and closes, even if the peer reads slowly."""
    for number in range(20_000):
        await transport.send(ping(number))
    await transport.close(30)
    write(reason=repr(transport.reason))


ROLES = {"echo": echo, "linger": linger, "cut": cut, "flood": flood, "late": late}


async def main(role: str, host: str, port: int) -> None:
    async with TcpSessionTransport(host, port) as transport:
        await ROLES[role](transport)


def command(role: str, host: str, port: int) -> list[str]:
    return [sys.executable, str(Path(__file__)), role, host, str(port)]


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
