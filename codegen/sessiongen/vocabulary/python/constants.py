"""Reads constants of a Python SDK whose values the protocol fixes, such as a topic or a timeout."""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterable, Iterator

from sessiongen.vocabulary.model import ConstantFact
from sessiongen.vocabulary.python.literals import dotted
from sessiongen.vocabulary.python.modules import Definition, Modules
from sessiongen.vocabulary.python.parsed_module import Module
from sessiongen.vocabulary.scope import FixedValue, value_text

_MAX_STEPS = 20
# A shift of more bits is no size or time.
_MAX_SHIFT = 64
_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}


def fixed_values(modules: Modules, wanted: Iterable[FixedValue]) -> Iterator[ConstantFact]:
    """Yields each value; one that cannot be read is empty."""
    for item in wanted:
        found = _expression(modules, item.definition)
        value = evaluated(modules, *found) if found else None
        text = value_text(value) if value is not None else ""
        place = found[0].place(found[1]) if found else None
        yield ConstantFact(item.name, item.definition, item.value, text, place)


def _expression(modules: Modules, path: str) -> tuple[Module, ast.expr] | None:
    """Returns the value of a constant, or the default of `Class.method.parameter`."""
    name, *rest = path.split(".")
    definitions = modules.locate(name)
    # Two definitions may have different values, and the one that is used is not known.
    if len(definitions) != 1:
        return None
    definition = definitions[0]
    if not rest:
        nodes = definition.module.definitions[name]
        return (
            (definition.module, definition.value) if definition.value and len(nodes) == 1 else None
        )
    default = _default(definition, *rest) if len(rest) == 2 else None
    return (definition.module, default) if default is not None else None


def _default(definition: Definition, method: str, parameter: str) -> ast.expr | None:
    for node in definition.node.body if isinstance(definition.node, ast.ClassDef) else ():
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == method:
            return default_of(node, parameter)
    return None


def default_of(function: ast.FunctionDef | ast.AsyncFunctionDef, parameter: str) -> ast.expr | None:
    """Returns the default of a function's parameter, None if it has none."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    last = positional[len(positional) - len(arguments.defaults) :]
    pairs = [
        *zip(last, arguments.defaults),
        *zip(arguments.kwonlyargs, arguments.kw_defaults),
    ]
    return next((value for item, value in pairs if item.arg == parameter), None)


def evaluated(
    modules: Modules, module: Module, node: ast.expr, steps: int = _MAX_STEPS
) -> str | int | float | None:
    """Returns the value of a constant expression, None for any other expression."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) in (str, int, float) else None  # type: ignore[return-value]
    name = dotted(node)
    definition = modules.resolve(module, name) if name and steps else None
    if definition is not None and definition.value is not None:
        return evaluated(modules, definition.module, definition.value, steps - 1)
    if not isinstance(node, ast.BinOp) or not steps:
        return None
    left = evaluated(modules, module, node.left, steps - 1)
    right = evaluated(modules, module, node.right, steps - 1)
    if isinstance(left, str) or isinstance(right, str) or left is None or right is None:
        return None
    if isinstance(node.op, ast.LShift) and isinstance(left, int) and isinstance(right, int):
        return left << right if 0 <= right <= _MAX_SHIFT else None
    function = _OPERATORS.get(type(node.op))
    result: int | float | None = function(left, right) if function else None
    return result
