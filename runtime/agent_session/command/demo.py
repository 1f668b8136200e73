"""The subcommand `demo`: runs an agent and a driver, and prints their conversation.

It needs no API key and no network. The agent runs in a subprocess and connects over TCP. The import
and the log of the SDK therefore do not affect the driver's process.
"""

from __future__ import annotations

import asyncio
import importlib.util
import sys
import tempfile
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import IO, Final

from agent_session_protocol import agent_session_pb2 as pb

from ..errors import TransportError
from ..driver.outcome import Ended
from ..driver.events import ReceivedEvent
from ..driver.errors import SessionError
from ..transport.session import TcpListener, TcpSessionTransport, listen
from .listen import EXIT_OK, EXIT_LOST
from .errors import CommandError
from .report import Report
from .requests import run_input_request
from .reported_session import ReportedSession, is_agent_state

_INPUTS: Final = ("Where is my parcel, number 7?", "Thank you, bye!")

# How long the agent may take to start, and to exit, in seconds.
_START_TIMEOUT: Final = 60.0
_EXIT_TIMEOUT: Final = 5.0

# The agent has the module search path of this process, and not the working directory.
_AGENT_CODE: Final = """
import sys
sys.path[:] = sys.argv[3:]
from agent_session.command.demo_agent import run
run(sys.argv[1], int(sys.argv[2]))
"""


async def show_demo(report: Report) -> int:
    """Runs the demo, and returns the exit status.

    Raises:
        CommandError: livekit-agents is not installed, or the agent does not start or respond.
        OutputClosed: the output cannot be written.
    """
    if not _has_sdk():
        raise CommandError(
            'the demo\'s agent needs livekit-agents: pip install "livekit-agents~=1.8.9"'
        )
    async with await listen() as listener:
        report.note(f"listening on {listener.host}:{listener.port}; the agent is starting")
        async with _agent(listener.host, listener.port) as agent:
            try:
                return await _Conversation(await agent.connection(listener), report).run()
            except asyncio.TimeoutError:
                raise CommandError("the demo's agent does not respond") from None


class _Conversation:
    """The driver of the demo."""

    def __init__(self, transport: TcpSessionTransport, report: Report) -> None:
        self._report = report
        self._session = ReportedSession(transport, report, self._event_reported)
        self._agent_listening = asyncio.Event()

    async def run(self) -> int:
        """Sends all inputs, waits for the end of the session, and returns the exit status."""
        async with self._session:
            ending = asyncio.ensure_future(self._session.wait_reported())
            ending.add_done_callback(lambda _: self._agent_listening.set())
            try:
                for text in _INPUTS:
                    await asyncio.wait_for(self._agent_listening.wait(), _START_TIMEOUT)
                    if not ending.done():
                        await self._send(text)
                outcome = await asyncio.wait_for(ending, _EXIT_TIMEOUT)
            finally:
                ending.cancel()
        self._report.outcome(outcome)
        return EXIT_OK if isinstance(outcome, Ended) else EXIT_LOST

    def _event_reported(self, received: ReceivedEvent) -> None:
        if is_agent_state(received, pb.AS_LISTENING):
            self._agent_listening.set()

    async def _send(self, text: str) -> None:
        self._report.sent(text)
        self._agent_listening.clear()
        try:
            response = await self._session.send(run_input_request(text))
            self._report.answer("run_input", response)
        except (SessionError, TransportError) as error:
            self._report.failed("run_input", str(error))


class _Agent:
    """The subprocess of the agent.

    Args:
        process: the subprocess.
        errors: the file with its error output.
    """

    def __init__(self, process: Process, errors: IO[bytes]) -> None:
        self._process = process
        self._errors = errors

    async def connection(self, listener: TcpListener) -> TcpSessionTransport:
        """Waits until the agent has connected, and returns the transport to it."""
        accepting = asyncio.ensure_future(listener.accept())
        ending = asyncio.ensure_future(self._process.wait())
        try:
            await asyncio.wait(
                [accepting, ending], timeout=_START_TIMEOUT, return_when=asyncio.FIRST_COMPLETED
            )
            if accepting.done():
                return accepting.result()
        finally:
            accepting.cancel()
            ending.cancel()
            await asyncio.wait([accepting, ending])
        raise CommandError(f"the demo's agent does not start: {self._last_error()}")

    def _last_error(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "no error output"


@asynccontextmanager
async def _agent(host: str, port: int) -> AsyncIterator[_Agent]:
    """Runs the subprocess of the agent, and ends it on exit."""
    with tempfile.TemporaryFile() as errors:
        command = (sys.executable, "-c", _AGENT_CODE, host, str(port), *sys.path)
        process = await asyncio.create_subprocess_exec(
            *command, stdin=DEVNULL, stdout=DEVNULL, stderr=errors
        )
        try:
            yield _Agent(process, errors)
            await asyncio.wait_for(process.wait(), _EXIT_TIMEOUT)
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


def _has_sdk() -> bool:
    try:
        return importlib.util.find_spec("livekit.agents") is not None
    except ModuleNotFoundError:  # the package livekit is not installed either
        return False
