"""The [sdks] section of codegen.toml: vocabulary files and declared gaps."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from sessiongen.config.tables import KeyPath, Table, Tables
from sessiongen.paths import display


@dataclass(frozen=True)
class Gap:
    """A declared gap between the protocol and an SDK: what is missing, and why that is known.

    thing: the name that `parity` gives it in its findings.
    """

    sdk: str
    thing: str
    reason: str
    key_path: KeyPath


@dataclass(frozen=True)
class Sdks:
    """The SDKs that a protocol is compared with.

    vocabularies: the vocabulary file of each SDK, in the order of the matrix's columns.
    """

    vocabularies: tuple[Path, ...] = ()
    gaps: tuple[Gap, ...] = ()


def read_sdks(tables: Tables, table: Table) -> Sdks:
    """Return the [sdks] section; faults go to `tables`."""
    tables.only(table, ("sdks",), ("vocabularies", "gaps"))
    return Sdks(_vocabularies(tables, table), _gaps(tables, table))


def _vocabularies(tables: Tables, table: Table) -> tuple[Path, ...]:
    key_path = ("sdks", "vocabularies")
    names = tables.strings(table, key_path)
    paths = [os.path.normpath(tables.root / name) for name in names]
    for path in dict.fromkeys(path for path in paths if paths.count(path) > 1):
        fault = f"the vocabulary {display(Path(path))} is listed twice"
        tables.fault(key_path, fault, "list each once: an SDK is compared once")
    return tuple(tables.root / name for name in names)


def _gaps(tables: Tables, table: Table) -> tuple[Gap, ...]:
    gaps = []
    for index, entry in enumerate(tables.tables(table, ("sdks", "gaps"))):
        key_path = ("sdks", "gaps", str(index))
        tables.only(entry, key_path, ("sdk", "thing", "reason"))
        sdk, thing = (tables.required_string(entry, (*key_path, key)) for key in ("sdk", "thing"))
        # `parity` reports a gap without a reason; it is not a fault of the file.
        gaps.append(Gap(sdk, thing, str(entry.get("reason") or ""), key_path))
    return tuple(gaps)
