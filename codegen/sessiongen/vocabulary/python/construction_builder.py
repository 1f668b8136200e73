"""Collects what Python code fills a message with."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import NamedTuple

from sessiongen.vocabulary.model import Construction, Place

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class ConstructionBuilder:
    """A construction that is being collected. node: the call, parameter or name it comes from.

    values: the last value of each field. assigned: every value of every field.
    owner, function: the class and the function around it.
    """

    message: str
    within: str
    place: Place
    node: ast.AST
    fields: set[str] = field(default_factory=set)
    values: dict[str, ast.expr] = field(default_factory=dict)
    assigned: list[tuple[str, ast.expr]] = field(default_factory=list)
    open: bool = False
    owner: ast.ClassDef | None = None
    function: ast.AST | None = None

    def fill(self, name: str, value: ast.expr | None) -> None:
        """Adds a filled field; an empty constant does not fill it."""
        if value is None or not _is_empty(value):
            self.fields.add(name)
        if value is not None:
            self.values[name] = value
            self.assigned.append((name, value))

    def build(self) -> Construction:
        """Returns the finished fact."""
        return Construction(self.message, self.within, self.open, self.place, tuple(self.fields))


class CallSite(NamedTuple):
    """A call of a function by its name or of a method by `self`, and the code around it."""

    node: ast.Call
    within: str
    owner: ast.ClassDef | None
    function: ast.AST | None


class ForwardedFields(NamedTuple):
    """A message whose fields the callers of a function name.

    name: the parameter with the name of a field; "" for all keyword arguments. value: the
    parameter with its value; "" for any other value.
    """

    construction: ConstructionBuilder
    function: Function
    name: str = ""
    value: str = ""


def is_kwargs(node: ast.expr, function: ast.AST | None) -> bool:
    """Whether an expression is the parameter of a function for all other keyword arguments."""
    kwargs = function.args.kwarg if isinstance(function, Function) else None
    return isinstance(node, ast.Name) and kwargs is not None and kwargs.arg == node.id


def is_parameter(name: str, function: ast.AST | None) -> bool:
    """Whether a name is a parameter of a function."""
    if not isinstance(function, Function):
        return False
    arguments = function.args
    items = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return name in {item.arg for item in items}


def _is_empty(value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return value.value in (None, "")
    inside = getattr(value, "elts", None) or getattr(value, "keys", None)
    return isinstance(value, (ast.List, ast.Tuple, ast.Dict)) and not inside
