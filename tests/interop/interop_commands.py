"""The command interface of the peer programs: lines of JSON on standard input and output.

A command is `{"id": 1, "command": "request", ...}`. Its result is `{"id": 1, "result": ...}` or
`{"id": 1, "error": {...}}`. The program also prints notes and events. Commands run concurrently.
The program exits when standard input ends, so it cannot outlive the tests.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

Commands = dict[str, Callable[..., Awaitable[Any]]]

# A line may contain a whole conversation, which is a few thousand bytes.
_MAX_LINE = 1 << 20


def write(**entry: object) -> None:
    """Prints a line of output."""
    print(json.dumps(entry), flush=True)


async def serve(commands: Commands) -> None:
    """Runs commands until standard input ends."""
    reader = asyncio.StreamReader(limit=_MAX_LINE)
    pipe, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    running: set[asyncio.Task[None]] = set()
    try:
        async for line in reader:
            task = asyncio.ensure_future(_run(commands, json.loads(line)))
            running.add(task)
            task.add_done_callback(running.discard)
    finally:
        pipe.close()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _run(commands: Commands, arguments: dict[str, Any]) -> None:
    number, name = arguments.pop("id"), arguments.pop("command")
    try:
        result = await commands[name](**arguments)
    except Exception as error:
        write(id=number, error={"type": type(error).__name__, "message": str(error)})
    else:
        write(id=number, result=result)
