"""Renders the matrix as text, markdown and JSON.

A cell that differs has a mark: `!` for a finding, `~` if all its differences are declared.
Text begins with a summary of the sections, followed by the rows that differ, or by all rows.
The reasons of declared gaps are listed below each table.
"""

from __future__ import annotations

import json
import re

import click

from sessiongen.parity.compare import Parity
from sessiongen.parity.matrix import MISSING, NOT_COMPARED, Cell, Finding, Row, Section

FINDING, DECLARED = "!", "~"
LEGEND = (
    f"{FINDING} finding   {DECLARED} declared gap   {MISSING} missing in the SDK   "
    f"{NOT_COMPARED} nothing to compare, or reported in another row"
)


def render(parity: Parity, form: str, all_rows: bool = False) -> str:
    """Return the matrix as `text`, `markdown` or `json`; "" for any other form.

    all_rows: text has every row, not only those that differ.
    """
    if form == "text":
        return _text(parity, all_rows)
    forms = {"markdown": _markdown, "json": _json}
    return forms[form](parity) if form in forms else ""


def _text(parity: Parity, all_rows: bool) -> str:
    """Return the summary and an aligned table for each section, marks in colour."""
    parts = []
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
    return "\n\n".join([*filter(None, [table]), f"{LEGEND}{hint}\n{_total(parity)}\n"])


def _section_counts(parity: Parity, all_rows: bool) -> str:
    """Return a table of the number of rows, findings and declared gaps in each section.

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
    """Return a markdown table for each section, with the declared gaps below."""
    parts = []
    for section in parity.sections:
        rows = [(section.title, *section.columns), ("---",) * (len(section.columns) + 1)]
        rows += _rows(parity, section)
        parts.append("\n".join(f"| {' | '.join(map(_escaped, row))} |" for row in rows))
    gaps = [f"- {gap.sdk}: `{gap.id}`: {gap.reason}" for gap in parity.declared.values()]
    return "\n\n".join([*parts, *filter(None, ["\n".join(gaps)]), _total(parity)]) + "\n"


def _json(parity: Parity) -> str:
    """Return the matrix and its findings as one JSON document."""
    data = {
        "sdks": parity.sdks,
        "sections": [
            {
                "title": section.title,
                "columns": section.columns,
                "rows": [
                    {"label": row.label, "cells": [_cell_data(parity, cell) for cell in row.cells]}
                    for row in section.rows
                ],
            }
            for section in parity.sections
        ],
        "findings": [item.record() for item in parity.diagnostics],
    }
    return json.dumps(data, indent=2) + "\n"


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
    """Return a line for each declared gap of a section, in the order of its cells."""
    keys = dict.fromkeys(item.key for item in section.findings())
    gaps = [parity.declared[key] for key in keys if key in parity.declared]
    return [f"  {DECLARED} {gap.sdk}: {gap.id}: {gap.reason}" for gap in gaps]


def _cell_data(parity: Parity, cell: Cell) -> dict[str, object]:
    if not cell.findings:
        return {"text": cell.text}
    return {"text": cell.text, "differs": [_finding_data(parity, item) for item in cell.findings]}


def _finding_data(parity: Parity, finding: Finding) -> dict[str, str]:
    gap = parity.declared.get(finding.key)
    known = {"declared": gap.reason, "kind": gap.kind} if gap is not None else {}
    return {"sdk": finding.sdk, "id": finding.id, "fault": finding.message, **known}


def _total(parity: Parity) -> str:
    return (
        f"{', '.join(parity.sdks)}: {len(parity.diagnostics)} findings, "
        f"{len(parity.declared)} declared gaps ({DECLARED})"
    )


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")
