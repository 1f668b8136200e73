"""Reads what Python functions change or leave out when they copy the fields of a message by name.

Such a function is given a message class, and goes through `DESCRIPTOR.fields` in a loop.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from sessiongen.vocabulary.behaviours import COPY, NOTHING
from sessiongen.vocabulary.model import Behaviour
from sessiongen.vocabulary.python.calls import PackageFunction, called_function
from sessiongen.vocabulary.python.construction_builder import ConstructionBuilder
from sessiongen.vocabulary.python.control_flow import conditions, paths_without
from sessiongen.vocabulary.python.literals import dotted, last
from sessiongen.vocabulary.python.modules import Modules
from sessiongen.vocabulary.python.parsed_module import Module
from sessiongen.vocabulary.python.source_reader import SourceReader

# Conditions that say that a field is filled already, or that there is no value for it.
_NO_VALUE = re.compile(r"[\w.]+ in [a-z]\w*|[\w.]+ is None|not \(hasattr\(.*\)\)")
_LOOKUPS = {"get", "getattr", "lookup"}


def copy_behaviours(
    modules: Modules, module: Module, constructions: Iterable[ConstructionBuilder]
) -> Iterator[Behaviour]:
    """Yields what each function changes that a module gives a message class to copy into."""
    classes = {id(item.node): item for item in constructions if item.open}
    functions: dict[int, PackageFunction] = {}
    for node in ast.walk(module.tree) if classes else ():
        for argument in node.args if isinstance(node, ast.Call) else ():
            if isinstance(node, ast.Call) and id(argument) in classes:
                owner = classes[id(argument)].owner
                called = called_function(modules, module, owner, node)
                if called is not None:
                    functions[id(called.node)] = called
    for function in functions.values():
        loops = [item for item in ast.walk(function.node) if _goes_through_fields(item)]
        name, place = function.node.name, function.module.place(function.node)
        for loop in loops:
            if isinstance(loop, ast.For):
                changes = [*_left_out(loop), *_changes(modules, function, loop)]
                yield Behaviour(COPY, name, name, ", ".join(changes) or NOTHING, place)
        if not loops:
            yield Behaviour(COPY, name, name, "", place)


def _goes_through_fields(node: ast.AST) -> bool:
    return isinstance(node, ast.For) and "DESCRIPTOR" in ast.unparse(node.iter)


def _left_out(loop: ast.For) -> Iterator[str]:
    """Yields the conditions under which a field is not copied although there is a value."""
    filling = {
        id(node)
        for node in ast.walk(loop)
        if (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript))
        or (isinstance(node, ast.Call) and last(node.func) in {"setattr", "CopyFrom"})
    }
    for path in paths_without([loop], filling):
        if path and not _NO_VALUE.fullmatch(path[-1].text):
            yield f"left out unless {' and '.join(conditions([path]))}"


def _changes(modules: Modules, function: PackageFunction, loop: ast.For) -> Iterator[str]:
    """Yields how the values are changed that a loop assigns to variables and fields."""
    reader = SourceReader(modules, function.module, None)
    for node in ast.walk(loop):
        if isinstance(node, ast.Assign) and not isinstance(node.value, (ast.Name, ast.Constant)):
            if not _is_lookup(node.value) and not _is_text_map(node.value):
                yield from _change(reader, node.value)


def _change(reader: SourceReader, value: ast.expr) -> Iterator[str]:
    text = f"changed by `{ast.unparse(value)}`"
    returned = reader.returned(value.func) if isinstance(value, ast.Call) else None
    if returned is None or not isinstance(value, ast.Call):
        yield text
    elif returned.factor != 1 or returned.change:
        change = returned.change and f"changed by `{returned.change}`"
        yield f"{change or f'times {returned.factor:g}'} in {last(value.func)}"


def _is_lookup(value: ast.expr) -> bool:
    """Whether a value is that of the SDK's field of the same name."""
    return isinstance(value, ast.Call) and last(value.func) in _LOOKUPS


def _is_text_map(value: ast.expr) -> bool:
    """Whether a value is a map with all its entries, whose values are written as texts."""
    if not isinstance(value, ast.DictComp) or any(item.ifs for item in value.generators):
        return False
    is_text = isinstance(value.value, ast.Call) and dotted(value.value.func) == "str"
    return isinstance(value.key, ast.Name) and (is_text or isinstance(value.value, ast.Name))
