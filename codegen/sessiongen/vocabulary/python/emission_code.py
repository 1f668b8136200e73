"""Reads the code that emits an event: the arguments, and the conditions around the call.

The functions that emit a session's events do much else, so that they are not compared as a whole.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sessiongen.vocabulary.digests import digest
from sessiongen.vocabulary.model import DefinitionFact
from sessiongen.vocabulary.python.definitions import code_of
from sessiongen.vocabulary.python.parsed_module import Module

_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_CONDITIONAL = (ast.If, ast.IfExp, ast.While)


def emission_fact(module: Module, function: ast.AST, call: ast.Call, event: str) -> DefinitionFact:
    """Returns the code of a call that emits an event, named `emit(EVENT)`."""
    code = [code_of(call), *_conditions(_path(function, call))]
    return DefinitionFact(f"emit({event!r})", digest(" ".join(code)), module.place(call))


def _path(node: ast.AST, inner: ast.AST) -> list[ast.AST]:
    """Returns the nodes from one to another inside of it, or nothing."""
    if node is inner:
        return [node]
    for child in ast.iter_child_nodes(node):
        path = _path(child, inner)
        if path:
            return [node, *path]
    return []


def _conditions(path: list[ast.AST]) -> Iterator[str]:
    """Yields the tests around the last node of a path, and those of the guards before it."""
    for outer, inner in zip(path, path[1:], strict=False):
        for name, value in ast.iter_fields(outer):
            is_inside = inner is value or (isinstance(value, list) and inner in value)
            if is_inside and isinstance(outer, _CONDITIONAL) and name != "test":
                yield f"{name} {code_of(outer.test)}"
            if is_inside and isinstance(value, list):
                yield from map(code_of, _guards(value[: value.index(inner)]))


def _guards(statements: list[ast.AST]) -> Iterator[ast.expr]:
    for item in statements:
        if isinstance(item, ast.If) and isinstance(item.body[-1], _LEAVING):
            yield item.test
