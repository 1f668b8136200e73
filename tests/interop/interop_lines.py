"""How a peer program talks with the harness: a line of JSON each way.

Comes in: commands on stdin, `{"id": 1, "do": "request", ...}`. Goes out: on stdout the answers,
`{"id": 1, "result": ...}` or `{"id": 1, "error": {...}}`, and between them notes and events. Each
command runs on its own, so one may wait while others are answered. The program ends when stdin
does, so that it cannot outlive its harness.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

Commands = dict[str, Callable[..., Awaitable[Any]]]

# A conversation is a few thousand bytes; a line may hold all of it.
_LONGEST_LINE = 1 << 20


def say(**facts: object) -> None:
    """Tell the harness something."""
    print(json.dumps(facts), flush=True)


async def serve(commands: Commands) -> None:
    """Carry out commands until stdin ends."""
    reader = asyncio.StreamReader(limit=_LONGEST_LINE)
    pipe, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    running: set[asyncio.Task[None]] = set()
    try:
        async for line in reader:
            task = asyncio.ensure_future(_carry_out(commands, json.loads(line)))
            running.add(task)
            task.add_done_callback(running.discard)
    finally:
        pipe.close()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _carry_out(commands: Commands, command: dict[str, Any]) -> None:
    number, verb = command.pop("id"), command.pop("do")
    try:
        result = await commands[verb](**command)
    except Exception as error:
        say(id=number, error={"type": type(error).__name__, "message": str(error)})
    else:
        say(id=number, result=result)
