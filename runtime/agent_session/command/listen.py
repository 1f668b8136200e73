"""The verb `listen`: waits for agents, prints their events and sends what is typed.

Agents are served one after the other. Each line of standard input is sent as a request.
"""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
from collections.abc import Coroutine
from typing import Any, Final

from agent_session_protocol import agent_session_pb2 as pb

from ..errors import RemoteAddressRefused, TransportClosed, TransportError
from ..driver.outcome import Lost, Outcome
from ..driver.events import ReceivedEvent
from ..driver.errors import SessionError
from ..transport.session import TcpListener, TcpSessionTransport, listen
from .address import Address
from .input_lines import Lines, standard_input
from .errors import Refusal
from .report import Report
from .requests import NoSuchRequest, read_request, request_help
from .screen import OutputLost, Screen
from .watched_session import ShownSession, tells_state

FINE: Final = 0
LOST: Final = 1

# How long answers are waited for that a host still owes when its session ends, and how long a
# line that a program wrote waits for its agent to begin. In seconds.
_LATE_ANSWERS: Final = 3.0
_BEGINNING: Final = 10.0

_UNBOUND: Final = {
    errno.EADDRINUSE: "it is in use; give another port, or 0 for any",
    errno.EADDRNOTAVAIL: "this machine does not have that address",
}

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
        why = _why_unbound(error)
    raise Refusal(f"cannot listen on {address}: {why}")


def _why_unbound(error: OSError) -> str:
    """Why an address cannot be listened on; asyncio's own text repeats the address."""
    number = error.errno
    if number is None or isinstance(error, socket.gaierror):
        return str(error.strerror or error)
    return _UNBOUND.get(number) or os.strerror(number)


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
            self._session = session
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
            word = line.strip().partition(" ")[0]
            if word == "/quit":
                self._report.typed(line)
                return FINE
            if word == "/help":
                self._report.typed(line)
                self._report.help([*request_help(), *_HELP])
            elif word:
                await self._do(line, lines.waits)
        if not lines.end_is_quit:
            await asyncio.Event().wait()  # nothing else is asked, and the agent goes on
        return FINE

    async def _do(self, line: str, waits: bool) -> None:
        """Send the request that a line is; `waits` for an agent, and for what comes of it."""
        try:
            name, request = read_request(line)
        except NoSuchRequest as error:
            self._report.typed(line)
            self._report.failed(line.split()[0], str(error))
            return
        if waits:
            await self._agent()
        self._report.typed(line)
        asking = asyncio.ensure_future(self._ask(name, request))
        self._asked.add(asking)
        asking.add_done_callback(self._asked.discard)
        if waits:
            await asking

    async def _agent(self) -> None:
        """Wait for an agent that has begun, and has not ended."""
        while True:
            await self._begun.wait()
            if self._session is not None and self._session.outcome is None:
                return
            self._begun.clear()

    async def _ask(self, name: str, request: pb.SessionRequest) -> None:
        """Send a request, and report what comes of it."""
        try:
            await self._tell(name, request)
        except OutputLost:
            pass  # whoever shows the next event is told

    async def _tell(self, name: str, request: pb.SessionRequest) -> None:
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
    except NotImplementedError:  # on Windows Ctrl-C is an exception
        await interrupted.wait()
    try:
        await interrupted.wait()
    finally:
        for each in _SIGNALS:
            loop.remove_signal_handler(each)
    return FINE
