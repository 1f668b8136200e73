"""Finds the statements that assign a variable or change a table."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sessiongen.vocabulary.python.literals import last
from sessiongen.vocabulary.python.modules import Definition
from sessiongen.vocabulary.python.parsed_module import inner_bodies

_CHANGING_METHODS = {"clear", "pop", "popitem", "setdefault", "update"}


def assignments_to(name: str, function: ast.AST) -> list[ast.stmt] | None:
    """Returns the statements of a function that determine a variable, None for a parameter.

    A variable that is assigned once has this value wherever it stands; otherwise the innermost
    block with all assignments determines it.
    """
    body = getattr(function, "body", None)
    if not isinstance(body, list):
        return None
    assigning = [item for item in _statements(body) if name in _bound(item)]
    if len(assigning) < 2:
        return assigning or None
    block = body
    while True:
        holding = [item for item in block if assigns(item, name)]
        inner = [part for item in holding for part in inner_bodies(item)]
        whole = [part for part in inner if _count(part, name) == len(assigning)]
        if len(holding) > 1 or not whole:
            return holding
        block = whole[0]


def is_changed(definition: Definition) -> bool:
    """Whether the module of a table assigns it twice, or adds, replaces or removes entries."""
    if len(definition.module.definitions.get(definition.name, ())) > 1:
        return True
    module = definition.module
    if module.changed is None:
        module.changed = frozenset(_changed_names(module.tree))
    return definition.name.rpartition(".")[2] in module.changed


def _changed_names(tree: ast.Module) -> Iterator[str]:
    """Yields the last names of the tables that a module changes in place."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            yield last(node.value)
        elif isinstance(node, ast.AugAssign):
            yield last(node.target)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in _CHANGING_METHODS:
                yield last(node.func.value)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        for part in inner_bodies(statement):
            yield from _statements(part)


def _bound(node: ast.stmt) -> set[str]:
    """Returns the variables that a statement itself assigns."""
    if isinstance(node, ast.Assign):
        return {item.id for target in node.targets for item in _names(target)}
    if isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        has_value = node.value is not None
        return {item.id for item in _names(node.target)} if has_value else set()
    return set()


def _names(target: ast.expr) -> Iterator[ast.Name]:
    for item in ast.walk(target):
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store):
            yield item


def assigns(node: ast.stmt, name: str) -> bool:
    """Whether a statement, or one inside it, assigns a variable."""
    return any(name in _bound(item) for item in _statements([node]))


def _count(body: list[ast.stmt], name: str) -> int:
    return sum(name in _bound(item) for item in _statements(body))
