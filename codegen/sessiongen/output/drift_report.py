"""What `check` prints of a difference: what changed in the protocol, and the diff.

The short report has at most a screenful of the diff. The full one is a patch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sessiongen.config.model import Config, Output
from sessiongen.ir import descriptor_changes
from sessiongen.ir.model import Model
from sessiongen.output.writer import MANIFEST, Difference, read_text
from sessiongen.paths import display
from sessiongen.targets import registry

Drift = Sequence[tuple[Output, list[Difference]]]

# Lines of the diff in a short report, and characters of each.
_MOST_LINES = 60
_WIDEST = 160
_MOST_CHANGES = 40
# A longer line is no code that a person reads, but serialized data.
_SERIALIZED = 1000


def full(drift: Drift) -> str:
    """Return a patch from the output folders to the generated files, manifests included."""
    return "".join(item.diff(display(output.folder)) for output, items in drift for item in items)


def short(drift: Drift, model: Model, config: Config) -> str:
    """Return the changes of the protocol and the beginning of the diff."""
    changes = _protocol_changes(drift, model)
    lines = ["changes of the protocol:"] if changes else []
    lines += [f"  {item}" for item in changes[:_MOST_CHANGES]]
    if len(changes) > _MOST_CHANGES:
        lines.append(f"  ... {len(changes) - _MOST_CHANGES} more")
    shown, more = _cut(list(_diff_lines(drift)))
    lines += shown
    if more:
        option = config.option
        lines.append(f"... {more} more lines; `sessiongen{option} check --full-diff` shows all")
    return "".join(f"{line}\n" for line in lines)


def _protocol_changes(drift: Drift, model: Model) -> list[str]:
    """Return what differs from the descriptors that the outputs were generated from."""
    new = [file for file in model.annotated.files if file.name in model.compiled.own]
    for output, items in drift:
        found = {item.path: item.found for item in items if item.found is not None}
        old = registry.get(output.language).descriptors(found)
        if old:
            return descriptor_changes.changes(old, new)
    return []


def _diff_lines(drift: Drift) -> Iterator[str]:
    for output, items in drift:
        for item in items:
            if item.path != MANIFEST:
                yield from item.diff(display(output.folder)).splitlines()


def _cut(lines: list[str]) -> tuple[list[str], int]:
    """Return the lines that are shown, and how many are left out."""
    readable = [line for line in lines if len(line) < _SERIALIZED]
    shown = [line if len(line) <= _WIDEST else f"{line[:_WIDEST]}..." for line in readable]
    return shown[:_MOST_LINES], len(lines) - len(shown[:_MOST_LINES])
