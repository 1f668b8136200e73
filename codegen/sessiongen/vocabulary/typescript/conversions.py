"""Finds how TypeScript code converts the SDK's literals for the fields that it fills.

Each value that fills a field is evaluated (see `evaluator`). Values that are not proto values,
or that cannot be evaluated, have no conversion; `parity` reports those that an enum requires.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from tree_sitter import Node

from sessiongen.vocabulary.evaluation import Outcomes, Text, Trace, UnreadableError, outcomes
from sessiongen.vocabulary.expression_evaluator import conversion
from sessiongen.vocabulary.model import Conversion
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.construction_builder import ConstructionBuilder
from sessiongen.vocabulary.typescript.evaluator import Evaluator
from sessiongen.vocabulary.typescript.evaluator_base import NameScope
from sessiongen.vocabulary.typescript.literals import LiteralReader
from sessiongen.vocabulary.typescript.modules import Definition, Modules
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.syntax import CLASSES, FUNCTIONS, class_methods, text

_MISSING = "undefined"
# Values of these kinds are never a value of an enum.
_OTHER_VALUES = {"array", "false", "number", "object", "string", "template_string", "true"}


class ConversionReader:
    """Reads the conversions of the fields that are filled in the files of a package."""

    def __init__(
        self,
        modules: Modules,
        literals: LiteralReader,
        protobuf: tuple[str, str],
        zero_values: frozenset[str],
    ) -> None:
        self._modules = modules
        self._literals = literals
        self._protobuf = protobuf
        self._zero_values = zero_values

    def read(
        self, file: File, constructions: Iterable[ConstructionBuilder]
    ) -> Iterator[Conversion]:
        """Yields the conversions of the messages that a file constructs."""
        for construction in constructions:
            for name, value in construction.assigned:
                if syntax.unwrapped(value).type in _OTHER_VALUES:
                    continue
                try:
                    owner = construction.file_of(value, file)
                    yield from self._conversions(construction, name, value, owner)
                except UnreadableError:
                    continue

    def _conversions(
        self, item: ConstructionBuilder, name: str, value: Node, file: File
    ) -> list[Conversion]:
        return [
            conversion(item.message, name, item.within, item.place, trace, result)
            for trace, result in self._results(value, file, 2)
        ]

    def _results(self, value: Node, file: File, hops: int) -> Iterator[tuple[Trace, Outcomes]]:
        """Yields the outcomes of a value; for a parameter, those of each argument that is passed."""
        arguments = _arguments(value, file) if hops else []
        if arguments:
            for argument in arguments:
                yield from self._results(argument, file, hops - 1)
            return
        trace, owners = Trace(), syntax.enclosing(value, *CLASSES)
        scope = NameScope(file, class_methods(owners[0]) if owners else {})

        def evaluate(literal: Text) -> Any:
            evaluator = Evaluator(self._modules, self._literals, self._protobuf, literal, trace)
            try:
                return evaluator.value(value, replace(scope, names={}))
            finally:
                self._declare(evaluator, value, file)

        yield trace, outcomes(evaluate, trace, _MISSING)

    def _declare(self, evaluator: Evaluator, value: Node, file: File) -> None:
        """Records the literals of the declared type of the converted expression."""
        for source in evaluator.trace.sources:
            head, *names = source.split(".")
            kind = _parameter_type(value, head)
            for name in names:
                target = self._modules.resolve(file, text(kind)) if kind is not None else None
                kind = _field_type(target, name) if target is not None else None
                file = target.file if target is not None else file
            if kind is not None:
                evaluator.declare_type(kind, file)


def _parameter_type(node: Node, name: str) -> Node | None:
    for function in syntax.enclosing(node, *FUNCTIONS):
        for item in syntax.parameters(function):
            if text(item.child_by_field_name("pattern")) == name:
                return syntax.annotation(item)
    return None


def _field_type(definition: Definition, name: str) -> Node | None:
    for node in definition.nodes:
        for item in syntax.walk(node):
            if item.type in {"property_signature", "public_field_definition"}:
                if text(item.child_by_field_name("name")) == name:
                    return syntax.annotation(item)
    return None


def _arguments(value: Node, file: File) -> list[Node]:
    """Returns the arguments that the file passes for a parameter of a named function."""
    inner = syntax.unwrapped(value)
    functions = syntax.enclosing(inner, *FUNCTIONS)
    if inner.type not in {"identifier", "shorthand_property_identifier"} or not functions:
        return []
    names = [text(item.child_by_field_name("pattern")) for item in syntax.parameters(functions[0])]
    if text(inner) not in names:
        return []
    name, index = _name(functions[0]), names.index(text(inner))
    arguments = []
    for call in syntax.walk(file.root) if name else ():
        function = call.child_by_field_name("function") if call.type == "call_expression" else None
        if function is not None and name in {text(function), syntax.this_property(function)}:
            arguments += syntax.arguments(call)[index : index + 1]
    return arguments


def _name(function: Node) -> str:
    name = function.child_by_field_name("name")
    parent = function.parent
    if name is None and parent is not None:
        name = parent.child_by_field_name("name")
    return text(name)
