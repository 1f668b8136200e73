"""Finds what Python code fills the fields of messages from."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from sessiongen.vocabulary.model import FieldSource
from sessiongen.vocabulary.python.constructions import ConstructionBuilder
from sessiongen.vocabulary.python.literals import last
from sessiongen.vocabulary.python.parsed_module import Module
from sessiongen.vocabulary.source_text import SourceText, chosen, only

_MAX_DEPTH = 12
# The methods of Timestamp and Duration that take a number, with the number for a second.
_UNITS = {
    "FromNanoseconds": 1e9,
    "FromMicroseconds": 1e6,
    "FromMilliseconds": 1e3,
    "FromSeconds": 1.0,
}


def field_sources(
    module: Module, constructions: Iterable[ConstructionBuilder]
) -> Iterator[FieldSource]:
    """Yields the source of each field that a module fills, where it can be described."""
    for construction in constructions:
        reader = _SourceReader(construction.function)
        for name, value in construction.assigned:
            source = reader.describe(value)
            if source is not None and (source.path or source.constant):
                yield FieldSource(
                    construction.message,
                    name,
                    construction.within,
                    module.place(value),
                    ".".join(source.path),
                    source.constant,
                    source.factor,
                    source.condition,
                )


class _SourceReader:
    """Describes the expressions of one function."""

    def __init__(self, function: ast.AST | None) -> None:
        self._function = function
        self._values: dict[str, list[ast.expr]] = {}
        self._conversions: dict[str, list[tuple[ast.expr, float]]] = {}
        for node in ast.walk(function) if function is not None else ():
            if isinstance(node, (ast.Assign, ast.AnnAssign)):
                self._assignment(node)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                owner, unit = node.func.value, _UNITS.get(node.func.attr)
                if isinstance(owner, ast.Name) and unit is not None and node.args:
                    self._conversions.setdefault(owner.id, []).append((node.args[0], unit))

    def _assignment(self, node: ast.Assign | ast.AnnAssign) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if isinstance(target, ast.Name) and node.value is not None:
                self._values.setdefault(target.id, []).append(node.value)

    def describe(self, node: ast.expr, depth: int = _MAX_DEPTH) -> SourceText | None:
        """Returns the source of an expression, None if it has none that can be described."""
        if depth == 0:
            return None
        if isinstance(node, ast.Constant):
            known = node.value is not None and node.value != ""
            return SourceText(constant=ast.unparse(node)) if known else None
        if isinstance(node, ast.Name):
            return self._name(node.id, depth)
        if isinstance(node, ast.Attribute):
            owner = self.describe(node.value, depth - 1)
            return owner.member(node.attr) if owner is not None and not owner.constant else None
        return self._operation(node, depth - 1)

    def _name(self, name: str, depth: int) -> SourceText | None:
        values = self._values.get(name, [])
        if name in self._conversions and len(self._conversions[name]) == 1:
            argument, unit = self._conversions[name][0]
            source = self.describe(argument, depth - 1)
            return source.times(1 / unit) if source is not None else None
        if not values:
            return SourceText()
        return self.describe(values[0], depth - 1) if len(values) == 1 else None

    def _operation(self, node: ast.expr, depth: int) -> SourceText | None:
        if isinstance(node, ast.Call):
            return self._call(node, depth)
        if isinstance(node, ast.Subscript):
            table = isinstance(node.value, ast.Name) and node.value.id.isupper()
            return self.describe(node.slice if table else node.value, depth)
        if isinstance(node, ast.BinOp):
            return self._product(node, depth)
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            return self.describe(node.values[0], depth)
        if isinstance(node, ast.IfExp):
            first, second = (self.describe(item, depth) for item in (node.body, node.orelse))
            return chosen(ast.unparse(node.test), first, second)
        if isinstance(node, ast.Await):
            return self.describe(node.value, depth)
        return None

    def _call(self, node: ast.Call, depth: int) -> SourceText | None:
        if last(node.func) == "get" and node.args:
            return self.describe(node.args[0], depth)
        arguments = [self.describe(item, depth) for item in node.args]
        # The name of a class says nothing of a source.
        if isinstance(node.func, ast.Attribute) and not node.func.attr[:1].isupper():
            owner = self.describe(node.func.value, depth)
            if owner is not None and owner.path and only(arguments) is None:
                return owner
        argument = only(arguments)
        return argument.through(last(node.func) or "") if argument is not None else None

    def _product(self, node: ast.BinOp, depth: int) -> SourceText | None:
        source, number = self.describe(node.left, depth), _number(node.right)
        if source is None or not source.path or not number:
            return None
        if isinstance(node.op, ast.Mult):
            return source.times(number)
        return source.times(1 / number) if isinstance(node.op, ast.Div) else None


def _number(node: ast.expr) -> float:
    """Returns the value of a constant number, 0 for any other expression."""
    value = node.value if isinstance(node, ast.Constant) else 0
    return float(value) if isinstance(value, (int, float)) else 0.0
