"""Measures many sessions in one process: connected at the same time, and one after the other.

    python bench/many_sessions.py driver 10000
    python bench/many_sessions.py in_turn 300

As a program it is the process that is measured. The driver prints its port, and the other process
connects a host for each session.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path

from agent_session import RemoteSession, SessionHost, listen, memory_pair
from livekit.agents import Agent, AgentSession
from load import Answering, Subject, no_answer, subject
from measure import Row, Value, seconds
from subject import report, resident

_MANY, _FEW, _IN_TURN = 10_000, 1_000, 300
_ROUNDS = 10
_TIMEOUT = 300.0


def rows() -> list[Row]:
    """Measures everything; takes about a minute."""
    return asyncio.run(_rows())


async def _rows() -> list[Row]:
    async with _connected(_FEW) as (few, _), _connected(_MANY) as (many, figures):
        times: dict[Subject, float] = {few: 0.0, many: 0.0}
        for _ in range(_ROUNDS):
            for child in times:
                times[child] += await _command(child, "request")
        await _command(few, "close")
        close = await _command(many, "close")
    async with _process("in_turn", str(_IN_TURN)) as child:
        left = (await child.figures())["left"] / 1024
    idle, total = figures["idle"] / 1024, figures["connect"] + close
    request_few, request = (time / (_ROUNDS * _MANY) for time in times.values())
    name = f"processor time of a request in {_MANY:,} sessions, against {_FEW:,}, mean"
    peer = (f"{_FEW:,} sessions", seconds(request_few))
    return [
        _kibibytes(f"memory of a session, {_MANY:,} in one driver", idle, 64),
        Row(name, seconds(request), peer, request / request_few, 1.3),
        Row(f"connect and close {_MANY:,} sessions", seconds(total), None, total, 60, " s"),
        _kibibytes(f"memory that each of {_IN_TURN} sessions in turn leaves", left, 4),
    ]


def _kibibytes(name: str, number: float, limit: float) -> Row:
    return Row(name, Value(number, f"{number:.1f} KiB"), None, number, limit, " KiB")


def _process(*arguments: str) -> AbstractAsyncContextManager[Subject]:
    return subject(*arguments, program=Path(__file__))


@asynccontextmanager
async def _connected(count: int) -> AsyncIterator[tuple[Subject, dict[str, float]]]:
    """Connects hosts to a driver, all at the same time.

    Returns:
        The process of the driver, and its figures.
    """
    loop = asyncio.get_running_loop()
    async with _process("driver", str(count)) as child:
        port = int((await child.figures())["port"])
        hosts = [Answering(no_answer) for _ in range(count)]
        # The kernel drops the connections for which its accept queue has no room, and a host
        # that only waits for requests does not notice.
        for first in range(0, count, _FEW):
            await asyncio.gather(
                *(
                    loop.create_connection(partial(_same, host), "127.0.0.1", port)
                    for host in hosts[first : first + _FEW]
                )
            )
        yield child, await child.figures()
        await asyncio.wait_for(asyncio.gather(*(host.lost for host in hosts)), _TIMEOUT)


async def _command(child: Subject, name: str) -> float:
    """Lets a driver carry out a command, and returns the seconds that it reports."""
    child.stdin.write(f"{name}\n".encode())
    return (await child.figures())["seconds"]


def _same(host: Answering) -> Answering:
    return host


# The processes that are measured.


async def driver(count: int) -> None:
    """Accepts hosts and sends a ping to each; then carries out the commands on stdin.

    The commands are "request", which sends 10,000 requests, and "close", which closes all sessions.
    """
    async with await listen(max_agents=None) as listener:
        before = resident()
        report(port=listener.port)
        start = time.perf_counter()
        sessions = [RemoteSession(await listener.accept()) for _ in range(count)]
        await _for_each(sessions, RemoteSession.start)
        connect = time.perf_counter() - start
        await _for_each(sessions, lambda session: session.ping())
        gc.collect()
        report(idle=(resident() - before) / count, connect=connect)
        while await asyncio.to_thread(sys.stdin.readline) == "request\n":
            report(seconds=await _processor_time(sessions))
        if any(session.outcome is not None for session in sessions):
            raise RuntimeError("sessions were lost")
        report(seconds=await _for_each(sessions, RemoteSession.close))


async def _for_each(
    sessions: Sequence[RemoteSession], action: Callable[[RemoteSession], Awaitable[object]]
) -> float:
    """Runs an action in all sessions at the same time, and returns the seconds that it takes."""
    start = time.perf_counter()
    await asyncio.gather(*map(action, sessions))
    return time.perf_counter() - start


async def _processor_time(sessions: Sequence[RemoteSession]) -> float:
    """Sends requests, and returns the processor time that this takes, garbage collection included.

    There are as many requests, and as many in flight, with few sessions as with many: the collector
    runs after a number of new objects.
    """
    start = time.process_time()
    for first in range(0, _MANY, _FEW):
        at = first % len(sessions)
        await _for_each(sessions[at : at + _FEW], lambda session: session.get_framework_info())
    return time.process_time() - start


async def in_turn(count: int) -> None:
    """Serves sessions one after the other, and prints the memory that each leaves behind."""
    for _ in range(count):
        await _serve()
    gc.collect()
    before = resident()
    for _ in range(count):
        await _serve()
    gc.collect()
    report(left=(resident() - before) / count)


async def _serve() -> None:
    session: AgentSession[None] = AgentSession()
    ours, theirs = memory_pair()
    async with SessionHost(session, ours), RemoteSession(theirs) as remote:
        await session.start(Agent(instructions="Be brief."), session_host=False)
        await remote.wait_for_ready()
        await session.aclose()
        await remote.wait_ended()


if __name__ == "__main__":
    logging.disable(logging.ERROR)
    asyncio.run({"driver": driver, "in_turn": in_turn}[sys.argv[1]](int(sys.argv[2])))
