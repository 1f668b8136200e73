"""The options that every command has, and the form in which usage errors are shown.

Options may be given before or after the command; the last one wins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import IO, Any, Concatenate, ParamSpec, TypeVar

import click
from click.core import ParameterSource

from sessiongen.diagnostics import Diagnostic, Rule, Span, show

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])

CONFIG = Path("codegen.toml")


@dataclass(frozen=True)
class Options:
    """The global options."""

    config: Path = CONFIG
    format: str = "text"
    color: bool | None = None
    quiet: bool = False

    @property
    def existing_config(self) -> Path:
        """The configuration to read: the named one, or else the nearest in this folder or above."""
        from sessiongen.config.reader import find

        return find(CONFIG) if self.config is CONFIG else self.config


def current(context: click.Context) -> Options:
    """Returns the options that have been parsed so far."""
    options: Options = context.meta.get(__name__, Options())
    return options


def _store(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    name = parameter.name or ""
    if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
        # The contexts of subcommands share `meta` with that of the group.
        context.meta[__name__] = _changed(current(context), name, value)


def _changed(options: Options, name: str, value: Any) -> Options:
    return Options(**{**vars(options), name: value})


_CONFIG = click.option(
    "--config",
    type=click.Path(path_type=Path),
    default=CONFIG,
    show_default=True,
    expose_value=False,
    callback=_store,
    help="The configuration, searched in this folder and those above it.",
)
_FORMAT = click.option(
    "--format",
    type=click.Choice(["text", "github", "json"]),
    default="text",
    show_default=True,
    expose_value=False,
    callback=_store,
    help="The form of diagnostics.",
)
_COLOR = click.option(
    "--color/--no-color",
    default=None,
    expose_value=False,
    callback=_store,
    help="Colour; by default on a terminal.",
)
_QUIET = click.option(
    "-q",
    "--quiet",
    is_flag=True,
    expose_value=False,
    callback=_store,
    help="Show diagnostics only.",
)


def without_format(command: F) -> F:
    """Adds the global options to a command, except --format."""
    return _CONFIG(_COLOR(_QUIET(command)))


def shared(command: F) -> F:
    """Adds the global options to a command."""
    return _CONFIG(_FORMAT(_COLOR(_QUIET(command))))


def pass_options(command: Callable[Concatenate[Options, P], R]) -> Callable[P, R]:
    """Passes the global options to a command as its first argument."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        context = click.get_current_context()
        options = current(context)
        if options.color is not None:
            context.color = options.color
        return command(options, *args, **kwargs)

    return run


class Command(click.Group):
    """A command group whose usage errors are printed like other diagnostics."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Parses the options before the subcommand."""
        form = _form(args)
        with _usage_errors(form), _closed_pipe_status():
            context = super().make_context(info_name, args, parent, **extra)
        context.meta[_REQUESTED_FORMAT] = form
        return context

    def invoke(self, ctx: click.Context) -> Any:
        """Parses the rest of the arguments and runs the subcommand."""
        with _usage_errors(ctx.meta[_REQUESTED_FORMAT]), _closed_pipe_status():
            return super().invoke(ctx)


_REQUESTED_FORMAT = f"{__name__}.format"


def _form(arguments: list[str]) -> str:
    """Returns the requested format, even if the rest of the command line is invalid."""
    form = "text"
    for before, item in zip(["", *arguments], arguments, strict=False):
        if before == "--format":
            form = item
        elif item.startswith("--format="):
            form = item.partition("=")[2]
    return form


# The status that shells report for a command that SIGPIPE has ended.
CLOSED_PIPE = 141


@contextmanager
def _closed_pipe_status() -> Iterator[None]:
    """Exits without a message if the reader of the output, such as `head`, has exited."""
    try:
        yield
    except BrokenPipeError:
        raise SystemExit(CLOSED_PIPE) from None


@contextmanager
def _usage_errors(form: str) -> Iterator[None]:
    try:
        yield
    except click.UsageError as error:
        if form not in ("json", "github"):
            raise
        raise _UsageDiagnostic(error, form) from None


class _UsageDiagnostic(click.ClickException):
    """A usage error that is shown as a diagnostic."""

    exit_code = 2

    def __init__(self, error: click.UsageError, form: str) -> None:
        super().__init__(" ".join(error.format_message().split()))
        self._command = error.ctx.command_path if error.ctx else "sessiongen"
        self._form = form

    def show(self, file: IO[Any] | None = None) -> None:
        """Prints the diagnostic to standard output, like those of the commands."""
        help_ = f"see `{self._command} --help`"
        diagnostic = Diagnostic(Span("<command line>"), Rule.USAGE, self.message, help_)
        click.echo(show([diagnostic], self._form), file)
