"""Faults for errors of the system that the input of a command causes.

The input is nested too deeply, or has a path that cannot be opened or spelt.
"""

from __future__ import annotations

from pathlib import Path

from sessiongen.diagnostics import Diagnostic, Rule, Span
from sessiongen.paths import display


def unusable_input(
    config: Path, error: OSError | RecursionError | UnicodeEncodeError
) -> Diagnostic:
    """Returns a fault for an error that the input of a command caused."""
    if isinstance(error, UnicodeEncodeError):
        missing = error.object[error.start : error.end]
        fault = (
            f"the encoding of file names, {error.encoding}, has no {missing!a} of {error.object!a}"
        )
        help_ = "set a locale with UTF-8, such as LC_ALL=C.UTF-8, or PYTHONUTF8=1"
        return Diagnostic(Span(display(config)), Rule.UNREADABLE, fault, help_)
    if isinstance(error, RecursionError):
        help_ = "reduce the nesting: the recursion limit of Python was reached"
        fault = "the input is nested too deeply"
        return Diagnostic(Span(display(config)), Rule.UNREADABLE, fault, help_)
    path = error.filename if isinstance(error.filename, str) else config
    fault = f"cannot use this path: {error.strerror or error}"
    help_ = "check that it exists, that its name is valid, and that it can be read and written"
    return Diagnostic(Span(display(Path(path))), Rule.UNREADABLE, fault, help_)
