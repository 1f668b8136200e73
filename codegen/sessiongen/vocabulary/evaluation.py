"""Values of the evaluators that find out which proto value a literal of an SDK becomes.

An SDK converts its literals in many forms: a table, a function, a chain of conditions. A reader
therefore evaluates the converting expression once for each literal, instead of recognizing
each form. The evaluator of a language raises `UnreadableError` for code that it does not support, so
that a conversion is either known for every literal or not known at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

# A literal that no SDK has. Its outcome is what literals without a pair become.
OTHER = "\0other"
# How many literals a conversion may have, and how deep expressions and calls may be nested.
_MAX_LITERALS = 200
MAX_DEPTH = 60


class UnreadableError(Exception):
    """Code that is not evaluated. node: the part of the syntax tree; why: for a diagnostic."""

    def __init__(self, node: object, why: str) -> None:
        super().__init__(why)
        self.node = node
        self.why = why


class RaisedError(Exception):
    """The evaluated code raises an exception of its own. name: the class of that exception."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class Text(NamedTuple):
    """A string or a member of an enum. member: the member's name."""

    value: str
    member: str | None = None


class LiteralSet(NamedTuple):
    """An enum of the SDK, or another set of literals that has a name."""

    members: tuple[Text, ...]


class ProtoPath(NamedTuple):
    """A name inside the package of messages: empty for the package itself."""

    names: tuple[str, ...] = ()

    def below(self, name: str) -> ProtoPath | ProtoValue:
        """Returns what a name in this namespace refers to; values of enums are upper case."""
        if name.isupper():
            return ProtoValue(name)
        return ProtoPath((*self.names, name))


class ProtoValue(NamedTuple):
    """A value of a proto enum."""

    name: str


@dataclass
class Table:
    """A mapping. name: the name of its definition.

    default: returns the value of a missing key; None if a missing key has no value.
    """

    entries: dict[str, Any] = field(default_factory=dict)
    keys: dict[str, Text] = field(default_factory=dict)
    name: str | None = None
    default: Callable[[], Any] | None = None

    def add(self, key: Text, value: Any) -> None:
        """Adds an entry; a later entry of the same key replaces it."""
        self.entries[key.value] = value
        self.keys[key.value] = key

    def update(self, other: Table) -> None:
        """Adds the entries of another mapping."""
        self.entries.update(other.entries)
        self.keys.update(other.keys)


@dataclass
class Trace:
    """What an evaluation meets. literals: texts that the converted literal is compared with.

    table: the first table or function with a name that the literal is converted with.
    sources: the expressions that stand for the literal.
    declared: the literals of the declared type of the converted value.
    zero_values: the proto values whose number is zero, which languages take for false.
    """

    literals: dict[str, Text] = field(default_factory=dict)
    table: str | None = None
    sources: set[str] = field(default_factory=set)
    declared: dict[str, Text] = field(default_factory=dict)
    zero_values: frozenset[str] = frozenset()

    def compare(self, left: Any, right: Any) -> None:
        """Records two values that are compared."""
        for value in (left, right):
            if isinstance(value, Text) and OTHER.strip("\0") not in value.value.casefold():
                self.literals.setdefault(value.value, value)

    def look_up(self, table: Table) -> None:
        """Records the keys of a table in which the literal is looked up."""
        for key in table.keys.values():
            self.compare(key, None)


class Outcomes(NamedTuple):
    """The proto value of each literal, and what any other literal becomes."""

    pairs: tuple[tuple[str, str], ...]
    default: str


def outcomes(evaluate: Callable[[Text], Any], trace: Trace, missing: str) -> Outcomes:
    """Returns what each literal becomes.

    evaluate: returns the value of the expression for one literal.
    missing: how the language writes a missing value.

    Raises:
        UnreadableError: for some literal, the value is neither a proto value nor missing.
    """
    default = _outcome(evaluate, Text(OTHER), missing)
    pairs: dict[str, str] = {}
    while pending := [item for key, item in trace.literals.items() if key not in pairs]:
        for text in pending[:_MAX_LITERALS]:
            pairs[text.value] = _outcome(evaluate, text, missing)
        if len(pairs) > _MAX_LITERALS:
            raise UnreadableError(None, "there are too many literals")
    # By name, every literal of the declared type has an outcome.
    for text in trace.declared.values():
        if text.value not in pairs and not trace.literals:
            pairs[text.value] = _outcome(evaluate, text, missing)
    converted = {key: value for key, value in pairs.items() if value.isupper()}
    if not converted and not default.isupper():
        raise UnreadableError(None, "the literals of the value are not known")
    return Outcomes(tuple(sorted(converted.items())), default)


def _outcome(evaluate: Callable[[Text], Any], literal: Text, missing: str) -> str:
    try:
        value = evaluate(literal)
    except RaisedError as error:
        return error.name
    if isinstance(value, ProtoValue):
        return value.name
    if value is None:
        return missing
    raise UnreadableError(None, "the value is not a value of a proto enum")


def is_other(text: str) -> bool:
    """Whether a text was made of the literal that no SDK has."""
    return "\0" in text


def pairs_table(items: Iterable[Any], node: object) -> Table:
    """Returns the table of pairs of key and value."""
    table = Table()
    for item in items:
        if not (isinstance(item, (list, tuple)) and not isinstance(item, Text) and len(item) == 2):
            raise UnreadableError(node, "an entry is not a pair of key and value")
        if not isinstance(item[0], Text):
            raise UnreadableError(node, "a key is not a constant")
        table.add(item[0], item[1])
    return table
