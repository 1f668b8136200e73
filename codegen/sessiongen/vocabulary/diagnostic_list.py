"""Collects the diagnostics of reading one package."""

from __future__ import annotations

from dataclasses import dataclass, field

from sessiongen.diagnostics import Diagnostic, Rule, Severity, Span

READER_HELP = "teach the reader this form, or write the definition as a constant"


@dataclass
class Faults:
    """Collects diagnostics of one reading."""

    items: list[Diagnostic] = field(default_factory=list)

    def unreadable(self, span: Span, rule: Rule, message: str, help_: str = READER_HELP) -> None:
        """Something is there that cannot be read: facts would be missing."""
        self.items.append(Diagnostic(span, rule, message, help_))

    def missing(self, span: Span, message: str, help_: str) -> None:
        """Something that was expected is not there at all."""
        self.items.append(Diagnostic(span, Rule.SDK_MISSING, message, help_, Severity.WARNING))
