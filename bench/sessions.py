"""Measures hosts, drivers, many sessions at once, and a driver that does not read.

Hosts and drivers are measured against those of livekit-agents and against a bare protocol, in
turn, in two processes that are connected over loopback.
"""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Awaitable, Callable

import load
from measure import Row, Value, mebibytes, per_second, percentile, seconds
from subject import BATCH
from wire import request

_KINDS = ("ours", "sdk", "bare")
_SDK, _BARE = "livekit-agents", "a bare protocol"

# The share of a bare protocol's rate that is required.
_SHARE = 0.85


def rows() -> list[Row]:
    """Measures everything; takes about two minutes."""
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


def _rows_of(name: str, rates: dict[str, float], sdk: float, bare: float | None) -> list[Row]:
    """Returns the rows of a rate: against the SDK, and as a share of a bare protocol."""
    ours = rates["ours"]

    def row(suffix: str, peer: str, rate: float, limit: float) -> Row:
        beside, ratio = (peer, per_second(rate)), ours / rate
        # More than a bare protocol would mean that it does more than it must.
        at_most = 1.0 if peer == _BARE else None
        label = name + suffix
        return Row(label, per_second(ours), beside, ratio, limit, "×", True, name, at_most)

    result = [row("", _SDK, rates["sdk"], sdk)]
    if bare is not None:
        result.append(row(", share of a bare protocol", _BARE, rates["bare"], bare))
    return result


async def _rates(
    count: int, items: int, run: Callable[[load.Host], Awaitable[float]], rounds: int = 40
) -> dict[str, float]:
    """Returns the operations per second of each kind of host, which run in turn."""
    async with load.host("ours", items) as ours, load.host("sdk", items) as sdk:
        async with load.host("bare", items) as bare:
            hosts = dict(zip(_KINDS, (ours, sdk, bare), strict=True))
            for host in hosts.values():
                await run(host)
            times: dict[str, list[float]] = {kind: [] for kind in _KINDS}
            for _ in range(rounds):
                for kind, host in hosts.items():
                    times[kind].append(await run(host))
    return {kind: count / percentile(kind_times) for kind, kind_times in times.items()}


async def _pings(name: str, count: int, at_once: int, limit: float) -> list[Row]:
    requests = [request(f"{index:x}", "ping") for index in range(count)]
    rates = await _rates(count, 0, lambda host: host.ask(requests, at_once))
    return _rows_of(name, rates, limit, _SHARE if at_once > 1 else None)


async def _events() -> list[Row]:
    # More than 100,000 in all: six rounds of 20,000, after one that is not counted.
    count = 20_000
    rates = await _rates(count, 0, lambda host: host.events(count // BATCH, BATCH), rounds=6)
    return _rows_of("transcription events", rates, 1.6, _SHARE)


async def _history() -> list[Row]:
    requests = [request(f"{index:x}", "get_chat_history") for index in range(300)]
    rates = await _rates(len(requests), 50, lambda host: host.ask(requests, 16), rounds=15)
    return _rows_of("`get_chat_history`, 50 items", rates, 5.0, _SHARE)


async def _long_history() -> Row:
    pings: list[float] = []
    async with load.host("ours", 10_000) as host:
        for _ in range(20):
            times, error = await host.pings_beside("get_chat_history")
            pings += times
            if "1048576" not in error:
                raise RuntimeError(f"a history over the limit was answered with {error!r}")
    p99 = statistics.quantiles(pings, n=100)[98]
    name = "ping p99 while a history of 10,000 items is encoded"
    return Row(name, Value(p99, f"{p99 * 1000:.1f} ms"), None, p99 * 1000, 20.0, " ms")


async def _drivers() -> list[Row]:
    count = 4000
    times: dict[str, list[float]] = {kind: [] for kind in _KINDS}
    for _ in range(3):
        for kind in _KINDS:
            async with load.answering("driver", kind, "PORT", str(count)) as child:
                for index in range(16):
                    child.stdin.write(b"\n")
                    elapsed = (await child.figures())["seconds"]
                    # The first round is not counted.
                    times[kind] += [elapsed] if index else []
    rates = {kind: count / percentile(kind_times) for kind, kind_times in times.items()}
    return _rows_of("driver, 64 requests in flight", rates, 3.0, _SHARE)


async def _fleet() -> list[Row]:
    async with load.answering("fleet", "PORT", "1000") as child:
        figures = await child.figures()
    alone, together = figures["alone"], figures["together"]
    name = "time of a request in 1,000 sessions at once, against one session's"
    idle = figures["idle"] / 1024
    idle_text = Value(idle, f"{idle:.1f} KiB")
    return [
        Row(name, seconds(together), ("one session", seconds(alone)), together / alone, 1.3),
        Row("memory of an idle session", idle_text, None, idle, 64, " KiB"),
    ]


async def _pressed() -> Row:
    async with load.deaf("pressed", "PORT", "1024", "100000") as child:
        growth = (await child.figures())["growth"] / 2**20
    name = "memory for a driver that reads nothing, 1 GiB of audio and 100,000 events"
    return Row(name, mebibytes(growth), None, growth, 100, " MiB")
