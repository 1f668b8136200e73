"""The command line of `agent-session`: verbs and options.

The exit status is 0 on success, 1 if the session was lost, 2 for a fault in usage, the address or
the output, and 130 for an interrupted demo. Arguments are parsed with argparse, so that the
package depends on protobuf only.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from .. import __version__
from .address import DEFAULT_HOST, DEFAULT_PORT, Address, parse_address
from .demo import show_demo
from .listen import FINE, watch
from .errors import Refusal
from .report import JsonReport, PeopleReport, Report, ReportHandler
from .screen import OutputLost, Screen, wants_colour

_FAULT: Final = 2
_INTERRUPTED: Final = 130

_PIPES: Final = (
    "Lines can come from a pipe or a file too. Each waits for an agent, and for the answer to the "
    "one before. Behind the last one it goes on to show events; the line /quit ends it."
)


def main(arguments: Sequence[str]) -> int:
    """Run the command; return its exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.verb is None:
        parser.print_help()
        return _FAULT
    if sys.stdout is None:
        return _fault("there is no output to write to")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # An agent may say what the terminal's encoding has not.
            stream.reconfigure(errors="backslashreplace")
    try:
        status: int = options.verb(options)
    except Refusal as refusal:
        return _fault(str(refusal))
    except OutputLost as error:
        _let_go_of_output()
        return _fault(f"cannot write the output: {error}")
    return status


def _listen(options: argparse.Namespace) -> int:
    screen = _screen(options, colour=not options.json)
    report = JsonReport(screen) if options.json else PeopleReport(screen)
    prompt = not options.json and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    coroutine = watch(
        options.address,
        report,
        screen,
        allow_remote=options.allow_remote,
        once=options.once,
        prompt=prompt,
    )
    with _log_in(report):
        try:
            return asyncio.run(coroutine)
        except KeyboardInterrupt:  # before or after it is what an interrupt ends
            return FINE


def _demo(options: argparse.Namespace) -> int:
    report = PeopleReport(_screen(options, colour=True))
    with _log_in(report):
        try:
            return asyncio.run(show_demo(report))
        except KeyboardInterrupt:
            return _INTERRUPTED


def _screen(options: argparse.Namespace, *, colour: bool) -> Screen:
    wanted = wants_colour(getattr(options, "color", None), sys.stdout)
    return Screen(sys.stdout, colour and wanted)


@contextmanager
def _log_in(report: Report) -> Iterator[None]:
    """Have the log in the report."""
    handler = ReportHandler(report)
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    common.add_argument(
        "--color",
        action=argparse.BooleanOptionalAction,
        help="colour; by default on a terminal, unless NO_COLOR is set",
    )
    parser = argparse.ArgumentParser(
        prog="agent-session",
        description="Watch and drive the session of a voice agent.",
        parents=[common],
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    parser.set_defaults(verb=None)
    verbs = parser.add_subparsers(title="verbs")
    demo = verbs.add_parser(
        "demo",
        parents=[common],
        help="run an agent and a driver, and show what they say to each other",
        description="Run an agent of livekit-agents with a scripted model, without a key or a "
        "network, and a driver, and show what they say to each other.",
    )
    demo.set_defaults(verb=_demo)
    listen = verbs.add_parser(
        "listen",
        parents=[common],
        help="wait for an agent, show what happens, and talk to it",
        description="Wait for an agent to connect, show its events as they come, and say to it "
        "what is typed. /help lists what else can be typed; Ctrl-C and Ctrl-D end.",
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
        help=f"where to listen, by default {DEFAULT_HOST}:{DEFAULT_PORT}; port 0 is any free one",
    )
    parser.add_argument(
        "--allow-remote",
        action="store_true",
        help="listen on an address that other machines can reach; whoever does is an agent",
    )
    parser.add_argument("--once", action="store_true", help="end when the first agent has")
    parser.add_argument("--json", action="store_true", help="show a JSON object a line")
    parser.set_defaults(verb=_listen)


def _address(text: str) -> Address:
    try:
        return parse_address(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _fault(text: str) -> int:
    print(f"agent-session: {text}", file=sys.stderr)
    return _FAULT


def _let_go_of_output() -> None:
    """Keep Python from trying once more at its end, and telling that it failed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
