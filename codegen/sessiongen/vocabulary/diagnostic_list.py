"""Collects the diagnostics of reading one package."""

from __future__ import annotations

from dataclasses import dataclass, field

from sessiongen.diagnostics import Diagnostic, Rule, Severity, Span

READER_HELP = "extend the reader to this form, or write the definition as a constant"


@dataclass
class Faults:
    """The diagnostics of reading one package."""

    items: list[Diagnostic] = field(default_factory=list)

    def unreadable(self, span: Span, rule: Rule, message: str, help_: str = READER_HELP) -> None:
        """Adds an error: source code cannot be read, so facts would be missing."""
        self.items.append(Diagnostic(span, rule, message, help_))

    def warning(self, span: Span, rule: Rule, message: str, help_: str) -> None:
        """Adds a warning: source code was read, and may not do what it seems to do."""
        self.items.append(Diagnostic(span, rule, message, help_, Severity.WARNING))

    def missing(self, span: Span, message: str, help_: str) -> None:
        """Adds a warning: an expected definition does not exist."""
        self.items.append(Diagnostic(span, Rule.SDK_MISSING, message, help_, Severity.WARNING))
