"""Reads declared gaps: differences from an SDK that are known and accepted.

The gaps of an SDK are in a TOML file beside its vocabulary: `NAME.gaps.toml` beside
`NAME.json`. Each entry of its `gaps` array has a `kind` (one of `KINDS`), a `reason`, an
`issue` if the SDK has one, and `covers`, a table of the differences that the reason explains: the
state of each by its id. A gap covers a difference in this state alone, so a change for the worse
is not covered.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sessiongen.config.sdks import gap_file
from sessiongen.config.tables import TableReader, key_span, read_companion
from sessiongen.diagnostics import InputError, Span
from sessiongen.parity.matrix import Finding, Key

# design: the difference is intended. sdk-bug: the SDK should change.
# not-yet: the SDK does not implement it yet.
KINDS = ("design", "sdk-bug", "not-yet")


@dataclass(frozen=True)
class Gap:
    """One declared difference.

    state: what the SDK or the protocol has instead, as `parity` reports it.
    issue: the address of an issue of the SDK about the difference, or "".
    file, index: the file, and the element of its `gaps` array.
    """

    sdk: str
    id: str
    state: str
    kind: str
    reason: str
    issue: str
    file: GapFile
    index: int

    @property
    def explanation(self) -> str:
        """The reason, and the address of the issue if there is one."""
        return f"{self.reason} {self.issue}" if self.issue else self.reason

    @property
    def key(self) -> Key:
        """What a difference must equal to be covered."""
        return self.sdk, self.id, self.state

    @property
    def span(self) -> Span:
        """The position of the id in its file."""
        return self.file.span(self.index, self.id)


class GapFile:
    """The path and text of a gap file."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text

    def span(self, index: int, difference_id: str) -> Span:
        """Returns the position of an id in an element of the file's array."""
        return key_span(self.path, self.text, ("gaps", str(index), "covers", difference_id))


def covers_pair(finding: Finding) -> str:
    """Returns the key and value of a `covers` table that cover a difference."""
    return " = ".join(json.dumps(item, ensure_ascii=False) for item in (finding.id, finding.state))


def load_gaps(vocabulary: Path, sdk: str) -> list[Gap]:
    """Returns the declared gaps of an SDK; none if it has no gap file.

    Raises:
        InputError: the file cannot be read, is not TOML, or has a key or value that
            is not allowed.
    """
    path = gap_file(vocabulary)
    companion = read_companion(path, "gap file")
    if companion is None:
        return []
    text, data = companion
    tables = TableReader(path, text)
    tables.only(data, (), ("gaps",))
    gaps = list(_gaps(tables, data, GapFile(path, text), sdk))
    if tables.faults:
        raise InputError(tables.faults)
    return gaps


def _gaps(tables: TableReader, data: dict[str, Any], file: GapFile, sdk: str) -> Iterator[Gap]:
    for index, entry in enumerate(tables.tables(data, ("gaps",))):
        key_path = ("gaps", str(index))
        tables.only(entry, key_path, ("kind", "reason", "issue", "covers"))
        kind = tables.required_string(entry, (*key_path, "kind"))
        if kind and kind not in KINDS:
            fault = f"{kind!r} is not a kind of gap"
            tables.fault((*key_path, "kind"), fault, f"kinds: {', '.join(KINDS)}")
        covers = tables.table(entry, "covers", key_path)
        if not covers and isinstance(entry.get("covers", {}), dict):
            help_ = "add a table gaps.covers of differences, or remove the entry"
            tables.fault(key_path, "this entry covers nothing", help_)
        issue = tables.string(entry, (*key_path, "issue")) or ""
        if issue and not issue.startswith("https://"):
            help_ = "write the address of an issue or a pull request"
            tables.fault((*key_path, "issue"), f"{issue!r} is not an address", help_)
        # `parity` reports a gap without a reason; it is not a fault of the file.
        reason = str(entry.get("reason") or "")
        for difference_id in covers:
            state = tables.string(covers, (*key_path, "covers", difference_id)) or ""
            yield Gap(sdk, difference_id, state, kind, reason, issue, file, index)
