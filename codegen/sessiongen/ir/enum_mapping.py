"""Maps the values of a proto enum to those of an SDK's enum.

A value matches by its name without the common prefix of the enum, compared without case and
with "-" as "_", or by the `sdk_value` annotation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sessiongen.frontend.annotations import Annotated
from sessiongen.diagnostics import Diagnostic, Rule
from sessiongen.ir.name_case import snake
from sessiongen.ir.schema import Enum, EnumValue
from sessiongen.vocabulary.model import EnumFact, Vocabulary, LiteralValue


@dataclass(frozen=True)
class EnumBinding:
    """The SDK's enum that corresponds to a proto enum.

    pairs: the SDK's literal and the proto value; the first of several aliases.
    lost: the SDK's literals that match no proto value, or one that another literal matches.
    """

    fact: EnumFact
    pairs: tuple[tuple[str, EnumValue], ...]
    lost: tuple[LiteralValue, ...]


def bind(enum: Enum, annotated: Annotated, vocabulary: Vocabulary) -> EnumBinding | None:
    """Returns the binding of an enum, or None if the SDK has no such enum."""
    fact = _sdk_enum(enum, annotated, vocabulary)
    if fact is None:
        return None
    by_key = {key: value for key, value in reversed(_comparison_keys(enum, annotated))}
    published = {value.number: value for value in reversed(enum.values)}
    pairs, lost, used = [], [], set()
    for literal in fact.literals:
        value = by_key.get(normalized(literal.value))
        if value is None or value.number in used:
            lost.append(literal)
        else:
            used.add(value.number)
            pairs.append((literal.value, published[value.number]))
    pairs.sort(key=lambda pair: pair[1].number)
    return EnumBinding(fact, tuple(pairs), tuple(lost))


def matching_enums(enum: Enum, annotated: Annotated, vocabulary: Vocabulary) -> list[str]:
    """Returns the names of an SDK's enums whose values are all values of an enum."""
    keys = {key for key, _ in _comparison_keys(enum, annotated)}
    return [
        fact.name
        for fact in vocabulary.enums
        if fact.literals and {normalized(value) for value in fact.values} <= keys
    ]


def fallback_of(enum: Enum, annotated: Annotated) -> EnumValue | None:
    """Returns the value that an enum declares for unknown literals."""
    annotation = annotated.get(enum.full_name, "unknown")
    if annotation is None:
        return None
    return next((value for value in enum.values if value.name == annotation.value), None)


def value_faults(enums: Iterable[Enum], annotated: Annotated) -> list[Diagnostic]:
    """Returns a fault for each value with the same literal as another value of its enum."""
    faults = []
    for enum in enums:
        seen: dict[str, EnumValue] = {}
        for key, value in _comparison_keys(enum, annotated):
            first = seen.setdefault(key, value)
            if first.number != value.number:
                fault = f"{value.name} and {first.name} have the same literal; case is ignored"
                help_ = 'rename one, or annotate it with [(sessiongen.sdk_value) = "..."]'
                faults.append(Diagnostic(value.span, Rule.VALUE_CLASH, fault, help_))
    return faults


def prefix(enum: Enum) -> str:
    """Returns the common prefix of an enum's values: the enum's name if that is a prefix."""
    names = [value.name for value in enum.values]
    name_prefix = f"{snake(enum.path[-1]).upper()}_"
    if all(name.startswith(name_prefix) and name != name_prefix for name in names):
        return name_prefix
    if len(names) < 2:
        return ""
    shortest, longest = min(names), max(names)
    length = 0
    while length < min(len(shortest), len(longest)) and shortest[length] == longest[length]:
        length += 1
    result = shortest[: shortest.rfind("_", 0, length) + 1]
    return result if all(len(name) > len(result) for name in names) else ""


def normalized(name: str) -> str:
    """Returns a name in the form in which names are compared."""
    return name.casefold().replace("-", "_")


def _sdk_enum(enum: Enum, annotated: Annotated, vocabulary: Vocabulary) -> EnumFact | None:
    annotation = annotated.get(enum.full_name, "sdk_enum")
    if annotation is not None:
        return vocabulary.enum(annotation.value)
    name = enum.path[-1].casefold()
    enums = [item for item in vocabulary.enums if item.name.casefold() == name]
    return enums[0] if enums else None


def _comparison_keys(enum: Enum, annotated: Annotated) -> list[tuple[str, EnumValue]]:
    """Returns each value with the key by which it is compared."""
    shared = prefix(enum)
    keys = []
    for value in enum.values:
        annotation = annotated.get(f"{enum.full_name}.{value.name}", "sdk_value")
        keys.append(
            (normalized(annotation.value if annotation else value.name.removeprefix(shared)), value)
        )
    return keys
