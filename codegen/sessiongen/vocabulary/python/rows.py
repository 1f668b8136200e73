"""Reads the rows of a constant table that a loop goes through."""

from __future__ import annotations

import ast

from sessiongen.vocabulary.python.calls import values_of
from sessiongen.vocabulary.python.literals import dotted
from sessiongen.vocabulary.python.modules import Modules
from sessiongen.vocabulary.python.parsed_module import Module

_LISTS = (ast.List, ast.Set, ast.Tuple)


def loop_rows(
    modules: Modules, module: Module, function: ast.AST | None, loop: ast.For
) -> dict[str, list[ast.expr]]:
    """Returns the values of each variable of a loop in the order of the rows.

    None are returned if the rows are not all written in one place.
    """
    names = _names(loop.target)
    rows = [_cells(row, len(names)) for row in _rows(modules, module, function, loop.iter)]
    if not names or not rows or None in rows:
        return {}
    return {name: [row[at] for row in rows if row] for at, name in enumerate(names)}


def _names(target: ast.expr) -> list[str]:
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    return names if len(names) == len(parts) else []


def _cells(row: ast.expr, count: int) -> list[ast.expr] | None:
    cells = row.elts if isinstance(row, (ast.Tuple, ast.List)) and count > 1 else [row]
    return cells if len(cells) == count else None


def _rows(
    modules: Modules, module: Module, function: ast.AST | None, node: ast.expr
) -> list[ast.expr]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        table = _value(modules, module, function, node.func.value)
        if node.func.attr == "items" and isinstance(table, ast.Dict):
            pairs = zip(table.keys, table.values, strict=True)
            return [ast.Tuple([key, item], ast.Load()) for key, item in pairs if key is not None]
        return []
    value = _value(modules, module, function, node)
    return value.elts if isinstance(value, _LISTS) else []


def _value(
    modules: Modules, module: Module, function: ast.AST | None, node: ast.expr
) -> ast.expr | None:
    """Returns the table that an expression names, or the expression itself."""
    name = dotted(node)
    if name is None:
        return node
    values = list(values_of(name, function))
    if values:
        return values[0] if len(values) == 1 else None
    definition = modules.resolve(module, name)
    return definition.value if definition is not None else None
