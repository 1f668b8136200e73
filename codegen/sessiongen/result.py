"""The result of a command, and exit statuses."""

from __future__ import annotations

from dataclasses import dataclass, field

from sessiongen.diagnostics import Diagnostic

SUCCESS, FINDING, INPUT_ERROR, SKEW = 0, 1, 2, 3


@dataclass
class Result:
    """The result of a command.

    lines: progress, printed in text format. detail: a diff or a document; a diff is printed in
    text format only.
    """

    status: int = SUCCESS
    lines: list[str] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    detail: str = ""
