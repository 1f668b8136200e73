"""`listen`: wait for an agent, show what it does, and let somebody talk to it.

Comes in: agents that connect, one after the other, and lines of standard input. Goes out: a report
of all that happens; to the agent, the lines as requests.
"""

from __future__ import annotations

import asyncio
import errno
import signal
from collections.abc import Coroutine
from typing import Any, Final

from agent_session_protocol import agent_session_pb2 as pb

from ..errors import RemoteAddressRefused, TransportClosed, TransportError
from ..outcome import Lost, Outcome
from ..remote_events import ReceivedEvent
from ..session_errors import SessionError
from ..tcp import TcpListener, TcpSessionTransport, listen
from .address import Address
from .lines import Lines, standard_input
from .refusal import Refusal
from .report import Report
from .requests import NoSuchRequest, find_request, make_request, request_help, say
from .screen import OutputLost, Screen
from .shown import ShownSession, tells_state

FINE: Final = 0
LOST: Final = 1

# How long answers are waited for that a host still owes when its session ends, and how long a
# line that a program wrote waits for its agent to begin. In seconds.
_LATE_ANSWERS: Final = 3.0
_BEGINNING: Final = 10.0

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_HELP: Final = (
    ("/help", "This"),
    ("/quit", "End, as Ctrl-C and Ctrl-D do"),
    ("", "Any part of a name will do that no other has; all else is said to the agent"),
)


async def watch(
    address: Address,
    report: Report,
    screen: Screen,
    *,
    allow_remote: bool,
    once: bool,
    prompt: bool,
) -> int:
    """Listen, until it is enough; return the exit status.

    Args:
        address: where to listen.
        report: what is told of it.
        screen: where a prompt is shown.
        allow_remote: whether the address may be one that other machines reach.
        once: whether one agent is enough.
        prompt: whether there may be a prompt.

    Raises:
        Refusal: the address cannot be listened on, or may not.
        OutputLost: there is nobody to report to.
    """
    async with await _listener(address, allow_remote) as listener:
        with standard_input(screen, prompt) as lines:
            bound = Address(listener.host, listener.port)
            report.listening(str(bound), asks=not lines.waits)
            watcher = Watcher(report)
            return await _first(
                watcher.serve(listener, once), watcher.read(lines), _until_interrupted()
            )


async def _listener(address: Address, allow_remote: bool) -> TcpListener:
    try:
        return await listen(address.host, address.port, allow_remote=allow_remote)
    except RemoteAddressRefused as error:
        raise Refusal(
            f"{error.address} can be reached from other machines, and a session has no "
            "authentication: say --allow-remote if that is meant"
        ) from None
    except UnicodeError:
        why = "no such name can be"
    except OSError as error:
        in_use = error.errno == errno.EADDRINUSE
        why = "it is in use; give another port, or 0 for any" if in_use else str(error.strerror)
    raise Refusal(f"cannot listen on {address}: {why}")


class Watcher:
    """A driver for whoever sits there: one agent at a time, and lines for it."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._session: ShownSession | None = None
        self._begun = asyncio.Event()
        self._asked: set[asyncio.Task[None]] = set()

    # Agents.

    async def serve(self, listener: TcpListener, once: bool) -> int:
        """Watch agents as they come; return after the first one, if that is enough."""
        while True:
            outcome = await self._attend(await listener.accept())
            if once:
                return LOST if isinstance(outcome, Lost) else FINE
            self._report.note("waiting for the next agent")

    async def _attend(self, transport: TcpSessionTransport) -> Outcome:
        """Watch one agent, to its end."""
        self._report.connected()
        session = ShownSession(transport, self._report, self._after)
        begin = asyncio.get_running_loop().call_later(_BEGINNING, self._begun.set)
        try:
            outcome = await self._follow(session)
        except asyncio.CancelledError:
            for task in self._asked:
                task.cancel()
            raise
        finally:
            begin.cancel()
            self._begun.clear()
            self._session = None
            await session.close()
            if self._asked:
                await asyncio.wait(self._asked)  # they know that it is over
        self._report.outcome(outcome)
        return outcome

    async def _follow(self, session: ShownSession) -> Outcome:
        """Show a session until it has ended, and what it still answers then."""
        try:
            await session.start()
        except TransportClosed:
            pass  # it came and went: its outcome is known
        self._session = session
        outcome = await session.shown()
        if self._asked:
            await asyncio.wait(self._asked, timeout=_LATE_ANSWERS)
        return outcome

    def _after(self, received: ReceivedEvent) -> None:
        begins = tells_state(received, pb.AS_INITIALIZING)
        if received.arm == "agent_state_changed" and not begins:
            self._begun.set()

    # Lines.

    async def read(self, lines: Lines) -> int:
        """Do what lines say, until there are no more and that means to quit."""
        while (line := await lines.next()) is not None:
            if lines.waits:
                await self._begun.wait()
            if line.strip():
                self._report.typed(line)
            if line.strip() == "/quit":
                return FINE
            if line.strip():
                asking = self._begin(line)
                if lines.waits:
                    await asking
        if not lines.end_is_quit:
            await asyncio.Event().wait()  # nothing else is asked, and the agent goes on
        return FINE

    def _begin(self, line: str) -> asyncio.Task[None]:
        task = asyncio.ensure_future(self._do(line))
        self._asked.add(task)
        task.add_done_callback(self._asked.discard)
        return task

    async def _do(self, line: str) -> None:
        """Do what a line says, and report what comes of it."""
        word, _, rest = line.strip().partition(" ")
        try:
            if word == "/help":
                self._report.help([*request_help(), *_HELP])
            elif word.startswith("/"):
                name = find_request(word[1:])
                await self._ask(name, make_request(name, rest))
            else:
                await self._ask("run_input", say(line))
        except NoSuchRequest as error:
            self._report.failed(word, str(error))
        except OutputLost:
            pass  # whoever shows the next event is told

    async def _ask(self, name: str, request: pb.SessionRequest) -> None:
        if self._session is None:
            self._report.failed(name, "no agent is connected")
            return
        try:
            response = await self._session.send(request)
        except (SessionError, TransportError) as error:
            self._report.failed(name, str(error))
        else:
            self._report.answer(name, response)


async def _first(*coroutines: Coroutine[Any, Any, int]) -> int:
    """Run all, until one is done; return what it returns."""
    tasks = [asyncio.ensure_future(each) for each in coroutines]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    return next(task for task in tasks if task in done).result()


async def _until_interrupted() -> int:
    """Wait for Ctrl-C, or whatever else asks a program to end."""
    loop = asyncio.get_running_loop()
    interrupted = asyncio.Event()
    try:
        for each in _SIGNALS:
            loop.add_signal_handler(each, interrupted.set)
    except NotImplementedError:
        pass  # on Windows Ctrl-C is an exception
    try:
        await interrupted.wait()
    finally:
        for each in _SIGNALS:
            loop.remove_signal_handler(each)
    return FINE
