"""Compares map keys: the constant keys that each SDK puts into a map field.

There is a row for each key that any SDK sets. An SDK that does not set it has a finding,
unless it also sets keys that could not be read. If one SDK writes the value as JSON and
another as text of its language, each of them has a finding.
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
        forms = [_forms(key, sdk_uses) for sdk_uses in uses]
        cells = [
            _with_form(
                _cell(f"{path}.{field.name}", key, field, sdk_uses, vocabulary),
                f"{path}.{field.name}.{key}",
                field,
                vocabulary,
                own,
                forms,
            )
            for sdk_uses, vocabulary, own in zip(uses, vocabularies, forms, strict=True)
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


def _forms(key: str, uses: Sequence[MapKeys]) -> frozenset[str]:
    """Returns the forms in which an SDK writes the value of a key."""
    return frozenset(form for item in uses for name, form in item.forms if name == key)


def _with_form(
    cell: Cell,
    name: str,
    field: Field,
    vocabulary: Vocabulary,
    own: frozenset[str],
    forms: Sequence[frozenset[str]],
) -> Cell:
    """Returns the cell of a key with the form of its value, if that is known."""
    if not own:
        return cell
    text, difference_id = ", ".join(sorted(own)), f"form {name}"
    others = sorted(frozenset().union(*(item for item in forms if item != own)))
    if not others:
        known = [item for item in forms if item]
        # Without a second SDK whose code can be read, nothing was compared.
        same = (Compared(vocabulary.sdk, difference_id),) if len(known) > 1 else ()
        return cell._replace(text=text, compared=(*cell.compared, *same))
    message = f"{vocabulary.sdk}: {name} is written as {text}, elsewhere as {', '.join(others)}"
    finding = Finding(vocabulary.sdk, difference_id, message, Rule.PARITY_FIELD, field.span)
    return cell._replace(text=text, findings=(*cell.findings, finding))
