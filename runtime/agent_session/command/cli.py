"""The command line of `agent-session`: subcommands and options.

The exit status is 0 on success, 1 if the session was lost, 2 for an error in the arguments, the
address or the output, 130 for an interrupted demo, and 141 if the reader of the output has exited.
Arguments are parsed with argparse, so that
the package depends on protobuf only.
"""

from __future__ import annotations

import argparse
import io
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from .. import __version__, main_task
from .address import DEFAULT_HOST, DEFAULT_PORT, Address, parse_address
from .demo import show_demo
from .listen import EXIT_OK, run_listen
from .errors import CommandError
from .report import JsonReport, TextReport, Report, ReportHandler
from .screen import OutputClosed, Screen, wants_colour

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

_EXIT_ERROR: Final = 2
_EXIT_INTERRUPTED: Final = 130
# What shells report for a command that SIGPIPE has ended.
_EXIT_CLOSED_PIPE: Final = 141

_PIPES: Final = (
    "Lines can also come from a pipe or a file. Each line waits for an agent, and for the response "
    "to the previous line. After the last line the command continues to show events; the line "
    "/quit ends it."
)


class _Parser(argparse.ArgumentParser):
    """A parser that reports a help or version text that cannot be written."""

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        # The method of the base class ignores errors.
        try:
            (file or sys.stderr).write(message)
            sys.stdout.flush()
        except OSError as error:
            raise OutputClosed(error.strerror) from error


def main(arguments: Sequence[str]) -> int:
    """Runs the command, and returns its exit status."""
    try:
        return _run(arguments)
    except CommandError as error:
        return _print_error(str(error))
    except OutputClosed as error:
        _discard_output()
        if isinstance(error.__cause__, BrokenPipeError):
            return _EXIT_CLOSED_PIPE
        return _print_error(f"cannot write the output: {error}")


def _run(arguments: Sequence[str]) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.run_command is None:
        parser.print_help()
        return _EXIT_ERROR
    if sys.stdout is None:
        return _print_error("there is no output to write to")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # The encoding of the terminal may lack characters that an agent sends.
            stream.reconfigure(errors="backslashreplace")
    status: int = options.run_command(options)
    return status


def _listen(options: argparse.Namespace) -> int:
    screen = _screen(options, colour=not options.json)
    report = JsonReport(screen) if options.json else TextReport(screen)
    prompt = not options.json and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    coroutine = run_listen(
        options.address,
        report,
        screen,
        allow_remote=options.allow_remote,
        once=options.once,
        prompt=prompt,
    )
    with _report_log(report):
        try:
            return main_task.run(coroutine)
        except KeyboardInterrupt:  # while the signal handlers are not installed
            return EXIT_OK


def _demo(options: argparse.Namespace) -> int:
    report = TextReport(_screen(options, colour=True))
    with _report_log(report):
        try:
            return main_task.run(show_demo(report))
        except KeyboardInterrupt:
            return _EXIT_INTERRUPTED


def _screen(options: argparse.Namespace, *, colour: bool) -> Screen:
    use_colour = wants_colour(getattr(options, "color", None), sys.stdout)
    return Screen(sys.stdout, colour and use_colour)


@contextmanager
def _report_log(report: Report) -> Iterator[None]:
    """Adds warnings of the log to the report."""
    handler = ReportHandler(report)
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)


def _parser() -> _Parser:
    common = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    common.add_argument(
        "--color",
        action=argparse.BooleanOptionalAction,
        help="use colours; by default on a terminal, unless NO_COLOR is set",
    )
    parser = _Parser(
        prog="agent-session",
        description="Show the events of a voice agent's session, and send requests to it.",
        parents=[common],
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    parser.set_defaults(run_command=None)
    commands = parser.add_subparsers(title="commands")
    demo = commands.add_parser(
        "demo",
        parents=[common],
        help="run an agent and a driver, and show their conversation",
        description="Run a driver and an agent of livekit-agents, and show their conversation. The "
        "agent has a scripted model, so it needs no API key and no network.",
    )
    demo.set_defaults(run_command=_demo)
    listen = commands.add_parser(
        "listen",
        parents=[common],
        help="wait for an agent, show its events, and send it requests",
        description="Wait for an agent to connect, show its events, and send it the lines that are "
        "typed. /help lists the requests that can be typed; Ctrl-C and Ctrl-D end the command.",
        epilog=_PIPES,
    )
    _add_listen_options(listen)
    return parser


def _add_listen_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "address",
        nargs="?",
        type=_address,
        default=Address(),
        metavar="HOST:PORT",
        help=f"the address to listen on, by default {DEFAULT_HOST}:{DEFAULT_PORT}; "
        "port 0 selects a free port",
    )
    parser.add_argument(
        "--allow-remote",
        action="store_true",
        help="allow an address that other machines can reach; any of them can connect as an agent",
    )
    parser.add_argument("--once", action="store_true", help="end after the first agent")
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    parser.set_defaults(run_command=_listen)


def _address(text: str) -> Address:
    try:
        return parse_address(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _print_error(text: str) -> int:
    print(f"agent-session: {text}", file=sys.stderr)
    return _EXIT_ERROR


def _discard_output() -> None:
    """Replaces the output, so that Python does not fail to flush it when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
