"""The outputs of codegen.toml: `[[output]]` tables, or one `[output]` table for Python."""

from __future__ import annotations

import os
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from sessiongen.config.model import Output
from sessiongen.config.tables import KeyPath, Table, TableReader
from sessiongen.paths import display
from sessiongen.targets import registry
from sessiongen.targets.base import Target

# The language of an `[output]` table that has no key `language`.
_SINGLE_LANGUAGE = "python"
_KEYS = ("language", "path", "layers")


def read_outputs(tables: TableReader, data: Table) -> tuple[Output, ...]:
    """Returns the outputs; faults go to `tables`."""
    if not isinstance(data.get("output"), list):
        single = _output(tables, tables.table(data, "output"), ("output",), _SINGLE_LANGUAGE)
        return () if single is None else (single,)
    if data["output"] == []:
        help_ = 'add an [[output]] table with a language, for example "python"'
        tables.fault(("output",), "there is no output", help_)
    entries = enumerate(tables.tables(data, ("output",)))
    parsed = [_output(tables, entry, ("output", str(index)), None) for index, entry in entries]
    outputs = tuple(item for item in parsed if item is not None)
    _check_folders(tables, outputs)
    return outputs


def _output(
    tables: TableReader, table: Table, key_path: KeyPath, default_language: str | None
) -> Output | None:
    language = tables.string(table, (*key_path, "language")) or default_language
    target = registry.find(language) if language else None
    if target is None:
        known = ", ".join(registry.languages())
        fault = f"there is no output language {language!r}" if language else "no language is named"
        key = (*key_path, "language") if language else key_path
        tables.fault(key, fault, f"give language as one of: {known}")
        return None
    tables.only(table, key_path, (*_KEYS, *target.keys))
    name = tables.string(table, (*key_path, "path")) or f"generated/{target.language}"
    requested = _requested_layers(tables, table, key_path, target)
    layers = _with_dependencies(target, requested if "layers" in table else target.layers)
    options = target.options(tables, table, key_path, tables.root / name)
    return Output(target.language, layers, options, key_path, requested)


def _requested_layers(
    tables: TableReader, table: Table, key_path: KeyPath, target: Target
) -> tuple[str, ...]:
    key = (*key_path, "layers")
    names = tables.strings(table, key) if "layers" in table else ()
    for name in names:
        if name not in target.layers:
            close = get_close_matches(name, target.layers, 1)
            fault = f"{target.language} output has no layer {name!r}"
            hint = f"did you mean {close[0]!r}? " if close else ""
            tables.fault(key, fault, f"{hint}layers: {', '.join(target.layers)}")
    return tuple(name for name in names if name in target.layers)


def _with_dependencies(target: Target, names: Iterable[str]) -> tuple[str, ...]:
    """Returns layers and the layers that they depend on, in the target's order."""
    included: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name not in included:
            included.add(name)
            pending += target.layers[name].needs
    return tuple(name for name in target.layers if name in included)


def _check_folders(tables: TableReader, outputs: tuple[Output, ...]) -> None:
    """Reports outputs with overlapping folders: each would remove the other's files."""
    for index, output in enumerate(outputs):
        for other in outputs[:index]:
            if _overlap(output.folder, other.folder):
                shown = display(output.folder)
                fault = f"{shown} overlaps the output folder {display(other.folder)}"
                tables.fault(output.key_path, fault, "give each output another folder")


def _overlap(left: Path, right: Path) -> bool:
    first, second = Path(os.path.realpath(left)), Path(os.path.realpath(right))
    return first == second or first in second.parents or second in first.parents
