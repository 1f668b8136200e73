"""The verb `demo`: runs an agent and a driver and prints their conversation.

It needs no key and no network. The agent runs in a process of its own, as agents do, so that the
messages cross a socket and the start and the log of the SDK stay out of the driver's process.
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
from .listen import FINE, LOST
from .errors import Refusal
from .report import Report
from .requests import say
from .watched_session import ShownSession, tells_state

_WORDS: Final = ("Where is my parcel, number 7?", "Thank you, bye!")

# How long the agent may take to start, and to leave, in seconds.
_START: Final = 60.0
_LEAVE: Final = 5.0

# The agent finds the modules that this process would find, and none that lie about in the folder
# where the demo is tried.
_AGENT: Final = """
import sys
sys.path[:] = sys.argv[3:]
from agent_session.command.demo_agent import run
run(sys.argv[1], int(sys.argv[2]))
"""


async def show_demo(report: Report) -> int:
    """Show it; return the exit status.

    Raises:
        Refusal: there is no livekit-agents, or the agent does not do its part.
        OutputLost: there is nobody to show it to.
    """
    if not _has_sdk():
        raise Refusal('the demo\'s agent needs livekit-agents: pip install "livekit-agents~=1.8.9"')
    async with await listen() as listener:
        report.note(f"a driver listens on {listener.host}:{listener.port}; its agent is starting")
        async with _agent(listener.host, listener.port) as agent:
            try:
                return await _Conversation(await agent.connection(listener), report).lead()
            except asyncio.TimeoutError:
                raise Refusal("the demo's agent does not go on") from None


class _Conversation:
    """The driver's part of the demo."""

    def __init__(self, transport: TcpSessionTransport, report: Report) -> None:
        self._report = report
        self._session = ShownSession(transport, report, self._after)
        self._turn = asyncio.Event()  # the driver's

    async def lead(self) -> int:
        """Say what there is to say, see it to its end, and return the exit status."""
        async with self._session:
            ending = asyncio.ensure_future(self._session.shown())
            ending.add_done_callback(lambda _: self._turn.set())
            try:
                for words in _WORDS:
                    await asyncio.wait_for(self._turn.wait(), _START)
                    if not ending.done():
                        await self._say(words)
                outcome = await asyncio.wait_for(ending, _LEAVE)
            finally:
                ending.cancel()
        self._report.outcome(outcome)
        return FINE if isinstance(outcome, Ended) else LOST

    def _after(self, received: ReceivedEvent) -> None:
        if tells_state(received, pb.AS_LISTENING):
            self._turn.set()

    async def _say(self, words: str) -> None:
        self._report.typed(words)
        self._turn.clear()
        try:
            self._report.answer("run_input", await self._session.send(say(words)))
        except (SessionError, TransportError) as error:
            self._report.failed("run_input", str(error))


class _Agent:
    """The process of the agent.

    Args:
        process: it.
        errors: the file that has what it says when it fails.
    """

    def __init__(self, process: Process, errors: IO[bytes]) -> None:
        self._process = process
        self._errors = errors

    async def connection(self, listener: TcpListener) -> TcpSessionTransport:
        """Wait until it has connected."""
        accepting = asyncio.ensure_future(listener.accept())
        ending = asyncio.ensure_future(self._process.wait())
        try:
            await asyncio.wait(
                [accepting, ending], timeout=_START, return_when=asyncio.FIRST_COMPLETED
            )
            if accepting.done():
                return accepting.result()
        finally:
            accepting.cancel()
            ending.cancel()
            await asyncio.wait([accepting, ending])
        raise Refusal(f"the demo's agent does not start: {self._last_words()}")

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it says nothing"


@asynccontextmanager
async def _agent(host: str, port: int) -> AsyncIterator[_Agent]:
    """Run the agent's process; afterwards it is gone."""
    with tempfile.TemporaryFile() as errors:
        command = (sys.executable, "-c", _AGENT, host, str(port), *sys.path)
        process = await asyncio.create_subprocess_exec(
            *command, stdin=DEVNULL, stdout=DEVNULL, stderr=errors
        )
        try:
            yield _Agent(process, errors)
            await asyncio.wait_for(process.wait(), _LEAVE)
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


def _has_sdk() -> bool:
    try:
        return importlib.util.find_spec("livekit.agents") is not None
    except ModuleNotFoundError:  # not even livekit
        return False
