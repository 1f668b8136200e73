"""The process that is measured: a host or a driver, of ours, of livekit-agents, or bare.

It connects to a port, reads credits for events as bytes from stdin, and writes figures as JSON lines
to stdout. It ends when its connection or its stdin ends.

    python bench/subject.py host ours 40000 0
"""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import os
import resource
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from agent_session import RemoteSession, SessionHost, TcpSessionTransport
from agent_session_protocol import agent_session_pb2 as pb
from bare_peers import BareDriver, BareHost, transcription
from livekit.agents import AgentSession
from livekit.agents.llm import ChatItem, ChatMessage, FunctionCall
from livekit.agents.voice import remote_session as sdk
from livekit.agents.voice.events import UserInputTranscribedEvent

_LOCAL = "127.0.0.1"
# Events that are emitted for one credit.
BATCH = 500
IN_FLIGHT = 64


def report(**figures: float) -> None:
    """Writes figures for the other process."""
    print(json.dumps(figures), flush=True)


def chat(count: int) -> list[ChatItem]:
    """Returns a conversation of repeated questions, function calls and answers."""
    items: list[ChatItem] = []
    for index in range(count):
        if index % 3 == 1:
            call = FunctionCall(
                call_id=f"call_{index}", name="weather", arguments='{"city": "Oslo"}'
            )
            items.append(call)
            continue
        metrics: Any = {"llm_node_ttft": 0.25, "tts_node_ttfb": 0.125, "e2e_latency": 0.75}
        role: Any = "assistant" if index % 3 else "user"
        text = f"This is turn {index}, with a sentence of the length that people usually speak."
        items.append(ChatMessage(role=role, content=[text], metrics=metrics if index % 3 else {}))
    return items


async def host(kind: str, port: int, items: int) -> None:
    """Serves a session; emits a batch of events for each byte on stdin, until that ends."""
    session: Any = AgentSession()
    session.history.items.extend(chat(items))
    if kind == "bare":
        await _bare_host(port, session)
    elif kind == "ours":
        ours = SessionHost(session, TcpSessionTransport(_LOCAL, port))
        await ours.start()
    else:
        sdk_host = sdk.SessionHost(sdk.TcpSessionTransport(_LOCAL, port))
        sdk_host.register_session(session)
        await sdk_host.start()
    event = UserInputTranscribedEvent(transcript="what is the weather", is_final=False)
    await _credits(lambda: session.emit("user_input_transcribed", event))


async def _bare_host(port: int, session: Any) -> None:
    """Connects a bare host, and sends the events of the session."""
    protocol = BareHost(session.history.items).protocol
    await asyncio.get_running_loop().create_connection(lambda: protocol, _LOCAL, port)

    def forward(event: UserInputTranscribedEvent) -> None:
        protocol.send(transcription(event))

    # As the runtime does: livekit's emitter inspects a listener without it for each event.
    setattr(forward, "__signature__", inspect.signature(forward))
    session.on("user_input_transcribed", forward)


async def _credits(emit: Callable[[], None]) -> None:
    """Calls `emit` a batch of times for each byte on stdin."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while await reader.read(1):
        for index in range(BATCH):
            emit()
            if index % 50 == 49:
                await asyncio.sleep(0)


async def driver(kind: str, port: int, requests: int) -> None:
    """Sends a number of requests for each line on stdin, and reports how long they took."""
    session: Any
    if kind == "ours":
        session = RemoteSession(TcpSessionTransport(_LOCAL, port))
        await session.start()
    elif kind == "sdk":
        session = sdk.RemoteSession(sdk.TcpSessionTransport(_LOCAL, port))
        await session.start()
    else:
        session = BareDriver()
        await session.connect(port)
    while await asyncio.to_thread(sys.stdin.readline):
        report(seconds=await _time(session.get_framework_info, requests, IN_FLIGHT))


async def _time(ask: Callable[[], Awaitable[Any]], requests: int, at_once: int) -> float:
    left = requests

    async def worker() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            await ask()

    start = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(at_once)))
    return time.perf_counter() - start


async def fleet(port: int, sessions: int) -> None:
    """Sends requests in one session, then in many at once, one at a time in each."""
    first = RemoteSession(TcpSessionTransport(_LOCAL, port))
    await first.start()
    await _time(first.get_framework_info, 500, 1)
    alone = min([await _time(first.get_framework_info, 1000, 1) for _ in range(5)]) / 1000
    before = resident()
    others = [RemoteSession(TcpSessionTransport(_LOCAL, port)) for _ in range(sessions)]
    for each in others:
        await each.start()
        await each.ping()
    idle = (resident() - before) / sessions

    async def several(session: RemoteSession) -> None:
        for _ in range(5):
            await session.get_framework_info()

    times = []
    for _ in range(5):
        start = time.perf_counter()
        await asyncio.gather(*map(several, others))
        times.append((time.perf_counter() - start) / (5 * sessions))
    report(alone=alone, together=min(times), idle=idle)
    for each in (first, *others):
        await each.close(0)


async def pressed(port: int, megabytes: int, events: int) -> None:
    """Sends audio and events to a driver that reads nothing, and reports how much memory grew."""
    session: Any = AgentSession()
    transport = TcpSessionTransport(_LOCAL, port)
    session_host = SessionHost(session, transport)
    await session_host.start()
    event = UserInputTranscribedEvent(transcript="what is the weather", is_final=False)
    frame = pb.AgentSessionMessage()
    frame.audio_output.data = bytes(1 << 15)
    before = resident()
    frames = megabytes << 5
    for index in range(max(frames, events)):
        if index < frames and not transport.closed:
            transport.send_nowait(frame)
        if index < events:
            session.emit("user_input_transcribed", event)
        if index % 20 == 0:
            await asyncio.sleep(0)
    report(growth=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before)
    await transport.close(0)


def resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main(role: str, *arguments: str) -> None:
    """Runs the subject that the arguments name."""
    logging.disable(logging.ERROR)
    if role in ("host", "driver"):
        kind, port, count = arguments
        subject = host if role == "host" else driver
        asyncio.run(subject(kind, int(port), int(count)))
    elif role == "fleet":
        asyncio.run(fleet(*map(int, arguments)))
    else:
        asyncio.run(pressed(*map(int, arguments)))


if __name__ == "__main__":
    main(*sys.argv[1:])
