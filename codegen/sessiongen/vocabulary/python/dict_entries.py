"""Reads the entries of a dict that is passed as keyword arguments."""

from __future__ import annotations

import ast
from copy import deepcopy

from sessiongen.vocabulary.python.assignments import assignments_to
from sessiongen.vocabulary.python.literals import constant

Entries = list[tuple[str, ast.expr]]


def dict_entries(node: ast.expr, function: ast.AST | None) -> Entries | None:
    """Returns the names and values of a dict, None if they are not all known.

    It is a dict, a call of `dict`, one of two dicts by a condition, a dict of constant names that
    is made by a comprehension or by `model_dump`, or a variable of the function that holds one.
    """
    if isinstance(node, ast.Dict):
        return _of_dict(node, function)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
        named = [(item.arg, item.value) for item in node.keywords if item.arg is not None]
        return None if node.args or len(named) < len(node.keywords) else named
    if isinstance(node, ast.DictComp):
        return _of_comprehension(node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _of_dump(node, node.func.value) if node.func.attr == "model_dump" else None
    if isinstance(node, ast.IfExp):
        parts = [dict_entries(item, function) for item in (node.body, node.orelse)]
        return None if None in parts else [entry for part in parts for entry in part or ()]
    if isinstance(node, ast.Name) and function is not None:
        return _of_variable(node.id, function)
    return None


def constant_names(node: ast.expr) -> list[str] | None:
    """Returns the texts in a tuple, list or set of constants, None for any other expression."""
    items = node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else []
    names = [name for item in items if (name := constant(item)) is not None]
    return names if names and len(names) == len(items) else None


def _of_comprehension(node: ast.DictComp) -> Entries | None:
    """Returns the entries of a comprehension over constant names, which are its keys."""
    generator = node.generators[0]
    names = constant_names(generator.iter)
    target = generator.target
    is_key = isinstance(target, ast.Name) and _is_name(node.key, target.id)
    if names is None or not is_key or len(node.generators) > 1 or generator.ifs:
        return None
    assert isinstance(target, ast.Name)
    return [(name, _Replacement(target.id, name).visit(deepcopy(node.value))) for name in names]


def _of_dump(call: ast.Call, owner: ast.expr) -> Entries | None:
    """Returns the entries of `x.model_dump(include={...})`."""
    included = [item.value for item in call.keywords if item.arg == "include"]
    names = constant_names(included[0]) if included and len(call.keywords) == 1 else None
    if names is None:
        return None
    return [
        (name, ast.copy_location(ast.Attribute(owner, name, ast.Load()), call)) for name in names
    ]


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


class _Replacement(ast.NodeTransformer):
    """Replaces a variable by a constant text."""

    def __init__(self, variable: str, text: str) -> None:
        self._variable = variable
        self._text = text

    def visit_Name(self, node: ast.Name) -> ast.expr:
        is_variable = node.id == self._variable
        return ast.copy_location(ast.Constant(self._text), node) if is_variable else node


def _of_dict(node: ast.Dict, function: ast.AST | None) -> Entries | None:
    entries: Entries = []
    for key, value in zip(node.keys, node.values, strict=True):
        name = constant(key)
        inner = [(name, value)] if name is not None else None
        inner = dict_entries(value, function) if key is None else inner
        if inner is None:
            return None
        entries += inner
    return entries


def _of_variable(name: str, function: ast.AST) -> Entries | None:
    """Returns the entries of a variable that is assigned once, with those that are added to it."""
    assigning = assignments_to(name, function) or []
    value = getattr(assigning[0], "value", None) if len(assigning) == 1 else None
    entries = dict_entries(value, function) if isinstance(value, (ast.Dict, ast.Call)) else None
    for node in ast.walk(function) if entries is not None else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if isinstance(node.func.value, ast.Name) and node.func.value.id == name:
                return None
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            target = node.targets[0]
            if isinstance(target.value, ast.Name) and target.value.id == name:
                key = constant(target.slice)
                if key is None or entries is None:
                    return None
                entries.append((key, node.value))
    return entries
