"""Follows calls of Python code to functions of the package, and variables to their values."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from sessiongen.vocabulary.python.literals import dotted, self_attribute
from sessiongen.vocabulary.python.modules import Modules
from sessiongen.vocabulary.python.parsed_module import Module

_Function = ast.FunctionDef | ast.AsyncFunctionDef


class PackageFunction(NamedTuple):
    """A function of the package. owner: the class of a method, None for any other function."""

    node: _Function
    module: Module
    owner: ast.ClassDef | None


def called_function(
    modules: Modules, module: Module, owner: ast.ClassDef | None, call: ast.Call
) -> PackageFunction | None:
    """Returns the function of the package or the method of the class `owner` that a call calls."""
    method = self_attribute(call.func)
    for item in owner.body if method and owner is not None else ():
        if isinstance(item, _Function) and item.name == method:
            return PackageFunction(item, module, owner)
    name = dotted(call.func)
    definition = modules.resolve(module, name) if name else None
    if definition is None or not isinstance(definition.node, _Function):
        return None
    return PackageFunction(definition.node, definition.module, None)


def values_of(name: str, function: ast.AST | None) -> Iterator[ast.expr]:
    """Yields the values that are assigned to a variable of a function."""
    for node in ast.walk(function) if function is not None else ():
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(item, ast.Name) and item.id == name for item in targets):
                yield node.value
