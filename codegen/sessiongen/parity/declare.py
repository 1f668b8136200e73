"""Writes undeclared differences into the gap files, for a maintainer to explain.

The entries have no reason yet. `parity` reports each until it has one.
"""

from __future__ import annotations

import os
from pathlib import Path

import tomli

from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span
from sessiongen.parity.compare import Parity
from sessiongen.parity.gaps import covers_pair
from sessiongen.parity.matrix import Finding
from sessiongen.paths import display

_HEADER = "# Known differences from {sdk}, grouped by reason.\n"


def declare(parity: Parity) -> list[str]:
    """Appends an entry to the gap file of each SDK that has findings.

    Returns:
        A line for each file that was written.

    Raises:
        InputError: nothing can be appended to a gap file.
    """
    lines = []
    for sdk, path in parity.gap_files.items():
        findings = parity.undeclared(sdk)
        if findings:
            _append(path, sdk, findings)
            count = f"declared {len(findings)} differences"
            lines.append(f"{count} in {display(path)}: give the reason")
    return lines


def _append(path: Path, sdk: str, findings: list[Finding]) -> None:
    before = path.read_text(encoding="utf-8-sig") if path.exists() else _HEADER.format(sdk=sdk)
    text = f"{before.rstrip()}\n\n{_entry(findings)}"
    try:
        tomli.loads(text)
    except tomli.TOMLDecodeError:
        fault = "an entry cannot be appended to this gap file"
        help_ = "write each entry of the file as a [[gaps]] table"
        span = Span(display(path))
        raise InputError([Diagnostic(span, Rule.CONFIG_SYNTAX, fault, help_)]) from None
    staged = path.with_name(f".{path.name}.{os.getpid()}")
    staged.write_bytes(text.encode())
    os.replace(staged, path)


def _entry(findings: list[Finding]) -> str:
    # A table holds a key once: a second state of a difference goes to an entry of its own.
    first = {item.id: item for item in reversed(findings)}
    rest = [item for item in findings if item is not first[item.id]]
    covers = "".join(f"{covers_pair(item)}\n" for item in findings if item not in rest)
    entry = f'[[gaps]]\nkind = "not-yet"\nreason = ""\n\n[gaps.covers]\n{covers}'
    return f"{entry}\n{_entry(rest)}" if rest else entry
