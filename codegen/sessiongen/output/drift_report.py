"""Formats a difference for `check`: what changed in the protocol, and the diff.

The short report has at most a screenful of the diff. The full one is a patch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sessiongen.config.model import Config, Output
from sessiongen.ir import descriptor_changes
from sessiongen.ir.model import Model
from sessiongen.output.writer import MANIFEST, Difference
from sessiongen.paths import display
from sessiongen.targets import registry

Drift = Sequence[tuple[Output, list[Difference]]]

# Lines of the diff in a short report, of each file and of all, and characters of each.
_MAX_LINES_PER_FILE = 10
_MAX_LINES = 60
_MAX_WIDTH = 160
_MAX_CHANGES = 40
# Longer lines are serialized data, of which only the beginning is shown.
_SERIALIZED_DATA_WIDTH = 1000
_SERIALIZED_DATA_SHOWN = 60


def full(drift: Drift) -> str:
    """Returns a patch from the output folders to the generated files, manifests included."""
    return "".join(item.diff(display(output.folder)) for output, items in drift for item in items)


def short(drift: Drift, model: Model, config: Config) -> str:
    """Returns the changes of the protocol and the beginning of the diff."""
    changes = _protocol_changes(drift, model)
    lines = ["changes of the protocol:"] if changes else []
    lines += [f"  {item}" for item in changes[:_MAX_CHANGES]]
    if len(changes) > _MAX_CHANGES:
        lines.append(f"  ... {len(changes) - _MAX_CHANGES} more")
    diffs = [item.splitlines() for item in _diffs(drift)]
    shown = _shown(diffs)
    lines += shown
    hidden = sum(map(len, diffs)) - len(shown)
    if hidden:
        option = config.option
        lines.append(f"... {hidden} more lines; `sessiongen{option} check --full-diff` shows all")
    return "".join(f"{line}\n" for line in lines)


def _protocol_changes(drift: Drift, model: Model) -> list[str]:
    """Returns the changes since the descriptors from which the outputs were generated."""
    new = [file for file in model.annotated.files if file.name in model.compiled.own]
    for output, items in drift:
        actual = {item.path: item.actual for item in items if item.actual is not None}
        old = registry.get(output.language).descriptors(actual)
        if old:
            return descriptor_changes.changes(old, new)
    return []


def _diffs(drift: Drift) -> Iterator[str]:
    for output, items in drift:
        for item in items:
            if item.path != MANIFEST:
                yield item.diff(display(output.folder))


def _shown(diffs: list[list[str]]) -> list[str]:
    """Returns the beginning of each diff, for as many files as there is room for."""
    lines: list[str] = []
    for diff in diffs:
        beginning = [_shortened(line) for line in diff[:_MAX_LINES_PER_FILE]]
        if len(lines) + len(beginning) > _MAX_LINES:
            break
        lines += beginning
    return lines


def _shortened(line: str) -> str:
    """Returns a line, cut if it is long."""
    if len(line) >= _SERIALIZED_DATA_WIDTH:
        shown = line[:_SERIALIZED_DATA_SHOWN]
        return f"{shown}... ({len(line):,} characters; the serialized descriptor is left out)"
    return line if len(line) <= _MAX_WIDTH else f"{line[:_MAX_WIDTH]}..."
