"""What the evaluators of all languages share: nesting, conditions, comparisons and proto values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sessiongen.vocabulary.evaluation import (
    MAX_DEPTH,
    Outcomes,
    ProtoPath,
    ProtoValue,
    Text,
    Trace,
    UnreadableError,
)
from sessiongen.vocabulary.model import Conversion, Place

_Node = TypeVar("_Node")
_Scope = TypeVar("_Scope")


@dataclass(frozen=True)
class Result:
    """The value that a `return` statement returns."""

    value: Any


class Break(Exception):
    """A `break` statement was executed."""


class Continue(Exception):
    """A `continue` statement was executed."""


class ExpressionEvaluator(ABC, Generic[_Node, _Scope]):
    """Evaluates expressions for one literal. literal: the value of what cannot be resolved."""

    def __init__(self, literal: Text, trace: Trace) -> None:
        self.literal = literal
        self.trace = trace
        self._depth = 0

    def value(self, node: _Node, scope: _Scope) -> Any:
        """Returns the value of an expression.

        Raises:
            UnreadableError: the expression is not supported.
            RaisedError: its evaluation raises an exception.
        """
        self._depth += 1
        try:
            if self._depth > MAX_DEPTH:
                raise UnreadableError(node, "the conversion is nested too deeply")
            return self.evaluate(node, scope)
        finally:
            self._depth -= 1

    @abstractmethod
    def evaluate(self, node: _Node, scope: _Scope) -> Any:
        """Returns the value of an expression by its kind."""

    def condition(self, node: _Node, scope: _Scope) -> bool:
        """Returns whether a condition holds."""
        return self.truth(self.value(node, scope))

    @abstractmethod
    def truth(self, value: Any) -> bool:
        """Returns whether a value counts as true; a proto value whose number is zero does not."""

    def equal(self, left: Any, right: Any) -> bool:
        """Compares two values; the compared texts are recorded."""
        self.trace.compare(left, right)
        if isinstance(left, Text) and isinstance(right, Text):
            return left.value == right.value
        return type(left) is type(right) and bool(left == right)

    def text(self, value: Any, node: _Node) -> Text:
        """Returns a value that must be a text."""
        if not isinstance(value, Text):
            raise UnreadableError(node, "the value is not a string")
        return value

    def declare_literals(self, literals: Iterable[Any]) -> None:
        """Records the literals of a declared type."""
        for item in literals:
            self.trace.declared.setdefault(item.value, Text(item.value, item.member))

    def read_source(self, node: _Node, path: str) -> Text:
        """Returns the literal for an expression that the package does not define."""
        self.trace.sources.add(path)
        if len(self.trace.sources) > 1:
            raise UnreadableError(node, "the value depends on more than one expression")
        return self.literal


def proto_value(path: Iterable[str], name: str) -> ProtoPath | ProtoValue:
    """Returns what a path in the package of messages refers to. name: how the code writes it."""
    value: ProtoPath | ProtoValue = ProtoPath()
    for part in path:
        if not isinstance(value, ProtoPath):
            raise UnreadableError(None, f"`{name}` is not a proto value")
        value = value.below(part)
    return value


def conversion(
    message: str, field: str, within: str, place: Place, trace: Trace, result: Outcomes
) -> Conversion:
    """Returns the conversion of a field, under the name of its table or of the function around it."""
    name = trace.table or within.rpartition(".")[2]
    return Conversion(message, field, within, place, name, result.pairs, result.default)
