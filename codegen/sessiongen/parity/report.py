"""Renders the matrix as text and markdown.

A cell that differs has a mark: `!` for a finding, `~` if all its differences are declared.
Text begins with a summary of the sections, followed by the rows that differ, or by all rows.
The reasons of declared gaps are listed below each table.
"""

from __future__ import annotations

import re

import click

from sessiongen.parity.compare import Parity
from sessiongen.parity.matrix import MISSING, NOT_COMPARED, UNVERIFIED, Cell, Row, Section

FINDING, DECLARED = "!", "~"
LEGEND = (
    f"{FINDING} finding   {DECLARED} declared gap   {MISSING} missing in the SDK   "
    f"{NOT_COMPARED} nothing to compare, or reported in another row\n"
    f"{UNVERIFIED} the SDK's code cannot be read here"
)


def render(parity: Parity, form: str, all_rows: bool = False) -> str:
    """Returns the matrix as `text`, `markdown`, `json` or `sarif`; "" for any other form.

    all_rows: text has every row, not only those that differ.
    """
    if form == "text":
        return _text(parity, all_rows)
    if form in ("json", "sarif"):
        from sessiongen.parity import documents

        return documents.as_json(parity) if form == "json" else documents.as_sarif(parity)
    return _markdown(parity) if form == "markdown" else ""


def _text(parity: Parity, all_rows: bool) -> str:
    """Returns the summary and an aligned table for each section, marks in colour."""
    parts = []
    # A row that no longer differs has changed too.
    all_rows = all_rows or bool(parity.since)
    for section in parity.sections:
        rows = section.rows if all_rows else tuple(row for row in section.rows if _differs(row))
        if rows:
            shown = section._replace(rows=rows)
            lines = _aligned([(section.title, *section.columns), *_rows(parity, shown)])
            parts.append("\n".join([*lines, *_reasons(parity, shown)]))
    if parts:
        parts.insert(0, _section_counts(parity, all_rows))
    table = "\n\n".join(parts)
    for mark, colour in ((FINDING, "red"), (DECLARED, "yellow")):
        table = re.sub(
            rf"(?<= ){mark}(?= |$)", f"{click.style(mark, fg=colour)}", table, flags=re.MULTILINE
        )
    hint = "" if all_rows else "\nrows without differences are left out; show them with --all"
    resolved = _resolved(parity, "  ")
    parts = [*filter(None, [table, resolved]), f"{LEGEND}{hint}\n{_total(parity)}\n"]
    return "\n\n".join(parts)


def _section_counts(parity: Parity, all_rows: bool) -> str:
    """Returns a table of the number of rows, findings and declared gaps in each section.

    all_rows: sections without differences are listed as well.
    """
    rows: list[tuple[str, ...]] = [("section", "rows", "findings", "declared")]
    for section in parity.sections:
        ids = {item.key for item in section.findings()}
        if not ids and not all_rows:
            continue
        declared = sum(item in parity.declared for item in ids)
        counts = (len(section.rows), len(ids) - declared, declared)
        rows.append((section.title, *map(str, counts)))
    return "\n".join(_aligned(rows))


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _differs(row: Row) -> bool:
    return any(cell.findings for cell in row.cells)


def _markdown(parity: Parity) -> str:
    """Returns a markdown table for each section, with the findings and the declared gaps below."""
    parts = []
    for section in parity.sections:
        rows = [(section.title, *section.columns), ("---",) * (len(section.columns) + 1)]
        rows += _rows(parity, section)
        parts.append("\n".join(f"| {' | '.join(map(_escaped, row))} |" for row in rows))
    findings = [f"- {item.span}: {item.message}" for item in parity.diagnostics]
    shown = {item.key for section in parity.sections for item in section.findings()}
    gaps = [
        f"- {gap.sdk}: `{gap.id}`: {gap.explanation}"
        for key, gap in parity.declared.items()
        if key in shown
    ]
    ends = filter(None, ["\n".join(findings), "\n".join(gaps), _resolved(parity, "- ")])
    return "\n\n".join([*parts, *ends, _total(parity)]) + "\n"


def _resolved(parity: Parity, indent: str) -> str:
    """Returns the list of differences that do not exist any more, or ""."""
    lines = [f"{indent}{item.sdk}: {item.id}" for item in parity.resolved]
    return "\n".join([f"resolved since {parity.since}:", *lines]) if lines else ""


def _rows(parity: Parity, section: Section) -> list[tuple[str, ...]]:
    return [(row.label, *(_cell_text(parity, cell) for cell in row.cells)) for row in section.rows]


def _cell_text(parity: Parity, cell: Cell) -> str:
    mark = _mark(parity, cell)
    return f"{cell.text} {mark}" if mark else cell.text


def _mark(parity: Parity, cell: Cell) -> str:
    if not cell.findings:
        return ""
    known = all(item.key in parity.declared for item in cell.findings)
    return DECLARED if known else FINDING


def _reasons(parity: Parity, section: Section) -> list[str]:
    """Returns a line for each declared gap of a section, in the order of its cells."""
    keys = dict.fromkeys(item.key for item in section.findings())
    gaps = [parity.declared[key] for key in keys if key in parity.declared]
    return [f"  {DECLARED} {gap.sdk}: {gap.id}: {gap.explanation}" for gap in gaps]


def _total(parity: Parity) -> str:
    declared = f"{len(parity.declared)} declared gaps ({DECLARED})"
    sdks, count = ", ".join(parity.sdks), len(parity.diagnostics)
    if not parity.since:
        return f"{sdks}: {count} findings, {declared}"
    rows = sum(len(section.rows) for section in parity.sections)
    return f"{sdks}: since {parity.since} {rows} rows changed, {count} new findings, {declared}"


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")
