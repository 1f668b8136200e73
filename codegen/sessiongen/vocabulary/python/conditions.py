"""Finds the conditions under which the statements of a Python function run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

Conditions = tuple[str, ...]


def conditions_of(function: ast.AST) -> dict[int, Conditions]:
    """Returns the conditions of each node in a function by the node's id, outer ones first."""
    result: dict[int, Conditions] = {}
    if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        _record(function.body, (), result)
    return result


def extra_conditions(inner: Conditions, outer: Conditions) -> Conditions:
    """Returns the conditions of a node that do not hold where another node runs."""
    return tuple(item for item in inner if item not in outer)


def are_exclusive(first: Conditions, second: Conditions) -> bool:
    """Whether two nodes are in different branches of one condition, or cases of one `match`."""
    opposite = {f"not ({item})" for item in first}
    if opposite & {*second} or {f"not ({item})" for item in second} & {*first}:
        return True
    cases = dict(item.split(" is ", 1) for item in first if _is_case(item))
    others = dict(item.split(" is ", 1) for item in second if _is_case(item))
    return any(cases[subject] != others[subject] for subject in cases.keys() & others.keys())


def _is_case(condition: str) -> bool:
    return " is " in condition and " is not " not in condition


def negated(test: ast.expr) -> str:
    """Returns the opposite of a condition, as a text."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return ast.unparse(test.operand)
    return f"not ({ast.unparse(test)})"


def _record(body: list[ast.stmt], conditions: Conditions, result: dict[int, Conditions]) -> None:
    for statement in body:
        blocks = list(_blocks(statement))
        inside = {id(item) for _, block in blocks for item in block}
        for node, known in _outside(statement, inside, conditions):
            result[id(node)] = known
        for known, block in blocks:
            _record(block, (*conditions, *known), result)


def _outside(
    statement: ast.AST, inside: set[int], conditions: Conditions
) -> Iterator[tuple[ast.AST, Conditions]]:
    """Yields the nodes of a statement that are in none of its blocks, with their conditions."""
    stack = [(statement, conditions)]
    while stack:
        node, known = stack.pop()
        if id(node) in inside:
            continue
        yield node, known
        if isinstance(node, ast.IfExp):
            stack.append((node.test, known))
            stack.append((node.body, (*known, ast.unparse(node.test))))
            stack.append((node.orelse, (*known, negated(node.test))))
        else:
            stack += [(item, known) for item in ast.iter_child_nodes(node)]


def _blocks(statement: ast.stmt) -> Iterator[tuple[Conditions, list[ast.stmt]]]:
    """Yields the blocks of a statement, each with its conditions."""
    if isinstance(statement, ast.If):
        yield tuple(map(ast.unparse, _parts(statement.test))), statement.body
        yield (negated(statement.test),), statement.orelse
    elif isinstance(statement, ast.Match):
        subject = ast.unparse(statement.subject)
        for case in statement.cases:
            yield (f"{subject} is {ast.unparse(case.pattern)}",), case.body
    elif not isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        for name in ("body", "orelse", "finalbody"):
            yield (), getattr(statement, name, [])
        for handler in getattr(statement, "handlers", ()):
            raised = ast.unparse(handler.type) if handler.type else "an error"
            yield (f"it raises {raised}",), handler.body


def _parts(test: ast.expr) -> list[ast.expr]:
    """Returns the conditions that all hold where a condition holds."""
    is_and = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)
    return test.values if isinstance(test, ast.BoolOp) and is_and else [test]
