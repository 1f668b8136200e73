"""Compares what each function of an SDK fills a field from with the field's own source.

Findings are: a constant, the value of another field, a factor that the units do not explain,
another change of the value, and a value that is sent only under a condition which does not
concern it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from math import isclose

from sessiongen.ir.name_case import snake
from sessiongen.ir.record_mapping import spellings
from sessiongen.ir.schema import Field, Message
from sessiongen.vocabulary.model import FieldFact, FieldSource, Place, Vocabulary


def sources_of(message: Message, vocabulary: Vocabulary) -> dict[str, list[FieldSource]]:
    """Returns the sources of a message's fields by field, one for each place that fills it."""
    path = ".".join(message.path)
    sources: dict[str, list[FieldSource]] = {}
    for item in vocabulary.sources:
        if item.message == path:
            sources.setdefault(item.field, []).append(item)
    return sources


def faults(
    message: Message,
    field: Field,
    names: Collection[str],
    own: FieldFact | None,
    sources: list[FieldSource],
) -> Iterator[tuple[FieldSource, str]]:
    """Yields each source that differs from the field's own, and how it does.

    names: the names of the field in the SDK. own: the field of the SDK's class, if it has one.
    """
    others = {item.name for item in message.fields if item.name != field.name}
    for source in sources:
        why = _fault(source, {snake(name) for name in names}, own, others)
        if why:
            yield source, why


def _fault(
    source: FieldSource, names: Collection[str], own: FieldFact | None, others: Collection[str]
) -> str:
    if source.constant:
        return f"is always {source.constant}"
    parts = [_spellings(part) for part in source.path.split(".")]
    taken = any(part & set(names) for part in parts)
    if not taken and (own is not None or parts[-1] & set(others)):
        return f"is filled from {source.path}"
    if not _explained(source):
        return f"is filled from {source.path} times {source.factor:g}"
    if source.change:
        return f"is filled from {source.path}, which is changed by `{source.change}`"
    # Without an SDK class for the message, nothing says which of its fields are optional.
    is_partial = bool(source.condition) and own is not None
    return f"is filled only if {source.condition}" if is_partial else ""


def _spellings(name: str) -> set[str]:
    """Returns the names that a field of the SDK may stand for, without its unit."""
    return spellings(FieldFact(name, "", False, Place("", 1)))


def _explained(source: FieldSource) -> bool:
    """Whether the unit in the name of the source explains what it is multiplied by."""
    milliseconds = snake(source.path.rpartition(".")[2]).endswith("_ms")
    return isclose(source.factor, 1e-3 if milliseconds else 1.0)
