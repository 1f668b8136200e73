"""Handwritten conversions of single fields: a module that is copied into the output.

Each exported function is named after the message and the field that it fills, and converts the
value of the SDK's field to that of the message's: `chatMessageContent` for
`Report.content`. The module is read, not run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span
from sessiongen.paths import display

FILE = "overrides.ts"
_EXPORT = re.compile(r"^export function (\w+)", re.M)


@dataclass(frozen=True)
class Overrides:
    """The functions of a module by name, with their lines, and its text."""

    path: Path | None
    functions: dict[str, int]
    text: str

    def faults(self, known: set[str]) -> list[Diagnostic]:
        """Returns a fault for each function that no field uses. known: the possible names."""
        if self.path is None:
            return []
        help_ = "name it after a message that hosts send and a field of it: chatMessageContent"
        return [
            Diagnostic(
                Span(display(self.path), line),
                Rule.OVERRIDE,
                f"no field that encoders fill is converted by {name}",
                help_,
            )
            for name, line in self.functions.items()
            if name not in known
        ]


def load(path: Path | None) -> Overrides:
    """Reads a module of overrides; there are none without a path.

    Raises:
        InputError: the file cannot be read.
    """
    if path is None:
        return Overrides(None, {}, "")
    try:
        text = path.read_text(encoding="utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        fault = f"the overrides cannot be read: {reason}"
        help_ = "name a TypeScript module in UTF-8"
        raise InputError([Diagnostic(Span(display(path)), Rule.OVERRIDE, fault, help_)]) from None
    lines = {
        match.group(1): text.count("\n", 0, match.start()) + 1 for match in _EXPORT.finditer(text)
    }
    return Overrides(path, lines, text)
