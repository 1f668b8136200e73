"""Removes gaps whose differences no longer exist from the gap files.

A gap stays if its difference has changed, or if the SDK's code cannot be read there any more.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import tomli

from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span
from sessiongen.parity.compare import Parity
from sessiongen.parity.gap_faults import gone_gaps
from sessiongen.parity.gaps import Gap
from sessiongen.paths import display, write_file

_ENTRY = re.compile(r"^(?=\[\[gaps\]\])", re.MULTILINE)
_HELP = "write each entry as a [[gaps]] table, with one difference in each line of gaps.covers"


def prune(parity: Parity) -> list[str]:
    """Removes the gaps that are gone, and entries that cover nothing else.

    Returns:
        A line for each file that was written.

    Raises:
        InputError: a gap file is written in another form than `--declare` writes, or cannot be
            written.
    """
    lines = []
    gone = gone_gaps(list(parity.declared.values()), parity.sections)
    for sdk, path in parity.gap_files.items():
        gaps = [gap for gap in gone if gap.sdk == sdk]
        if gaps:
            text = _without(gaps[0].file.text, gaps)
            if text is None:
                fault = "gaps cannot be removed from this gap file"
                span = Span(display(path))
                raise InputError([Diagnostic(span, Rule.CONFIG_SYNTAX, fault, _HELP)])
            write_file(path, text.encode(), "the gap file", "check its permissions")
            lines.append(f"removed {len(gaps)} gaps that no longer exist from {display(path)}")
    return lines


def _without(text: str, gaps: Collection[Gap]) -> str | None:
    """Returns the text of a gap file without some gaps; None if it has another form."""
    ids = {(gap.index, gap.id) for gap in gaps}
    expected = [
        {**entry, "covers": covers}
        for index, entry in enumerate(tomli.loads(text)["gaps"])
        if (
            covers := {
                id_: state for id_, state in entry["covers"].items() if (index, id_) not in ids
            }
        )
    ]
    removed = {gap.span.line for gap in gaps}
    lines = enumerate(text.splitlines(keepends=True), 1)
    head, *entries = _ENTRY.split("".join(line for number, line in lines if number not in removed))
    kept = head + "".join(entry for entry in entries if not _is_empty(entry))
    result = kept.rstrip() + "\n"
    return result if _entries(result) == expected else None


def _is_empty(entry: str) -> bool:
    """Whether the text of an entry covers nothing."""
    return [item.get("covers") for item in _entries(entry) or ()] == [{}]


def _entries(text: str) -> list[dict[str, Any]] | None:
    """Returns the entries of a gap file; None if it is not TOML."""
    try:
        entries: list[dict[str, Any]] = tomli.loads(text).get("gaps", [])
    except tomli.TOMLDecodeError:
        return None
    return entries
