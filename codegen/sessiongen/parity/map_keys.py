"""Compares map keys: the constant keys that each SDK puts into a map field.

There is a row for each key that any SDK sets. An SDK that does not set it has a finding,
unless it also sets keys that could not be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sessiongen.diagnostics import Rule
from sessiongen.parity.matrix import (
    Cell,
    Compared,
    Finding,
    MISSING,
    NOT_COMPARED,
    Row,
)
from sessiongen.ir.schema import Field, Message
from sessiongen.vocabulary.model import MapKeys, Vocabulary


def rows(message: Message, field: Field, vocabularies: Sequence[Vocabulary]) -> Iterator[Row]:
    """Yields the rows of a map field's keys."""
    if field.key is None:
        return
    path = ".".join(message.path)
    uses = [
        [item for item in vocabulary.map_keys if (item.message, item.field) == (path, field.name)]
        for vocabulary in vocabularies
    ]
    for key in sorted({key for sdk_uses in uses for item in sdk_uses for key in item.keys}):
        cells = [
            _cell(f"{path}.{field.name}", key, field, sdk_uses, vocabulary)
            for sdk_uses, vocabulary in zip(uses, vocabularies, strict=True)
        ]
        yield Row(f"{field.name}[{key}]", tuple(cells))


def _cell(
    path: str, key: str, field: Field, uses: Sequence[MapKeys], vocabulary: Vocabulary
) -> Cell:
    lacking = [item for item in uses if key not in item.keys and not item.open]
    if not lacking:
        is_set = bool(uses) and all(key in item.keys for item in uses)
        compared = (Compared(vocabulary.sdk, f"key {path}.{key}"),) if is_set else ()
        return Cell("set" if uses else NOT_COMPARED, compared=compared)
    message = f"{vocabulary.sdk}: {path}: the key {key!r} is not set ({lacking[0].place})"
    difference_id = f"key {path}.{key}"
    finding = Finding(vocabulary.sdk, difference_id, message, Rule.PARITY_FIELD, field.span)
    return Cell(MISSING, (finding,))
