"""Finds what Python code fills the fields of messages from."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from sessiongen.vocabulary.model import FieldSource
from sessiongen.vocabulary.python.construction_builder import ConstructionBuilder
from sessiongen.vocabulary.python.function_values import parameters_of
from sessiongen.vocabulary.python.literals import self_attribute
from sessiongen.vocabulary.python.modules import Modules
from sessiongen.vocabulary.python.parsed_module import Module
from sessiongen.vocabulary.python.source_reader import SourceReader
from sessiongen.vocabulary.source_text import SourceText


def field_sources(
    modules: Modules, module: Module, constructions: Iterable[ConstructionBuilder]
) -> Iterator[FieldSource]:
    """Yields the source of each field that a module fills, where it can be described."""
    readers: dict[int, SourceReader] = {}
    calls = _Calls(module)
    for construction in constructions:
        function = construction.function
        if id(function) not in readers:
            readers[id(function)] = SourceReader(modules, module, function)
        reader = readers[id(function)]
        for name, value in construction.assigned:
            source = reader.describe(value)
            if construction.open and (source is None or not (source.is_value or source.constant)):
                # It takes the place of the value that would be copied.
                source = SourceText(constant=ast.unparse(value))
            if source is not None and (source.is_value or source.constant):
                source = source.only_if(reader.conditions(value, construction.node))
                place = module.place(value)
                yield source.of_field(construction.message, name, construction.within, place)
                if source.root and not source.path and construction.function is not None:
                    for argument, caller, within in calls.arguments(
                        construction.function, source.root
                    ):
                        passed = SourceReader(modules, module, caller).describe(argument)
                        if passed is not None and passed.path:
                            inside = source.inside(passed)
                            place = module.place(argument)
                            yield inside.of_field(construction.message, name, within, place)


class _Calls:
    """The calls in a module of its own functions and methods, by the name of what is called."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._calls: dict[str, list[tuple[ast.Call, ast.AST, str]]] | None = None

    def arguments(
        self, function: ast.AST, parameter: str
    ) -> Iterator[tuple[ast.expr, ast.AST, str]]:
        """Yields each argument that is passed for a parameter, with the caller and its name."""
        if self._calls is None:
            self._calls = {}
            for name, item in _callers(self._module.tree):
                self._calls.setdefault(name, []).append(item)
        names = parameters_of(function)
        index = names.index(parameter) if parameter in names else len(names)
        for call, caller, within in self._calls.get(getattr(function, "name", ""), ()):
            for argument in call.args[index : index + 1]:
                yield argument, caller, within
            for keyword in call.keywords:
                if keyword.arg == parameter:
                    yield keyword.value, caller, within


def _callers(tree: ast.Module) -> Iterator[tuple[str, tuple[ast.Call, ast.AST, str]]]:
    """Yields the calls of functions of a module and of methods of `self`, with their callers."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    owners: list[ast.Module | ast.ClassDef] = [tree, *classes]
    for owner in owners:
        prefix = f"{owner.name}." if isinstance(owner, ast.ClassDef) else ""
        for caller in owner.body:
            if not isinstance(caller, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            for node in ast.walk(caller):
                if isinstance(node, ast.Call):
                    called = node.func.id if isinstance(node.func, ast.Name) else ""
                    name = called or self_attribute(node.func)
                    if name:
                        yield name, (node, caller, f"{prefix}{caller.name}")
