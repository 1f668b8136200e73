"""Paths in messages, and files that a command writes on request."""

from __future__ import annotations

import os
from pathlib import Path

from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span


def display(path: Path) -> str:
    """Returns a path for a message: relative if it is below the working directory."""
    try:
        full, here = os.path.abspath(path), os.getcwd()
    except FileNotFoundError:
        # The working directory was removed.
        return path.as_posix()
    if full.startswith(here.rstrip(os.sep) + os.sep):
        return Path(full).relative_to(here).as_posix()
    return Path(full).as_posix()


def write_file(target: Path, data: bytes, what: str, help_: str) -> None:
    """Writes a file.

    Args:
        target: the path of the file.
        data: its content.
        what: what the file has, for the message of an error.
        help_: what the user can do about an error.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        target.write_bytes(data)
    except OSError as error:
        fault = f"cannot write {what}: {error.strerror}"
        raise InputError([Diagnostic(Span(display(target)), Rule.OUTPUT, fault, help_)]) from None
