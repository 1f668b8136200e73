"""The result of a command, and exit statuses."""

from __future__ import annotations

from dataclasses import dataclass, field

from sessiongen.diagnostics import Diagnostic

FINE, FINDING, INPUT_ERROR, SKEW = 0, 1, 2, 3


@dataclass
class Result:
    """What a command found.

    lines: progress for people. detail: a diff or document; other formats than text leave a
    diff out.
    """

    status: int = FINE
    lines: list[str] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    detail: str = ""
