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
class Binding:
    """The SDK's enum with the meaning of a proto enum, value by value.

    pairs: SDK spelling and proto value; of aliases the first, which is the one written.
    lost: SDK words that no proto value matches, or only one that another word has taken.
    """

    fact: EnumFact
    pairs: tuple[tuple[str, EnumValue], ...]
    lost: tuple[LiteralValue, ...]


def bind(enum: Enum, annotated: Annotated, vocabulary: Vocabulary) -> Binding | None:
    """Return the binding of an enum, or None if the SDK has no such enum."""
    fact = _twin(enum, annotated, vocabulary)
    if fact is None:
        return None
    by_key = {key: value for key, value in reversed(_keys(enum, annotated))}
    published = {value.number: value for value in reversed(enum.values)}
    pairs, lost, taken = [], [], set()
    for word in fact.literals:
        value = by_key.get(normal(word.value))
        if value is None or value.number in taken:
            lost.append(word)
        else:
            taken.add(value.number)
            pairs.append((word.value, published[value.number]))
    pairs.sort(key=lambda pair: pair[1].number)
    return Binding(fact, tuple(pairs), tuple(lost))


def fallback_of(enum: Enum, annotated: Annotated) -> EnumValue | None:
    """Return the value that an enum declares for what it does not know."""
    note = annotated.get(enum.full_name, "unknown")
    if note is None:
        return None
    return next((value for value in enum.values if value.name == note.value), None)


def value_faults(enums: Iterable[Enum], annotated: Annotated) -> list[Diagnostic]:
    """Return a fault for each value that falls together with another of its enum."""
    faults = []
    for enum in enums:
        seen: dict[str, EnumValue] = {}
        for key, value in _keys(enum, annotated):
            first = seen.setdefault(key, value)
            if first.number != value.number:
                fault = (
                    f"{value.name} and {first.name} are one value to an SDK: case does not count"
                )
                help_ = 'rename one, or annotate it with [(sessiongen.sdk_value) = "..."]'
                faults.append(Diagnostic(value.span, Rule.VALUE_CLASH, fault, help_))
    return faults


def prefix(enum: Enum) -> str:
    """Return the prefix that an enum's values share: its own name's if that is one."""
    names = [value.name for value in enum.values]
    own = f"{snake(enum.path[-1]).upper()}_"
    if all(name.startswith(own) and name != own for name in names):
        return own
    if len(names) < 2:
        return ""
    shortest, longest = min(names), max(names)
    shared = 0
    while shared < min(len(shortest), len(longest)) and shortest[shared] == longest[shared]:
        shared += 1
    found = shortest[: shortest.rfind("_", 0, shared) + 1]
    return found if all(len(name) > len(found) for name in names) else ""


def normal(name: str) -> str:
    """Return a spelling as values are compared."""
    return name.casefold().replace("-", "_")


def _twin(enum: Enum, annotated: Annotated, vocabulary: Vocabulary) -> EnumFact | None:
    note = annotated.get(enum.full_name, "sdk_enum")
    if note is not None:
        return vocabulary.enum(note.value)
    wanted = enum.path[-1].casefold()
    found = [item for item in vocabulary.enums if item.name.casefold() == wanted]
    return found[0] if found else None


def _keys(enum: Enum, annotated: Annotated) -> list[tuple[str, EnumValue]]:
    """Return each value with the spelling that it is compared by."""
    shared = prefix(enum)
    keys = []
    for value in enum.values:
        note = annotated.get(f"{enum.full_name}.{value.name}", "sdk_value")
        keys.append((normal(note.value if note else value.name.removeprefix(shared)), value))
    return keys
