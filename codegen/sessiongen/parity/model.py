"""The matrix: sections of rows, a cell for each SDK.

In: nothing. Out: frozen values that tables lay out and gaps are held against.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessiongen.diagnostics import Rule, Span

NOTHING = "-"


@dataclass(frozen=True)
class Finding:
    """A difference between the protocol and one SDK. thing: its name in codegen.toml."""

    sdk: str
    thing: str
    message: str
    rule: Rule
    span: Span


@dataclass(frozen=True)
class Cell:
    """What one SDK has, and all that is wrong with it."""

    text: str
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Row:
    """An element of the protocol, or of an SDK alone, with a cell for each column."""

    label: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Section:
    """Rows of one kind under a title."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def findings(self) -> list[Finding]:
        """Return what is wrong in any cell."""
        return [item for row in self.rows for cell in row.cells for item in cell.findings]
