"""The [sdks] section of codegen.toml: the vocabulary files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from sessiongen.config.tables import Table, TableReader
from sessiongen.paths import display


@dataclass(frozen=True)
class Sdks:
    """The SDKs that a protocol is compared with.

    vocabularies: the vocabulary file of each SDK, in the order of the matrix's columns. The
    scope and the declared gaps of an SDK are in other files beside it.
    """

    vocabularies: tuple[Path, ...] = ()


def gap_file(vocabulary: Path) -> Path:
    """Returns the path of the gap file that belongs to a vocabulary file."""
    return vocabulary.with_suffix(".gaps.toml")


def read_sdks(tables: TableReader, table: Table) -> Sdks:
    """Returns the [sdks] section; faults go to `tables`."""
    tables.only(table, ("sdks",), ("vocabularies",))
    return Sdks(_vocabularies(tables, table))


def _vocabularies(tables: TableReader, table: Table) -> tuple[Path, ...]:
    key_path = ("sdks", "vocabularies")
    names = tables.strings(table, key_path)
    paths = [os.path.normpath(tables.root / name) for name in names]
    for path in dict.fromkeys(path for path in paths if paths.count(path) > 1):
        fault = f"the vocabulary {display(Path(path))} is listed twice"
        tables.fault(key_path, fault, "list each vocabulary once")
    return tuple(tables.root / name for name in names)
