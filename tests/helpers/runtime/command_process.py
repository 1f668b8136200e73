"""Runs the command as a subprocess, with pipes or at a terminal, and connects agents to it."""

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
# The start of the line for a request, with a place for its name.
NAMES = " " * 14 + "{:<26}"

# Makes standard input the controlling terminal of the process's session, as a terminal window does.
_AT_TERMINAL = """
import fcntl, os, runpy, sys, termios
if sys.argv.pop(1) == "owned":
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
runpy.run_module("agent_session", run_name="__main__", alter_sys=True)
"""


class Screen:
    """The screen of a terminal that supports the escape sequences of a prompt.

    Attributes:
        rows: the rows of the screen. The cursor is in the last one.
        raw: all text that was written.
        column: the column of the cursor.
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
    """A running `python -m agent_session`."""

    def __init__(self, process: subprocess.Popen[bytes], reads: int, writes: int) -> None:
        self.process = process
        self.screen = Screen()
        self._reads = reads
        self._writes = writes
        self._ended = False
        self._changed = asyncio.Event()
        asyncio.get_running_loop().add_reader(reads, self._read)

    def _read(self) -> None:
        try:
            data = os.read(self._reads, 1 << 16)
        except OSError:  # the other end of the terminal is closed
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(self._reads)
            self._ended = True
        self.screen.write(data.decode("utf-8", "strict"))
        self._changed.set()

    @property
    def text(self) -> str:
        """All rows of the screen."""
        return "\n".join(self.screen.rows)

    async def until(self, condition: str | Callable[[], bool]) -> None:
        """Waits until a text is on the screen, or a condition is true."""
        while not (condition in self.text if isinstance(condition, str) else condition()):
            assert not self._ended, self.text
            self._changed.clear()
            await self._changed.wait()

    async def port(self) -> int:
        """Waits until the command listens, and returns the port."""
        ports: list[str] = []

        def listening() -> bool:
            ports[:] = re.findall(r"listening(?: on |\": \")127\.0\.0\.1:(\d+)", self.text)
            return bool(ports)

        await self.until(listening)
        return int(ports[0])

    def type(self, keys: str | bytes) -> None:
        os.write(self._writes, keys.encode() if isinstance(keys, str) else keys)

    def end_input(self) -> None:
        os.close(self._writes)
        self._writes = -1

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    async def status(self) -> int:
        """Waits until the command exits, and returns its exit status."""
        while not self._ended:
            self._changed.clear()
            await self._changed.wait()
        return await asyncio.to_thread(self.process.wait, 20)

    def mode(self) -> list[Any]:
        """Returns the mode of the terminal."""
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
    """Runs the command with pipes. Standard error is part of the output."""
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
    """Runs the command at a terminal. If `owned`, it is the controlling terminal of its session."""
    controller, terminal = os.openpty()
    fcntl.ioctl(controller, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", _AT_TERMINAL, "owned" if owned else "not", *arguments],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        env={**os.environ, "TERM": "xterm", "NO_COLOR": "", **environment},
    )
    os.close(terminal)
    command = Command(process, controller, controller)
    try:
        yield command
    finally:
        command.close()


@asynccontextmanager
async def agent(port: int) -> AsyncIterator[Host]:
    """Yields a connected agent that the test controls."""
    async with TcpSessionTransport("127.0.0.1", port) as transport:
        yield Host(transport)


def message_event(text: str) -> pb.AgentSessionEvent:
    """Returns the event of a message of the agent."""
    event = pb.AgentSessionEvent()
    message = event.conversation_item_added.item.message
    message.role = pb.ASSISTANT
    message.content.add().text = text
    return event


def state_event(state: pb.AgentState.ValueType) -> pb.AgentSessionEvent:
    changed = pb.AgentSessionEvent.AgentStateChanged(old_state=pb.AS_INITIALIZING, new_state=state)
    return pb.AgentSessionEvent(agent_state_changed=changed)


def run_response(request: pb.SessionRequest, *texts: str) -> pb.SessionResponse:
    """Returns the response to a run, with messages of the agent."""
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
    """Sends session_closed and disconnects."""
    host.emit(event or closed_event())
    await host.transport.close()
