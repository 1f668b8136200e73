"""Reads a table of a class, such as a table of handlers, as pairs of expressions: key and value.

A table is a dict, or a tuple or list of pairs.
"""

from __future__ import annotations

import ast

from sessiongen.vocabulary.python.assignments import assignments_to
from sessiongen.vocabulary.python.literals import self_attribute

Pairs = list[tuple[ast.expr, ast.expr]]


def constant_pairs(node: ast.expr, owner: ast.ClassDef, function: ast.AST) -> Pairs:
    """Returns the pairs of key and value in a table, empty if they are not all known.

    The table is written in place, or it is a variable of the function, an attribute of the class,
    or what a method of the class returns.
    """
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "items":
            return constant_pairs(node.func.value, owner, function)
    value = _value(node, owner, function)
    if isinstance(value, ast.Dict):
        entries = zip(value.keys, value.values, strict=True)
        pairs = [(key, item) for key, item in entries if key is not None]
        return pairs if len(pairs) == len(value.keys) else []
    if isinstance(value, (ast.Tuple, ast.List)):
        rows = [item.elts for item in value.elts if isinstance(item, (ast.Tuple, ast.List))]
        is_whole = len(rows) == len(value.elts) and all(len(row) == 2 for row in rows)
        return [(row[0], row[1]) for row in rows] if is_whole else []
    return []


def _value(node: ast.expr, owner: ast.ClassDef, function: ast.AST) -> ast.expr | None:
    if isinstance(node, ast.Name):
        assigning = assignments_to(node.id, function) or []
        return getattr(assigning[0], "value", None) if len(assigning) == 1 else None
    called = self_attribute(node.func) if isinstance(node, ast.Call) else ""
    for item in owner.body if called else ():
        if isinstance(item, ast.FunctionDef) and item.name == called:
            returns = [it.value for it in ast.walk(item) if isinstance(it, ast.Return)]
            return returns[0] if len(returns) == 1 else None
    name = self_attribute(node)
    values = [value for target, value in _attributes(owner) if name and target == name]
    if name:
        return values[0] if len(values) == 1 else None
    return node


def _attributes(owner: ast.ClassDef) -> list[tuple[str, ast.expr]]:
    """Returns the values that a class and its methods give to its attributes."""
    result = []
    for node in ast.walk(owner):
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
        value = getattr(node, "value", None)
        for target in targets if isinstance(value, ast.expr) else ():
            in_class = target.id if isinstance(target, ast.Name) and node in owner.body else ""
            result.append((self_attribute(target) or in_class, value))
    return [(name, value) for name, value in result if name and isinstance(value, ast.expr)]
