"""Reads which parts of a text Python code leaves out when it fills a field with it.

The class of the text is evaluated as far as constants decide: a method that appends a part only
for a given argument is followed with the arguments of its call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from sessiongen.vocabulary.behaviour_scope import Parts
from sessiongen.vocabulary.behaviours import part_fact
from sessiongen.vocabulary.model import Behaviour
from sessiongen.vocabulary.python.calls import values_of
from sessiongen.vocabulary.python.construction_builder import ConstructionBuilder
from sessiongen.vocabulary.python.literals import dotted, self_attribute
from sessiongen.vocabulary.python.modules import Modules
from sessiongen.vocabulary.python.parsed_module import Module

_MAX_STEPS = 8
_Function = ast.FunctionDef | ast.AsyncFunctionDef
# The constant arguments of a call by parameter; an argument that is not constant has no entry.
_Arguments = Mapping[str, object]


def part_behaviours(
    modules: Modules,
    module: Module,
    constructions: Iterable[ConstructionBuilder],
    parts: Iterable[Parts],
) -> Iterator[Behaviour]:
    """Yields the parts of a text that a field leaves out, for each place that fills the field."""
    for item in parts:
        definitions = modules.locate(item.class_name)
        node = definitions[0].node if len(definitions) == 1 else None
        text = _TextClass(node, item.names) if isinstance(node, ast.ClassDef) else None
        for construction in constructions:
            for name, value in construction.assigned:
                subject = f"{construction.message}.{name}"
                if subject in item.fields:
                    reader = _PartReader(text, construction.function)
                    sent = reader.sent(value, _MAX_STEPS)
                    place = module.place(value)
                    yield part_fact(item.names, sent, subject, construction.within, place)


class _TextClass:
    """A class of texts: the parts that each of its methods and attributes contains."""

    def __init__(self, node: ast.ClassDef, names: tuple[str, ...]) -> None:
        self._names = names
        self._methods = {item.name: item for item in node.body if isinstance(item, _Function)}

    def has_method(self, name: str) -> bool:
        """Whether the class has a method of this name."""
        return name in self._methods

    def method(self, name: str, call: ast.Call | None, outer: _Arguments, steps: int) -> set[str]:
        """Returns the parts in what a method returns. outer: the arguments around the call."""
        function = self._methods[name]
        arguments = _arguments(function, call, outer)
        found: set[str] = set()
        self._block(function.body, arguments, found, steps)
        return found

    def attribute(self, name: str, steps: int) -> set[str] | None:
        """Returns the parts in an attribute, None if the class has no such attribute."""
        if name in self._names:
            return {name}
        return self.method(name, None, {}, steps - 1) if self.has_method(name) and steps else None

    def _block(
        self, body: Iterable[ast.stmt], arguments: _Arguments, found: set[str], steps: int
    ) -> bool:
        """Collects the parts in a block; returns whether it ends the function."""
        for statement in body:
            if isinstance(statement, ast.If):
                decided = _decided(statement.test, arguments)
                blocks = [statement.body] if decided is not False else []
                blocks += [statement.orelse] if decided is not True else []
                ended = [self._block(block, arguments, found, steps) for block in blocks]
                if ended and all(ended):
                    return True
            else:
                self._expression(statement, arguments, found, steps)
                if isinstance(statement, (ast.Return, ast.Raise)):
                    return True
        return False

    def _expression(
        self, node: ast.AST, arguments: _Arguments, found: set[str], steps: int
    ) -> None:
        if isinstance(node, ast.IfExp):
            decided = _decided(node.test, arguments)
            for part, taken in ((node.body, True), (node.orelse, False)):
                if decided is None or decided is taken:
                    self._expression(part, arguments, found, steps)
            return
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            # Of `a or b`, the first that has parts is what is sent.
            for value in node.values:
                before = len(found)
                self._expression(value, arguments, found, steps)
                if len(found) > before:
                    break
            return
        name = self_attribute(node.func if isinstance(node, ast.Call) else node)
        if name in self._names:
            found.add(name)
        elif self.has_method(name) and steps:
            call = node if isinstance(node, ast.Call) else None
            found |= self.method(name, call, arguments, steps - 1)
        for inner in ast.iter_child_nodes(node):
            self._expression(inner, arguments, found, steps)


class _PartReader:
    """Finds where an expression of a function turns a text into a string."""

    def __init__(self, text: _TextClass | None, function: ast.AST | None) -> None:
        self._text = text
        self._function = function
        self._followed: set[str] = set()

    def sent(self, node: ast.expr, steps: int) -> set[str] | None:
        """Returns the parts of the text in an expression, None if it cannot be read."""
        if self._text is None or steps == 0:
            return None
        called = {id(item.func) for item in ast.walk(node) if isinstance(item, ast.Call)}
        found = [
            parts
            for inner in ast.walk(node)
            if id(inner) not in called
            and (parts := self._rendered(self._text, inner, steps)) is not None
        ]
        return set().union(*found) if found else None

    def _rendered(self, text: _TextClass, node: ast.AST, steps: int) -> set[str] | None:
        if isinstance(node, ast.FormattedValue) or (
            isinstance(node, ast.Call) and dotted(node.func) == "str"
        ):
            return text.method("__str__", None, {}, steps) if text.has_method("__str__") else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            return text.method(name, node, {}, steps) if text.has_method(name) else None
        if isinstance(node, ast.Attribute):
            return text.attribute(node.attr, steps)
        if isinstance(node, ast.Name) and node.id not in self._followed:
            self._followed.add(node.id)
            values = [
                parts
                for value in values_of(node.id, self._function)
                if (parts := self.sent(value, steps - 1)) is not None
            ]
            return set().union(*values) if values else None
        return None


def _arguments(function: _Function, call: ast.Call | None, outer: _Arguments) -> _Arguments:
    """Returns the constant arguments of a call, defaults included."""
    parameters = function.args
    positional = [item.arg for item in (*parameters.posonlyargs, *parameters.args)][1:]
    given: dict[str, ast.expr | None] = dict(
        zip(reversed(positional), reversed(parameters.defaults), strict=False)
    )
    given.update(
        zip((item.arg for item in parameters.kwonlyargs), parameters.kw_defaults, strict=True)
    )
    if call is not None:
        given.update(zip(positional, call.args, strict=False))
        given.update((item.arg, item.value) for item in call.keywords if item.arg is not None)
    values: dict[str, object] = {}
    for name, node in given.items():
        if isinstance(node, ast.Constant):
            values[name] = node.value
        elif isinstance(node, ast.Name) and node.id in outer:
            values[name] = outer[node.id]
    return values


def _decided(test: ast.expr, arguments: _Arguments) -> bool | None:
    """Returns the value of a condition that constant arguments decide, None for any other."""
    if isinstance(test, ast.Name) and test.id in arguments:
        return bool(arguments[test.id])
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _decided(test.operand, arguments)
        return None if inner is None else not inner
    if not isinstance(test, ast.Compare) or not isinstance(test.left, ast.Name):
        return None
    other = test.comparators[0]
    if test.left.id not in arguments or not isinstance(other, ast.Constant):
        return None
    equal = arguments[test.left.id] == other.value
    if isinstance(test.ops[0], (ast.Is, ast.Eq)):
        return equal
    return not equal if isinstance(test.ops[0], (ast.IsNot, ast.NotEq)) else None
