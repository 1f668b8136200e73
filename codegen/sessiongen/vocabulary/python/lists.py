"""Reads what Python code does with the lists that fill fields: their order, and what is left out.

An expression is followed through variables, comprehensions, and functions of the package to the
SDK's own list, which is an attribute, a parameter or a table.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from sessiongen.vocabulary.behaviours import ListTrace, list_facts
from sessiongen.vocabulary.model import Behaviour
from sessiongen.vocabulary.python.calls import called_function, values_of
from sessiongen.vocabulary.python.construction_builder import ConstructionBuilder
from sessiongen.vocabulary.python.function_values import FunctionValues
from sessiongen.vocabulary.python.kinds import excluded_kind, is_kind_test
from sessiongen.vocabulary.python.literals import constant, dotted, last
from sessiongen.vocabulary.python.variants import tested_kinds
from sessiongen.vocabulary.python.modules import Modules
from sessiongen.vocabulary.python.parsed_module import Module

_MAX_STEPS = 12
_BUILTINS = {"bool", "bytes", "dict", "float", "int", "list", "str", "tuple"}
_COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.SetComp)
# Expressions that add nothing to what is known of a list.
_VALUES = (ast.Attribute, ast.Constant, ast.JoinedStr, ast.Compare, ast.Dict, ast.DictComp)
# What a call does to the order of its argument.
_ORDERS = {"sorted": "sorted", "reversed": "reversed", "set": "unordered", "frozenset": "unordered"}
_SAME = {"list", "tuple", "iter", "enumerate", "cast"}
# Functions whose result is no list.
_SCALARS = {"str", "int", "float", "bool", "len", "repr", "round"}
# Methods that return the items of their owner in its order, and those that change it in place.
_SAME_METHODS = {"copy", "keys", "values", "items"}
_IN_PLACE = {"sort": "sorted", "reverse": "reversed"}


def list_behaviours(
    modules: Modules,
    module: Module,
    constructions: Iterable[ConstructionBuilder],
    repeated: Collection[str],
) -> Iterator[Behaviour]:
    """Yields the order of each list that fills a repeated field, and what is left out of it."""
    for construction in constructions:
        for name, value in construction.assigned:
            if f"{construction.message}.{name}" not in repeated:
                continue
            trace = ListTrace()
            reader = _ListReader(modules, module, construction.owner, construction.function, trace)
            reader.follow(value, _MAX_STEPS)
            subject = f"{construction.message}.{name}"
            yield from list_facts(trace, subject, construction.within, module.place(value))


class _ListReader:
    """Follows expressions of one function. trace: collects what is done to the list."""

    def __init__(
        self,
        modules: Modules,
        module: Module,
        owner: ast.ClassDef | None,
        function: ast.AST | None,
        trace: ListTrace,
    ) -> None:
        self._modules = modules
        self._module = module
        self._owner = owner
        self._function = function
        self._trace = trace
        self._followed: set[str] = set()

    def follow(self, node: ast.expr, steps: int) -> None:
        """Records what an expression does to the list that it returns."""
        if steps == 0:
            self._trace.readable = False
        elif isinstance(node, _COMPREHENSIONS):
            self._comprehension(node, steps - 1)
        elif isinstance(node, ast.Call):
            self._call(node, steps - 1)
        elif isinstance(node, ast.Name):
            self._name(node, steps - 1)
        elif isinstance(node, ast.Subscript):
            self._subscript(node, steps - 1)
        elif isinstance(node, ast.Set):
            self._trace.orders.add("unordered")
        else:
            self._operation(node, steps - 1)

    def _operation(self, node: ast.expr, steps: int) -> None:
        if isinstance(node, (ast.List, ast.Tuple)):
            self._trace.is_list = True
            for item in node.elts:
                if isinstance(item, ast.Starred):
                    self.follow(item.value, steps)
        elif isinstance(node, ast.BinOp):
            self.follow(node.left, steps)
            self.follow(node.right, steps)
        elif isinstance(node, ast.IfExp):
            self.follow(node.body, steps)
            self.follow(node.orelse, steps)
        elif isinstance(node, ast.BoolOp):
            for value in node.values:
                self.follow(value, steps)
        elif isinstance(node, ast.Await):
            self.follow(node.value, steps)
        elif not isinstance(node, _VALUES):
            self._trace.readable = False

    def _comprehension(
        self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, steps: int
    ) -> None:
        self._trace.is_list = True
        if isinstance(node, ast.SetComp):
            self._trace.orders.add("unordered")
        for generator in node.generators:
            self._conditions(generator.ifs)
            self.follow(generator.iter, steps)

    def _conditions(self, tests: Iterable[ast.expr]) -> None:
        for test in tests:
            kind, kept = excluded_kind(test), tested_kinds(test)
            names = [constant(item) or ast.unparse(item) for item in kept]
            if kind:
                self._trace.kinds.add(kind)
            elif names and all(map(_is_kind, kept)):
                self._trace.kept |= set(names)
            elif not is_kind_test(test):
                self._trace.conditions.add(ast.unparse(test))

    def _call(self, node: ast.Call, steps: int) -> None:
        name = dotted(node.func) or ""
        if name in _ORDERS or name in _SAME:
            self._trace.is_list = True
            self._trace.orders |= {_ORDERS[name]} if name in _ORDERS else set()
            if node.args:
                self.follow(node.args[-1 if name == "cast" else 0], steps)
        elif name == "filter" and len(node.args) == 2:
            self._trace.is_list = True
            self._trace.conditions.add(ast.unparse(node.args[0]))
            self.follow(node.args[1], steps)
        elif name == "map" and len(node.args) == 2:
            self._trace.is_list = True
            self.follow(node.args[1], steps)
        elif isinstance(node.func, ast.Attribute) and node.func.attr in _SAME_METHODS:
            self.follow(node.func.value, steps)
        # A call of a class returns an object, and is no list.
        elif name not in _SCALARS and not last(node.func)[:1].isupper():
            self._called(node, steps)

    def _subscript(self, node: ast.Subscript, steps: int) -> None:
        if isinstance(node.slice, ast.Slice):
            self._trace.is_list = True
            if ast.unparse(node.slice) == "::-1":
                self._trace.orders.add("reversed")
            elif node.slice.lower is not None or node.slice.upper is not None:
                self._trace.conditions.add(f"in [{ast.unparse(node.slice)}]")
        self.follow(node.value, steps)

    def _called(self, node: ast.Call, steps: int) -> None:
        """Follows a function of the package or a method of the class to what it returns."""
        called = called_function(self._modules, self._module, self._owner, node)
        # A recursive function adds nothing that its first call did not.
        if called is None or called.node is self._function:
            self._trace.readable = False
            return
        inner = _ListReader(self._modules, called.module, called.owner, called.node, self._trace)
        for item in ast.walk(called.node):
            if isinstance(item, ast.Return) and item.value is not None:
                inner.follow(item.value, steps)
            elif isinstance(item, ast.For):
                inner._loop(item, "", steps)
        for argument in node.args if self._trace.is_list else ():
            self.follow(argument, steps)

    def _name(self, node: ast.Name, steps: int) -> None:
        """Follows the values of a variable once; a parameter is the SDK's own list."""
        name = node.id
        if name in self._followed:
            return
        self._followed.add(name)
        values = list(values_of(name, self._function))
        if len(values) > 1:
            values = FunctionValues(self._function).reaching(node, values)
        for value in values:
            self.follow(value, steps)
        for item in ast.walk(self._function) if self._function is not None else ():
            if isinstance(item, ast.For):
                self._loop(item, name, steps)
            elif isinstance(item, ast.Call) and isinstance(item.func, ast.Attribute):
                if dotted(item.func.value) == name and item.func.attr in _IN_PLACE:
                    self._trace.orders.add(_IN_PLACE[item.func.attr])

    def _loop(self, loop: ast.For, name: str, steps: int) -> None:
        """Follows the list of a loop that appends to a variable, or yields items if it is ""."""
        for call, tests in _appends(loop.body, name, ()):
            self._trace.is_list = True
            self._conditions(tests)
            if isinstance(call, ast.Call) and last(call.func) == "insert":
                self._trace.orders.add("reversed")
            self.follow(loop.iter, steps)


def _is_kind(node: ast.expr) -> bool:
    """Whether an expression is a tag or a class, not a variable that holds one."""
    name = last(node)
    return constant(node) is not None or name[:1].isupper() or name in _BUILTINS


def _appends(
    body: Iterable[ast.stmt], name: str, tests: tuple[ast.expr, ...]
) -> Iterator[tuple[ast.expr, tuple[ast.expr, ...]]]:
    """Yields what adds an item to a variable, or yields one, each with the conditions around it."""
    for statement in body:
        if isinstance(statement, ast.If):
            first = list(_appends(statement.body, name, (*tests, statement.test)))
            yield from first
            # An item of the first branch is not left out by the others.
            others = tests if first else (*tests, ast.UnaryOp(ast.Not(), statement.test))
            yield from _appends(statement.orelse, name, others)
            if any(isinstance(item, (ast.Continue, ast.Return)) for item in statement.body):
                tests = others
        elif isinstance(statement, (ast.For, ast.With, ast.Try)):
            yield from _appends(statement.body, name, tests)
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Yield):
            if not name:
                yield statement.value, tests
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            call = statement.value
            if dotted(call.func) in {
                f"{name}.{method}" for method in ("append", "insert", "add", "extend")
            }:
                yield call, tests
