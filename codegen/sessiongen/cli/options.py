"""The options that every command has, and the form in which usage errors are shown.

An option may stand before or after the command; the last one counts.
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
        """The configuration to read: unless one is named, the nearest at or above here."""
        from sessiongen.config.reader import find

        return find(CONFIG) if self.config is CONFIG else self.config


def current(context: click.Context) -> Options:
    """Return the options of a run, as far as they are parsed."""
    found: Options = context.meta.get(__name__, Options())
    return found


def _keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    name = parameter.name or ""
    if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
        # Contexts of verbs share this with that of the command.
        context.meta[__name__] = _changed(current(context), name, value)


def _changed(options: Options, name: str, value: Any) -> Options:
    return Options(**{**vars(options), name: value})


_CONFIG = click.option(
    "--config",
    type=click.Path(path_type=Path),
    default=CONFIG,
    show_default=True,
    expose_value=False,
    callback=_keep,
    help="The configuration, here or in a folder above; its paths are relative to its folder.",
)
_FORMAT = click.option(
    "--format",
    type=click.Choice(["text", "github", "json"]),
    default="text",
    show_default=True,
    expose_value=False,
    callback=_keep,
    help="The form of diagnostics.",
)
_COLOR = click.option(
    "--color/--no-color",
    default=None,
    expose_value=False,
    callback=_keep,
    help="Colour; by default on a terminal.",
)
_QUIET = click.option(
    "-q",
    "--quiet",
    is_flag=True,
    expose_value=False,
    callback=_keep,
    help="Show diagnostics only.",
)


def without_format(command: F) -> F:
    """Give a command the global options, but for the format, which is its own."""
    return _CONFIG(_COLOR(_QUIET(command)))


def shared(command: F) -> F:
    """Give a command the global options."""
    return _CONFIG(_FORMAT(_COLOR(_QUIET(command))))


def pass_options(verb: Callable[Concatenate[Options, P], R]) -> Callable[P, R]:
    """Give a verb the options of the run as its first argument."""

    @wraps(verb)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        context = click.get_current_context()
        options = current(context)
        if options.color is not None:
            context.color = options.color
        return verb(options, *args, **kwargs)

    return run


class Command(click.Group):
    """The command. Usage errors are shown in the form of the other diagnostics."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Parse the options before the verb."""
        form = _form(args)
        with _usage_errors(form):
            context = super().make_context(info_name, args, parent, **extra)
        context.meta[_REQUESTED_FORMAT] = form
        return context

    def invoke(self, ctx: click.Context) -> Any:
        """Parse the rest and run the verb."""
        with _usage_errors(ctx.meta[_REQUESTED_FORMAT]):
            return super().invoke(ctx)


_REQUESTED_FORMAT = f"{__name__}.format"


def _form(arguments: list[str]) -> str:
    """Return the format that a command line asks for, even if the rest is invalid."""
    form = "text"
    for before, item in zip(["", *arguments], arguments, strict=False):
        if before == "--format":
            form = item
        elif item.startswith("--format="):
            form = item.partition("=")[2]
    return form


@contextmanager
def _usage_errors(form: str) -> Iterator[None]:
    try:
        yield
    except click.UsageError as error:
        if form not in ("json", "github"):
            raise
        raise _UsageFault(error, form) from None


class _UsageFault(click.ClickException):
    """A usage error that is shown as a diagnostic."""

    exit_code = 2

    def __init__(self, error: click.UsageError, form: str) -> None:
        super().__init__(" ".join(error.format_message().split()))
        self._command = error.ctx.command_path if error.ctx else "sessiongen"
        self._form = form

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the diagnostic where those of the verbs go."""
        help_ = f"see `{self._command} --help`"
        found = Diagnostic(Span("<command line>"), Rule.USAGE, self.message, help_)
        click.echo(show([found], self._form), file)
