"""Random steps on two transports connected in memory."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any

from agent_session import (
    MemorySessionTransport,
    SlowConsumer,
    StreamLimits,
    TransportClosed,
    memory_pair,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from transport_messages import audio, framed, ping, run
from memory_transports import closed

ACTIONS = ["send", "audio", "await", "bad", "cut", "oversized", "read", "tick", "flush", "thread"]


ENDS = ["close", "abort", "hurry"]


@given(st.lists(st.tuples(st.integers(0, 1), st.sampled_from(ACTIONS + ENDS)), max_size=60))
@settings(deadline=None, max_examples=50)
def test_both_sides_end_and_keep_the_order_after_random_steps(steps: list[tuple[int, str]]) -> None:
    async def main() -> None:
        limits = StreamLimits(2 << 20, 1 << 16, stall_timeout=0.02, close_timeout=0.02, linger=0.01)
        ends = memory_pair(limits)
        received: tuple[list[int], list[int]] = ([], [])
        waiting: list[asyncio.Task[object]] = []
        for number, (side, action) in enumerate(steps):
            with contextlib.suppress(TransportClosed):
                step(ends[side], action, number, received[side], waiting)
            await asyncio.sleep(0)
        await closed(*ends)
        results = await asyncio.gather(*waiting, return_exceptions=True)
        allowed = (TransportClosed, StopAsyncIteration, RuntimeError)
        assert all(not isinstance(r, BaseException) or isinstance(r, allowed) for r in results)
        assert all(numbers == sorted(numbers) for numbers in received)
        assert all(end.closed and not end._send_buffer.size for end in ends)

    run(main())


def step(
    end: MemorySessionTransport,
    action: str,
    number: int,
    received: list[int],
    waiting: list[asyncio.Task[object]],
) -> None:
    """Runs one step on one end of a pair."""

    async def read() -> None:
        async for message in end:
            if message.HasField("request"):
                received.append(int(message.request.request_id))
            return

    big = ping(number)
    big.request.run_input.text = "x" * 300_000
    raw = {"bad": framed(b"\xff"), "cut": b"\0\0\1\0", "oversized": b"\xff" * 9}
    if action == "send":
        end.send_nowait(ping(number))
    elif action == "audio":
        end.send_nowait(audio(500_000))
    elif action == "thread":
        end.send_threadsafe(big)
    elif action in raw and not end.closed:
        end._put(raw[action])
    elif action == "abort":
        end._fail(SlowConsumer(0, 0))
    elif action != "tick" and action not in raw:
        work: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {
            "await": lambda: end.send(big),
            "read": read,
            "flush": end.flush,
            "close": end.close,
            "hurry": lambda: end.close(0),
        }
        waiting.append(asyncio.ensure_future(work[action]()))
