"""The subcommand `listen`: waits for agents, prints their events and sends the lines of the input.

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
from .errors import CommandError
from .report import Report
from .requests import InvalidRequest, parse_request, request_help
from .screen import OutputClosed, Screen
from .reported_session import ReportedSession, is_agent_state

EXIT_OK: Final = 0
EXIT_LOST: Final = 1

# How long to wait for pending responses when a session has ended, in seconds.
_RESPONSE_TIMEOUT: Final = 3.0

# How long a line from a pipe waits for the agent to report that it has started, in seconds.
_START_TIMEOUT: Final = 10.0

_BIND_ERRORS: Final = {
    errno.EADDRINUSE: "the address is in use; use another port, or 0 for any free port",
    errno.EADDRNOTAVAIL: "this machine does not have that address",
}

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_HELP: Final = (
    ("/help", "Show this help"),
    ("/quit", "Quit, as Ctrl-C and Ctrl-D do"),
    ("", "A unique part of a name is enough; all other lines are sent as run_input"),
)


async def run_listen(
    address: Address,
    report: Report,
    screen: Screen,
    *,
    allow_remote: bool,
    once: bool,
    prompt: bool,
) -> int:
    """Serves agents until the user quits, and returns the exit status.

    Args:
        address: the address to listen on.
        report: prints the events and responses.
        screen: shows the prompt.
        allow_remote: whether the address may be reachable from other machines.
        once: whether to end after the first agent.
        prompt: whether to show a prompt if standard input is a terminal.

    Raises:
        CommandError: the address cannot be bound, or is not allowed.
        OutputClosed: the output cannot be written.
    """
    async with await _listener(address, allow_remote) as listener:
        with standard_input(screen, prompt) as lines:
            bound = Address(listener.host, listener.port)
            report.listening(str(bound), interactive=not lines.sequential)
            watcher = Watcher(report)
            return await _run_until_first(
                watcher.serve(listener, once), watcher.read(lines), _until_interrupted()
            )


async def _listener(address: Address, allow_remote: bool) -> TcpListener:
    try:
        return await listen(address.host, address.port, allow_remote=allow_remote)
    except RemoteAddressRefused as error:
        raise CommandError(
            f"{error.address} can be reached from other machines, and a session has no "
            "authentication; pass --allow-remote to listen there"
        ) from None
    except UnicodeError:
        reason = "invalid host name"
    except OSError as error:
        reason = _bind_error(error)
    raise CommandError(f"cannot listen on {address}: {reason}")


def _bind_error(error: OSError) -> str:
    """Returns why an address cannot be bound, without the address, which asyncio's text repeats."""
    if isinstance(error, socket.gaierror):
        return str(error.strerror or error)
    # Since Python 3.13, asyncio skips addresses that the machine does not have, and raises an
    # error without a number if none is left.
    number = error.errno or errno.EADDRNOTAVAIL
    return _BIND_ERRORS.get(number) or os.strerror(number)


class Watcher:
    """Serves one agent at a time, and sends it the lines of the input."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._session: ReportedSession | None = None
        self._agent_started = asyncio.Event()
        self._requests: set[asyncio.Task[None]] = set()

    # Agents.

    async def serve(self, listener: TcpListener, once: bool) -> int:
        """Serves agents as they connect. With `once`, returns after the first one."""
        while True:
            outcome = await self._serve_agent(await listener.accept())
            if once:
                return EXIT_LOST if isinstance(outcome, Lost) else EXIT_OK
            self._report.note("waiting for the next agent")

    async def _serve_agent(self, transport: TcpSessionTransport) -> Outcome:
        """Serves one agent until its session has ended."""
        self._report.connected()
        session = ReportedSession(transport, self._report, self._event_reported)
        start_timer = asyncio.get_running_loop().call_later(_START_TIMEOUT, self._agent_started.set)
        try:
            self._session = session
            outcome = await self._follow(session)
        except asyncio.CancelledError:
            for task in self._requests:
                task.cancel()
            raise
        finally:
            start_timer.cancel()
            self._agent_started.clear()
            self._session = None
            await session.close()
            if self._requests:
                await asyncio.wait(self._requests)  # the close has failed them
        self._report.outcome(outcome)
        return outcome

    async def _follow(self, session: ReportedSession) -> Outcome:
        """Reports a session until it has ended, and the responses that arrive after the end."""
        try:
            await session.start()
        except TransportClosed:
            pass  # the agent has disconnected already, so the outcome is known
        outcome = await session.wait_reported()
        if self._requests:
            await asyncio.wait(self._requests, timeout=_RESPONSE_TIMEOUT)
        return outcome

    def _event_reported(self, received: ReceivedEvent) -> None:
        initializing = is_agent_state(received, pb.AS_INITIALIZING)
        if received.arm == "agent_state_changed" and not initializing:
            self._agent_started.set()

    # Lines.

    async def read(self, lines: Lines) -> int:
        """Handles lines until `/quit`, or until the last line if the source quits at its end."""
        number = 0
        while (line := await lines.next()) is not None:
            number += 1
            command = line.strip().partition(" ")[0]
            if command in ("/quit", "/help"):
                self._report.sent(line, number)
            if command == "/quit":
                return EXIT_OK
            if command == "/help":
                self._report.help([*request_help(), *_HELP])
            elif command:
                await self._handle(number, line, lines.sequential)
        if not lines.quits_at_end:
            await asyncio.Event().wait()  # continues to report events
        return EXIT_OK

    async def _handle(self, number: int, line: str, sequential: bool) -> None:
        """Sends the request in a line. Waits for an agent and the response if `sequential`."""
        try:
            name, request = parse_request(line)
        except InvalidRequest as error:
            self._report.sent(line, number)
            self._report.failed(line.split()[0], str(error), number)
            return
        if sequential:
            await self._wait_for_agent()
        self._report.sent(line, number)
        task = asyncio.ensure_future(self._send(number, name, request))
        self._requests.add(task)
        task.add_done_callback(self._requests.discard)
        if sequential:
            await task

    async def _wait_for_agent(self) -> None:
        """Waits for an agent that has started and not ended."""
        while True:
            await self._agent_started.wait()
            if self._session is not None and self._session.outcome is None:
                return
            self._agent_started.clear()

    async def _send(self, number: int, name: str, request: pb.SessionRequest) -> None:
        """Sends a request, and reports the response or the error."""
        try:
            await self._send_and_report(number, name, request)
        except OutputClosed:
            pass  # the next event that is reported raises it as well

    async def _send_and_report(self, number: int, name: str, request: pb.SessionRequest) -> None:
        if self._session is None:
            self._report.failed(name, "no agent is connected", number)
            return
        try:
            response = await self._session.send(request)
        except (SessionError, TransportError) as error:
            self._report.failed(name, str(error), number)
        else:
            self._report.answer(name, response, number)


async def _run_until_first(*coroutines: Coroutine[Any, Any, int]) -> int:
    """Runs coroutines until one returns, cancels the others, and returns its result."""
    tasks = [asyncio.ensure_future(each) for each in coroutines]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    return next(task for task in tasks if task in done).result()


async def _until_interrupted() -> int:
    """Waits for Ctrl-C or another signal that ends the process."""
    loop = asyncio.get_running_loop()
    interrupted = asyncio.Event()
    try:
        for each in _SIGNALS:
            loop.add_signal_handler(each, interrupted.set)
    except NotImplementedError:  # on Windows, where Ctrl-C raises KeyboardInterrupt
        await interrupted.wait()
    try:
        await interrupted.wait()
    finally:
        for each in _SIGNALS:
            loop.remove_signal_handler(each)
    return EXIT_OK
