"""The options that name the sources of SDKs."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

_LANGUAGES = {"python": "python", "js": "typescript"}

_SDK_HELP = "A configured SDK and its version, newest, or the path of a folder or archive."
_SOURCE_OPTIONS = [
    click.option("--sdk", "named_sources", multiple=True, metavar="NAME=SOURCE", help=_SDK_HELP),
    click.option("--python", "python_version", help="A version of the Python SDK, or newest."),
    click.option("--js", "js_version", help="A version of the JS SDK, or newest."),
    click.option(
        "--python-path", type=click.Path(path_type=Path), help="A folder or archive of the SDK."
    ),
    click.option(
        "--js-path", type=click.Path(path_type=Path), help="A folder or archive of the SDK."
    ),
]


def sdk_sources(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the options that name the sources of SDKs; the command gets them as `sources`."""

    @wraps(command)
    def run(
        *arguments: Any,
        named_sources: tuple[str, ...],
        python_version: str | None,
        js_version: str | None,
        python_path: Path | None,
        js_path: Path | None,
        **options: Any,
    ) -> None:
        sources = {
            **dict(_named_source(item) for item in named_sources),
            **_source("python", python_version, python_path),
            **_source("js", js_version, js_path),
        }
        command(*arguments, sources=sources, **options)

    for option in reversed(_SOURCE_OPTIONS):
        run = option(run)
    return run


def _named_source(text: str) -> tuple[str, str | Path]:
    """Returns the name and the source of an `--sdk` option."""
    name, equals, source = text.partition("=")
    if not (name and equals and source):
        raise click.UsageError(f"--sdk {text}: give NAME=VERSION or NAME=PATH")
    # A version number contains no separator; a path without one must exist.
    is_path = "/" in source or "\\" in source or Path(source).exists()
    return name, Path(source) if is_path else source


def _source(name: str, version: str | None, path: Path | None) -> dict[str, str | Path]:
    """Returns the source of the SDK in an option's language, if the option is given."""
    if version is not None and path is not None:
        raise click.UsageError(f"give either --{name} or --{name}-path, not both")
    source = path if version is None else version
    return {} if source is None else {_LANGUAGES[name]: source}
