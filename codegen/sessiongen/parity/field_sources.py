"""Compares what each function of an SDK fills a field from with the field's own source.

Findings are: a constant, the value of another field, a factor that the units do not explain,
another change of the value, and a value that is sent only under a condition which does not
concern it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from math import isclose

from sessiongen.ir.name_case import snake
from sessiongen.ir.record_mapping import spellings
from sessiongen.ir.schema import Field, Kind, Message
from sessiongen.vocabulary.model import FieldFact, FieldSource, Place, Record, Vocabulary


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
    record: Record | None,
) -> Iterator[tuple[FieldSource, str]]:
    """Yields each source that differs from the field's own, and how it does.

    names: the names of the field in the SDK. own: the field of the SDK's class, if it has one.
    record: that class.
    """
    others = {item.name for item in message.fields if item.name != field.name}
    for source in sources:
        if field.value.kind is Kind.ENUM:
            # What becomes of the value is evaluated; see `enum_conversions`.
            source = source._replace(change="")
        if field.value.kind is Kind.INT and source.change.startswith("int("):
            source = source._replace(change="")
        why = _fault(source, {snake(name) for name in names}, own, others)
        if not why and own is None and record is not None and source.path in names:
            why = f"is filled from {source.path}, which is no field of {record.name}"
        if why:
            yield source, why


def elsewhere(
    message: Message, field: Field, vocabulary: Vocabulary, vocabularies: Iterable[Vocabulary]
) -> Iterator[tuple[FieldSource, str]]:
    """Yields each source of a field that no other SDK fills it from, where another one is read.

    Nothing but the other SDKs says what a field is filled from if no class has it.
    """
    others = {
        _spelled(item.path): item.path
        for each in vocabularies
        if each.sdk != vocabulary.sdk
        for item in sources_of(message, each).get(field.name, ())
        if item.path
    }
    for source in sources_of(message, vocabulary).get(field.name, ()):
        if source.path and others and _spelled(source.path) not in others:
            paths = ", ".join(sorted(set(others.values())))
            yield source, f"is filled from {source.path}, elsewhere from {paths}"


def _spelled(path: str) -> str:
    """Returns a path without the differences in spelling between languages."""
    return path.replace("_", "").casefold()


def request_faults(
    path: Sequence[str], leaves: Collection[str], sources: Iterable[FieldSource]
) -> Iterator[tuple[FieldSource, str]]:
    """Yields each source of a request's field that a driver should not fill it from, and why.

    path: the names from the request to the field. leaves: the paths of all fields of the request,
    joined as a parameter's name would be. A parameter may have the name of the field alone.
    """
    joined = "_".join(path)
    others = {leaf for leaf in leaves if leaf != joined}
    names = {joined, path[-1]}
    for source in sources:
        why = _fault(source, names, None, others)
        if why:
            yield source, why


def _fault(
    source: FieldSource, names: Collection[str], own: FieldFact | None, others: Collection[str]
) -> str:
    if source.constant:
        return f"is always {source.constant}"
    path = source.path or source.parameter
    parts = [_spellings(part) for part in path.split(".")]
    taken = any(part & set(names) for part in parts)
    # A function may name its parameter as it likes, but not like another field.
    if not taken and ((own is not None and source.path) or parts[-1] & set(others)):
        return f"is filled from {path}"
    if not _explained(path, source.factor):
        return f"is filled from {path} times {source.factor:g}"
    if source.change:
        return f"is filled from {path}, which is changed by `{source.change}`"
    # Without an SDK class for the message, nothing says which of its fields are optional.
    is_partial = bool(source.condition) and own is not None
    return f"is filled only if {source.condition}" if is_partial else ""


def _spellings(name: str) -> set[str]:
    """Returns the names that a field of the SDK may stand for, without its unit."""
    return spellings(FieldFact(name, "", False, Place("", 1)))


def _explained(path: str, factor: float) -> bool:
    """Whether the unit in the name of the source explains what it is multiplied by."""
    milliseconds = snake(path.rpartition(".")[2]).endswith("_ms")
    return isclose(factor, 1e-3 if milliseconds else 1.0)
