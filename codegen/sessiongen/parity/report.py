"""Renders the matrix as text, markdown and JSON.

A cell that differs has a mark: `!` for a finding, `~` if all its differences are declared.
The reasons of declared gaps are listed below each table.
"""

from __future__ import annotations

import json
import re

import click

from sessiongen.parity.compare import Parity
from sessiongen.parity.matrix import Cell, Finding, Section

FINDING, DECLARED = "!", "~"


def render(parity: Parity, form: str) -> str:
    """Return the matrix as `text`, `markdown` or `json`; in any other form it has none."""
    forms = {"text": _text, "markdown": _markdown, "json": _json}
    return forms[form](parity) if form in forms else ""


def _text(parity: Parity) -> str:
    """Return an aligned table for each section, marks in colour."""
    parts = []
    for section in parity.sections:
        rows = [(section.title, *section.columns), *_rows(parity, section)]
        widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
        lines = [
            "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        parts.append("\n".join([*lines, *_reasons(parity, section)]))
    table = "\n\n".join(parts)
    for mark, colour in ((FINDING, "red"), (DECLARED, "yellow")):
        table = re.sub(
            rf"(?<= ){mark}(?= |$)", f"{click.style(mark, fg=colour)}", table, flags=re.MULTILINE
        )
    return f"{table}\n\n{_summary(parity)}\n"


def _markdown(parity: Parity) -> str:
    """Return a markdown table for each section, with the declared gaps below."""
    parts = []
    for section in parity.sections:
        rows = [(section.title, *section.columns), ("---",) * (len(section.columns) + 1)]
        rows += _rows(parity, section)
        parts.append("\n".join(f"| {' | '.join(map(_escaped, row))} |" for row in rows))
    gaps = [f"- {gap.sdk}: `{gap.id}`: {gap.reason}" for gap in parity.declared.values()]
    return "\n\n".join([*parts, *filter(None, ["\n".join(gaps)]), _summary(parity)]) + "\n"


def _json(parity: Parity) -> str:
    """Return the matrix and its findings as one JSON document."""
    data = {
        "sdks": parity.sdks,
        "sections": [
            {
                "title": section.title,
                "columns": section.columns,
                "rows": [
                    {"label": row.label, "cells": [_record(parity, cell) for cell in row.cells]}
                    for row in section.rows
                ],
            }
            for section in parity.sections
        ],
        "findings": [item.record() for item in parity.diagnostics],
    }
    return json.dumps(data, indent=2) + "\n"


def _rows(parity: Parity, section: Section) -> list[tuple[str, ...]]:
    return [(row.label, *(_marked(parity, cell) for cell in row.cells)) for row in section.rows]


def _marked(parity: Parity, cell: Cell) -> str:
    mark = _mark(parity, cell)
    return f"{cell.text} {mark}" if mark else cell.text


def _mark(parity: Parity, cell: Cell) -> str:
    if not cell.findings:
        return ""
    known = all((item.sdk, item.id) in parity.declared for item in cell.findings)
    return DECLARED if known else FINDING


def _reasons(parity: Parity, section: Section) -> list[str]:
    """Return a line for each declared gap of a section, in the order of its cells."""
    found = dict.fromkeys((item.sdk, item.id) for item in section.findings())
    return [
        f"  {DECLARED} {sdk}: {difference_id}: {parity.declared[sdk, difference_id].reason}"
        for sdk, difference_id in found
        if (sdk, difference_id) in parity.declared
    ]


def _record(parity: Parity, cell: Cell) -> dict[str, object]:
    if not cell.findings:
        return {"text": cell.text}
    return {"text": cell.text, "differs": [_difference(parity, item) for item in cell.findings]}


def _difference(parity: Parity, finding: Finding) -> dict[str, str]:
    gap = parity.declared.get((finding.sdk, finding.id))
    known = {"declared": gap.reason, "kind": gap.kind} if gap is not None else {}
    return {"sdk": finding.sdk, "id": finding.id, "fault": finding.message, **known}


def _summary(parity: Parity) -> str:
    return (
        f"{', '.join(parity.sdks)}: {len(parity.diagnostics)} findings, "
        f"{len(parity.declared)} declared gaps ({DECLARED})"
    )


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")
