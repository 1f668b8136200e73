"""Runs a command, prints its result and exits with its status."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import click

from sessiongen.cli.input_errors import unusable_input
from sessiongen.cli.options import Options
from sessiongen.config.model import Config
from sessiongen.config.reader import load
from sessiongen.diagnostics import Diagnostic, InputError, Span, show
from sessiongen.paths import display
from sessiongen.result import INPUT_ERROR, Result


def load_config(options: Options, descriptor_set: Path | None) -> Config:
    """Returns the configuration that the options name, with another input if one is given."""
    config = load(options.existing_config)
    return config.with_descriptor_set(descriptor_set) if descriptor_set else config


def run(options: Options, command: Callable[[], Result], document: bool = False) -> None:
    """Runs a command, prints its result and exits with its status.

    document: the detail is the main result and is printed in every format.
    """
    try:
        result = command()
    except InputError as error:
        result = Result(INPUT_ERROR, diagnostics=error.diagnostics)
    except (OSError, RecursionError, UnicodeEncodeError) as error:
        result = Result(INPUT_ERROR, diagnostics=[unusable_input(options.config, error)])
    except Exception as error:
        from sessiongen.internal_errors import unexpected

        result = Result(INPUT_ERROR, diagnostics=[unexpected(error, Span(display(options.config)))])
    except KeyboardInterrupt:
        # CPython remembers an interrupt inside of `exec`, such as that of a dataclass, until the
        # next `eval`, and would end the process by the signal instead of the status.
        eval("None")
        click.echo("interrupted", err=True)
        # The status that shells use for interrupted commands.
        sys.exit(128 + signal.SIGINT)
    if not options.quiet and options.format == "text":
        for line in result.lines:
            click.echo(line)
    if document:
        click.echo(result.detail, nl=False)
    elif options.format == "text" and not options.quiet:
        click.echo(_coloured_diff(result.detail), nl=False)
    # In JSON the detail contains the diagnostics.
    _report(options, result.diagnostics, silent=document and bool(result.detail))
    sys.exit(result.status)


def _report(options: Options, diagnostics: Iterable[Diagnostic], silent: bool) -> None:
    text = show(diagnostics, options.format)
    if text and not (silent and options.format == "json"):
        click.echo(_coloured(text), err=options.format == "text")


def _coloured(text: str) -> str:
    return (
        text.replace(": error[", f": {click.style('error', fg='red', bold=True)}[")
        .replace(": warning[", f": {click.style('warning', fg='yellow', bold=True)}[")
        .replace("\n  help: ", f"\n  {click.style('help:', fg='cyan')} ")
    )


def _coloured_diff(text: str) -> str:
    colours = {"+": "green", "-": "red", "@": "cyan"}
    return "".join(
        click.style(line, fg=colours[line[0]]) if line[:1] in colours else line
        for line in text.splitlines(keepends=True)
    )
