"""Finds how Python code converts the SDK's literals for the fields that it fills.

Each value that fills a field is evaluated (see `evaluator`). Values that are not proto values,
or that cannot be evaluated, have no conversion; `parity` reports those that an enum requires.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from sessiongen.vocabulary.evaluation import Outcomes, Text, Trace, UnreadableError, outcomes
from sessiongen.vocabulary.expression_evaluator import conversion
from sessiongen.vocabulary.model import Conversion
from sessiongen.vocabulary.python.construction_builder import ConstructionBuilder
from sessiongen.vocabulary.python.evaluator import Evaluator
from sessiongen.vocabulary.python.evaluator_base import NameScope
from sessiongen.vocabulary.python.literals import LiteralReader, alternatives, dotted, last
from sessiongen.vocabulary.python.modules import Definition, Modules
from sessiongen.vocabulary.python.parsed_module import Module

_MISSING = "None"
_Function = ast.FunctionDef | ast.AsyncFunctionDef
# Values of these kinds are never a value of an enum.
_OTHER_VALUES = (ast.Constant, ast.List, ast.Tuple, ast.ListComp, ast.JoinedStr, ast.Dict)


class ConversionReader:
    """Reads the conversions of the fields that are filled in the modules of a package."""

    def __init__(
        self, modules: Modules, literals: LiteralReader, protobuf: str, zero_values: frozenset[str]
    ) -> None:
        self._modules = modules
        self._literals = literals
        self._protobuf = protobuf
        self._zero_values = zero_values

    def read(
        self, module: Module, constructions: Iterable[ConstructionBuilder]
    ) -> Iterator[Conversion]:
        """Yields the conversions of the messages that a module constructs."""
        for construction in constructions:
            scope = NameScope(module, construction.owner, construction.function)
            for name, value in construction.assigned:
                if isinstance(value, _OTHER_VALUES):
                    continue
                try:
                    yield from self._conversions(construction, name, value, scope)
                except UnreadableError:
                    continue

    def _conversions(
        self, item: ConstructionBuilder, name: str, value: ast.expr, scope: NameScope
    ) -> list[Conversion]:
        return [
            conversion(item.message, name, item.within, item.place, trace, result)
            for trace, result in self._results(value, scope, 2)
        ]

    def _results(
        self, value: ast.expr, scope: NameScope, hops: int
    ) -> Iterator[tuple[Trace, Outcomes]]:
        """Yields the outcomes of a value; for a parameter, those of each argument that is passed."""
        arguments = self._arguments(value, scope) if hops else []
        if arguments:
            for argument, caller in arguments:
                yield from self._results(argument, caller, hops - 1)
            return
        trace = Trace(zero_values=self._zero_values)

        def evaluate(literal: Text) -> Any:
            evaluator = Evaluator(self._modules, self._literals, self._protobuf, literal, trace)
            inner = replace(scope, names={})
            try:
                return evaluator.value(value, inner)
            finally:
                self._declare(evaluator, inner)

        yield trace, outcomes(evaluate, trace, _MISSING)

    def _declare(self, evaluator: Evaluator, scope: NameScope) -> None:
        """Records the literals of the declared type of the converted expression."""
        for source in evaluator.trace.sources:
            annotation = self._annotation(source.split("."), scope)
            if annotation is not None:
                evaluator.declare_type(annotation[0], annotation[1])

    def _annotation(self, path: list[str], scope: NameScope) -> tuple[ast.expr, Module] | None:
        """Returns the type of a path that begins with a parameter, and the module it is in."""
        parameter = next((it for it in _parameters(scope.function) if it.arg == path[0]), None)
        annotation = parameter.annotation if parameter is not None else None
        module = scope.module
        for name in path[1:]:
            definition = self._class_of(annotation, module) if annotation else None
            if definition is None:
                return None
            module, annotation = definition.module, _field_annotation(definition, name)
        return (annotation, module) if annotation is not None else None

    def _class_of(self, annotation: ast.expr, module: Module) -> Definition | None:
        for part in alternatives(annotation):
            definition = self._modules.resolve(module, dotted(part) or "")
            if definition is not None and isinstance(definition.node, ast.ClassDef):
                return definition
        return None

    def _arguments(self, value: ast.expr, scope: NameScope) -> list[tuple[ast.expr, NameScope]]:
        """Returns the arguments that the module passes for a parameter of a function."""
        function = scope.function
        parameters = [item.arg for item in _parameters(function)]
        if not isinstance(function, _Function) or not isinstance(value, ast.Name):
            return []
        if value.id not in parameters or value.id in {"self", "cls"}:
            return []
        index = parameters.index(value.id) - (parameters[:1] in (["self"], ["cls"]))
        arguments = []
        for owner, caller in _functions(scope.module.tree):
            for call in ast.walk(caller):
                if isinstance(call, ast.Call) and last(call.func) == function.name:
                    passed = [*call.args[index : index + 1]]
                    passed += [item.value for item in call.keywords if item.arg == value.id]
                    inner = NameScope(scope.module, owner, caller)
                    arguments += [(item, inner) for item in passed]
        return arguments


def _parameters(function: ast.AST | None) -> list[ast.arg]:
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return []
    arguments = function.args
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def _field_annotation(definition: Definition, name: str) -> ast.expr | None:
    assert isinstance(definition.node, ast.ClassDef)
    for node in definition.node.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if node.target.id == name:
                return node.annotation
    return None


def _functions(tree: ast.Module) -> Iterator[tuple[ast.ClassDef | None, _Function]]:
    """Yields the functions and methods of a module, each with its class."""
    for node in tree.body:
        if isinstance(node, _Function):
            yield None, node
        elif isinstance(node, ast.ClassDef):
            for item in node.body:
                if isinstance(item, _Function):
                    yield node, item
