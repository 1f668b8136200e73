"""The runtime's figures: hosts, drivers, fleets, and a driver that does not read.

Comes in: nothing. Goes out: Rows, each against livekit-agents and against a bare protocol,
two processes on loopback, the subjects in turn.
"""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Awaitable, Callable

import load
from measure import Row, good
from subject import BATCH
from wire import request

_KINDS = ("ours", "sdk", "bare")
_SDK, _BARE = "livekit-agents", "a bare protocol"

# The share of a bare protocol's rate that is required.
_SHARE = 0.85


def rows() -> list[Row]:
    """Measure everything; takes about two minutes."""
    return asyncio.run(_rows())


async def _rows() -> list[Row]:
    return [
        *await _pings("ping, 64 in flight", 4000, 64, 2.0),
        *await _pings("ping, 1 in flight", 1000, 1, 1.0),
        *await _events(),
        *await _drivers(),
        *await _history(),
        await _long_history(),
        *await _fleet(),
        await _pressed(),
    ]


def _against(what: str, found: dict[str, float], sdk: float, bare: float | None) -> list[Row]:
    """Return the rows of a rate: against the SDK, and as a share of a bare protocol."""
    ours = f"{found['ours']:,.0f}/s"
    result = [_row(what, ours, _SDK, found["sdk"], found["ours"] / found["sdk"], sdk)]
    if bare is not None:
        share = found["ours"] / found["bare"]
        result.append(
            _row(f"{what}, share of a bare protocol", ours, _BARE, found["bare"], share, bare)
        )
    return result


def _row(what: str, ours: str, peer: str, rate: float, ratio: float, limit: float) -> Row:
    return Row(what, ours, f"{peer}, {rate:,.0f}/s", ratio, limit, "×", at_least=True)


async def _rates(
    count: int, items: int, run: Callable[[load.Host], Awaitable[float]], rounds: int = 40
) -> dict[str, float]:
    """Return how many a second each kind of host manages, the kinds in turn."""
    async with load.host("ours", items) as ours, load.host("sdk", items) as sdk:
        async with load.host("bare", items) as bare:
            hosts = dict(zip(_KINDS, (ours, sdk, bare), strict=True))
            for host in hosts.values():
                await run(host)
            seconds: dict[str, list[float]] = {kind: [] for kind in _KINDS}
            for _ in range(rounds):
                for kind, host in hosts.items():
                    seconds[kind].append(await run(host))
    return {kind: count / good(found) for kind, found in seconds.items()}


async def _pings(what: str, count: int, at_once: int, limit: float) -> list[Row]:
    requests = [request(f"{index:x}", "ping") for index in range(count)]
    found = await _rates(count, 0, lambda host: host.ask(requests, at_once))
    return _against(what, found, limit, _SHARE if at_once > 1 else None)


async def _events() -> list[Row]:
    # More than 100,000 in all: six rounds of 20,000, after one that does not count.
    count = 20_000
    found = await _rates(count, 0, lambda host: host.events(count // BATCH, BATCH), rounds=6)
    return _against("transcription events", found, 1.6, _SHARE)


async def _history() -> list[Row]:
    requests = [request(f"{index:x}", "get_chat_history") for index in range(300)]
    found = await _rates(len(requests), 50, lambda host: host.ask(requests, 16), rounds=15)
    return _against("`get_chat_history`, 50 items", found, 5.0, _SHARE)


async def _long_history() -> Row:
    pings: list[float] = []
    async with load.host("ours", 10_000) as host:
        for _ in range(20):
            seconds, error = await host.pings_beside("get_chat_history")
            pings += seconds
            if "1048576" not in error:
                raise RuntimeError(f"a history over the limit was answered with {error!r}")
    p99 = statistics.quantiles(pings, n=100)[98] * 1000
    what = "ping p99 while a history of 10,000 items is encoded"
    return Row(what, f"{p99:.1f} ms", "-", p99, 20.0, " ms")


async def _drivers() -> list[Row]:
    count = 4000
    seconds: dict[str, list[float]] = {kind: [] for kind in _KINDS}
    for _ in range(3):
        for kind in _KINDS:
            async with load.answering("driver", kind, "PORT", str(count)) as child:
                for turn in range(16):
                    child.stdin.write(b"\n")
                    took = (await child.figures())["seconds"]
                    seconds[kind] += [took] if turn else []
    found = {kind: count / good(taken) for kind, taken in seconds.items()}
    return _against("driver, 64 requests in flight", found, 3.0, _SHARE)


async def _fleet() -> list[Row]:
    async with load.answering("fleet", "PORT", "1000") as child:
        found = await child.figures()
    alone, together = found["alone"] * 1e6, found["together"] * 1e6
    what = "time a request in 1,000 sessions at once, against one session's"
    idle = found["idle"] / 1024
    return [
        Row(what, f"{together:.0f} µs", f"one session, {alone:.0f} µs", together / alone, 1.3),
        Row("memory of an idle session", f"{idle:.1f} KiB", "-", idle, 64, " KiB"),
    ]


async def _pressed() -> Row:
    async with load.deaf("pressed", "PORT", "1024", "100000") as child:
        grown = (await child.figures())["grown"] / 2**20
    what = "memory for a driver that reads nothing, 1 GiB of audio and 100,000 events"
    return Row(what, f"{grown:.0f} MiB", "-", grown, 100, " MiB")
