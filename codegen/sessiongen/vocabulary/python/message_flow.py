"""Follows a message through a Python function to the code that passes it on.

A message flows through variables, containers, other messages and the parameters of functions of
the package. A call of any other function passes it on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sessiongen.vocabulary.python.classes import ClassView, Function
from sessiongen.vocabulary.python.literals import dotted, last

# Calls that only look at their argument.
_LOOKING = {"bool", "getattr", "hasattr", "id", "isinstance", "len", "print", "repr", "str", "type"}
_LOGGERS = {"log", "logger", "logging", "_logger"}
_VALUES = (
    ast.Await,
    ast.BoolOp,
    ast.Dict,
    ast.GeneratorExp,
    ast.IfExp,
    ast.List,
    ast.ListComp,
    ast.Set,
    ast.Starred,
    ast.Tuple,
)


@dataclass
class Flow:
    """Where values go in a function.

    ends: the ids of the calls and statements that pass one on.
    parameters: the functions of the package that are given one, each with its parameter.
    """

    ends: set[int] = field(default_factory=set)
    parameters: list[tuple[Function, str]] = field(default_factory=list)


class FlowReader:
    """Follows values in the functions that a class calls."""

    def __init__(self, view: ClassView) -> None:
        self._view = view
        self._parents: dict[int, dict[int, ast.AST]] = {}

    def flow(self, function: ast.AST, starts: Iterable[ast.AST]) -> Flow:
        """Returns where the values of some expressions of a function go."""
        result = Flow()
        parents = self._parents_in(function)
        queue, seen = list(starts), set[int]()
        while queue:
            node = queue.pop()
            if id(node) not in seen:
                seen.add(id(node))
                queue += self._step(function, node, parents.get(id(node)), result)
        return result

    def parameter(self, function: ast.AST, name: str) -> Flow:
        """Returns where the value of a parameter of a function goes."""
        return self.flow(function, _loads(function, name))

    def _step(
        self, function: ast.AST, node: ast.AST, parent: ast.AST | None, result: Flow
    ) -> Iterator[ast.AST]:
        """Yields the expressions that have the value of an expression, or contain it."""
        if isinstance(parent, ast.Call):
            yield from self._argument(node, parent, result)
        elif isinstance(parent, ast.IfExp) and node is parent.test:
            return
        elif isinstance(parent, _VALUES):
            yield parent
        elif isinstance(parent, ast.NamedExpr):
            yield parent
            yield from _loads(function, parent.target.id)
        elif isinstance(parent, (ast.Assign, ast.AnnAssign)):
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    yield from _loads(function, target.id)
                else:
                    result.ends.add(id(parent))
        elif isinstance(parent, (ast.Return, ast.Yield, ast.YieldFrom, ast.AugAssign)):
            result.ends.add(id(parent))

    def _argument(self, node: ast.AST, call: ast.Call, result: Flow) -> Iterator[ast.AST]:
        if node is call.func:
            return
        name = last(call.func)
        is_logger = (dotted(call.func) or "").partition(".")[0] in _LOGGERS
        if name in _LOOKING or is_logger:
            return
        called = self._view.called(call)
        parameter = _parameter(called, call, node) if called is not None else None
        if called is not None and parameter is not None:
            result.parameters.append((called, parameter))
            result.ends.add(id(call))
        elif self._view.construction(call) is not None or name[:1].isupper():
            yield call
        else:
            result.ends.add(id(call))

    def _parents_in(self, function: ast.AST) -> dict[int, ast.AST]:
        """Returns the node around each node; that of a keyword argument is the call."""
        parents = self._parents.get(id(function))
        if parents is None:
            parents = self._parents[id(function)] = {}
            for node in ast.walk(function):
                parents.update((id(child), node) for child in ast.iter_child_nodes(node))
                if isinstance(node, ast.keyword):
                    parents[id(node.value)] = parents[id(node)]
        return parents


def _parameter(function: Function, call: ast.Call, node: ast.AST) -> str | None:
    """Returns the parameter of a function that is given an argument of a call."""
    names = [item.arg for item in (*function.args.posonlyargs, *function.args.args)]
    names = names[1:] if names[:1] in (["self"], ["cls"]) else names
    for item in call.keywords:
        if item.value is node:
            return item.arg
    index = next((at for at, item in enumerate(call.args) if item is node), len(names))
    return names[index] if index < len(names) else None


def _loads(function: ast.AST, name: str) -> list[ast.AST]:
    """Returns the places of a function that read a variable."""
    return [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    ]
