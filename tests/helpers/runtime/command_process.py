"""What the tests of the command share: the command as a process, at a pipe or at a terminal, and
an agent for it to listen to."""

from __future__ import annotations

import asyncio
import fcntl
import os
import re
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from agent_session import TcpSessionTransport
from agent_session_protocol import agent_session_pb2 as pb
from scripted_host import Host, closed_event

NO_REQUEST = "unknown request; /help lists all requests"
# How a line begins that tells of a request, with the request's name.
NAMES = " " * 14 + "{:<26}"

# Makes its standard input the terminal of a session of its own, as a terminal window does.
_AT_TERMINAL = """
import fcntl, os, runpy, sys, termios
if sys.argv.pop(1) == "owned":
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
runpy.run_module("agent_session", run_name="__main__", alter_sys=True)
"""


class Screen:
    """A terminal's screen, as far as a prompt needs one; it knows its few sequences by itself.

    Attributes:
        rows: what stands there, the last one being where the cursor is.
        raw: all that was written.
    """

    def __init__(self) -> None:
        self.rows = [""]
        self.raw = ""
        self.column = 0

    def write(self, text: str) -> None:
        self.raw += text
        for part in re.findall(r"\x1b\[[0-9;]*[A-Za-z]|.", text, re.DOTALL):
            self._put(part)

    def _put(self, part: str) -> None:
        row = self.rows[-1]
        if part == "\n":
            self.rows.append("")
            self.column = 0
        elif part == "\r":
            self.column = 0
        elif part == "\x1b[K":
            self.rows[-1] = row[: self.column]
        elif part.startswith("\x1b[") and part.endswith("C"):
            self.column += int(part[2:-1])
        elif part.startswith("\x1b[") and part.endswith("m"):
            pass
        else:
            assert part.isprintable(), f"{part!r} reached the terminal"
            self.rows[-1] = f"{row:<{self.column}}"[: self.column] + part + row[self.column + 1 :]
            self.column += 1


class Command:
    """`python -m agent_session`, running."""

    def __init__(self, process: subprocess.Popen[bytes], reads: int, writes: int) -> None:
        self.process = process
        self.screen = Screen()
        self._reads = reads
        self._writes = writes
        self._ended = False
        self._news = asyncio.Event()
        asyncio.get_running_loop().add_reader(reads, self._read)

    def _read(self) -> None:
        try:
            data = os.read(self._reads, 1 << 16)
        except OSError:  # a terminal whose other side is closed
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(self._reads)
            self._ended = True
        # With pipes, lines end as they do.
        self.screen.write(data.decode("utf-8", "strict"))
        self._news.set()

    @property
    def text(self) -> str:
        """All lines so far."""
        return "\n".join(self.screen.rows)

    async def until(self, holds: str | Callable[[], bool]) -> None:
        """Wait until a text is on the screen, or a condition holds."""
        while not (holds in self.text if isinstance(holds, str) else holds()):
            assert not self._ended, self.text
            self._news.clear()
            await self._news.wait()

    async def port(self) -> int:
        """Where it listens."""
        found: list[str] = []

        def told() -> bool:
            found[:] = re.findall(r"listening(?: on |\": \")127\.0\.0\.1:(\d+)", self.text)
            return bool(found)

        await self.until(told)
        return int(found[0])

    def type(self, keys: str | bytes) -> None:
        os.write(self._writes, keys.encode() if isinstance(keys, str) else keys)

    def end_input(self) -> None:
        os.close(self._writes)
        self._writes = -1

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    async def status(self) -> int:
        """Wait for its end."""
        while not self._ended:
            self._news.clear()
            await self._news.wait()
        return await asyncio.to_thread(self.process.wait, 20)

    def mode(self) -> list[Any]:
        """How its terminal is set."""
        return termios.tcgetattr(self._reads)

    def set_mode(self, mode: list[Any]) -> None:
        termios.tcsetattr(self._reads, termios.TCSANOW, mode)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        asyncio.get_running_loop().remove_reader(self._reads)
        for descriptor in {self._reads, self._writes} - {-1}:
            os.close(descriptor)


@asynccontextmanager
async def piped(*arguments: str, **environment: str) -> AsyncIterator[Command]:
    """Run the command at pipes; standard error goes where standard output goes."""
    input_read, input_write = os.pipe()
    output_read, output_write = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "agent_session", *arguments],
        stdin=input_read,
        stdout=output_write,
        stderr=subprocess.STDOUT,
        env={**os.environ, **environment},
    )
    os.close(input_read)
    os.close(output_write)
    command = Command(process, output_read, input_write)
    try:
        yield command
    finally:
        command.close()


@asynccontextmanager
async def at_terminal(
    *arguments: str, columns: int = 80, owned: bool = True, **environment: str
) -> AsyncIterator[Command]:
    """Run the command at a terminal, which is that of its session unless it is not `owned`."""
    ours, theirs = os.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", _AT_TERMINAL, "owned" if owned else "not", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        env={**os.environ, "TERM": "xterm", "NO_COLOR": "", **environment},
    )
    os.close(theirs)
    command = Command(process, ours, ours)
    try:
        yield command
    finally:
        command.close()


@asynccontextmanager
async def agent(port: int) -> AsyncIterator[Host]:
    """An agent that is connected, and does what a test tells it."""
    async with TcpSessionTransport("127.0.0.1", port) as transport:
        yield Host(transport)


def message_event(text: str) -> pb.AgentSessionEvent:
    """The agent said something."""
    event = pb.AgentSessionEvent()
    message = event.conversation_item_added.item.message
    message.role = pb.ASSISTANT
    message.content.add().text = text
    return event


def state_event(state: pb.AgentState.ValueType) -> pb.AgentSessionEvent:
    changed = pb.AgentSessionEvent.AgentStateChanged(old_state=pb.AS_INITIALIZING, new_state=state)
    return pb.AgentSessionEvent(agent_state_changed=changed)


def run_response(request: pb.SessionRequest, *texts: str) -> pb.SessionResponse:
    """The answer to a run, with messages of the agent."""
    response = pb.SessionResponse(request_id=request.request_id)
    response.run_input.SetInParent()
    for text in texts:
        message = response.run_input.items.add().message
        message.role = pb.ASSISTANT
        message.content.add().text = text
    return response


def usage_response(request: pb.SessionRequest) -> pb.SessionResponse:
    response = pb.SessionResponse(request_id=request.request_id)
    llm = response.get_session_usage.usage.model_usage.add().llm
    llm.provider, llm.model, llm.input_tokens, llm.output_tokens = "acme", "m1", 12, 3
    return response


async def goodbye(host: Host, event: pb.AgentSessionEvent | None = None) -> None:
    """Tell that the session is over, and why, and leave."""
    host.emit(event or closed_event())
    await host.transport.close()
