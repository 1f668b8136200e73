"""Describes what the expressions in a Python function are made from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from sessiongen.vocabulary.python.conditions import Conditions, extra_conditions
from sessiongen.vocabulary.python.function_values import UNITS, FunctionValues, parameters_of
from sessiongen.vocabulary.python.literals import dotted, is_none, last
from sessiongen.vocabulary.python.modules import Modules
from sessiongen.vocabulary.python.parsed_module import Module
from sessiongen.vocabulary.source_text import (
    CHANGING,
    SourceText,
    chosen,
    mentions,
    one_of,
    only,
    takes_milliseconds,
)

_MAX_DEPTH = 12
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_NOW = "the current time"
# Functions that cut a number to a whole one.
_WHOLE = {"int", "round"}
# Methods that return a copy, which is another one if they are given arguments.
_COPIES = {"copy", "model_copy", "_replace"}
# Functions of other packages that return the value that they are given.
_SAME = {"cast", "copy", "deepcopy", "asdict", "run", "to_thread", "wait_for", "shield", "gather"}
_OTHER_CLOCKS = {"monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time"}
# The units of the arguments of `timedelta`, in seconds.
_TIMEDELTA = {"seconds": 1.0, "milliseconds": 1e-3, "microseconds": 1e-6, "minutes": 60.0}


class SourceReader:
    """Describes the expressions of one function."""

    def __init__(self, modules: Modules, module: Module, function: ast.AST | None) -> None:
        self._modules = modules
        self._module = module
        self._function = function
        self._variables = FunctionValues(function)
        # The variables whose values are being described.
        self._described: list[str] = []

    def conditions(self, node: ast.AST, place: ast.AST) -> Conditions:
        """Returns the conditions under which a node runs, beside those of a place.

        A condition on what the node itself names only says whether there is a value.
        """
        if self._function is None:
            return ()
        known = self._variables.conditions()
        extra = extra_conditions(known.get(id(node), ()), known.get(id(place), ()))
        names = list(_names(node)) if extra else []
        return tuple(item for item in extra if not mentions(item, names))

    def describe(self, node: ast.expr, depth: int = _MAX_DEPTH) -> SourceText | None:
        """Returns the source of an expression, None if it has none that can be described."""
        if depth == 0:
            return None
        if isinstance(node, ast.Constant):
            known = node.value is not None and node.value != ""
            return SourceText(constant=ast.unparse(node)) if known else None
        if isinstance(node, ast.Name):
            return self._name(node, depth)
        if isinstance(node, ast.Attribute):
            owner = self.describe(node.value, depth - 1)
            return owner.member(node.attr) if owner is not None and not owner.constant else None
        return self._operation(node, depth - 1)

    def _converted(self, argument: ast.expr, unit: float, depth: int) -> SourceText | None:
        """Returns the source of a Timestamp or Duration that is made from a number."""
        is_whole = False
        while isinstance(argument, ast.Call) and last(argument.func) in _WHOLE:
            is_whole, argument = True, argument.args[0]
        clock = next((it for it in ast.walk(argument) if _is_other_clock(it)), None)
        source = self.describe(argument, depth - 1)
        if clock is not None:
            text = ast.unparse(clock)
            is_value = source is not None and source.is_value
            changed = source.changed(text).times(1 / unit) if source and is_value else None
            return changed or SourceText(constant=text)
        if source is None:
            if _is_local_now(argument):
                return SourceText(constant=ast.unparse(argument))
            now = any(_is_now(item) for item in ast.walk(argument))
            return SourceText(constant=_NOW) if now else None
        source = (
            source.changed(f"int({ast.unparse(argument)})") if is_whole and unit == 1 else source
        )
        return source.times(1 / unit)

    def _name(self, node: ast.Name, depth: int) -> SourceText | None:
        name = node.id
        values = self._variables.of(node)
        conversion = self._variables.conversion(node)
        if conversion is not None:
            return self._converted(*conversion, depth)
        if not values:
            return self._outer_name(name)
        if last(getattr(values[-1], "func", node)) == "GetCurrentTime":
            return SourceText(constant=_NOW)
        # A variable that is computed from itself has no source that can be described.
        if name in self._described:
            return SourceText(root=name) if name in self._variables.parameters else None
        self._described.append(name)
        sources = [
            (
                SourceText()
                if _is_empty(value) and len(values) > 1
                else self.describe(value, depth - 1)
            )
            for value in values
        ]
        self._described.remove(name)
        if sources == [None]:
            # An object that the function computes.
            return SourceText()
        return one_of([(it, self.conditions(at, node)) for it, at in zip(sources, values)])

    def _outer_name(self, name: str) -> SourceText:
        """Returns the source of a parameter, or of a constant of the module."""
        if name in self._variables.parameters:
            return SourceText(root=name)
        definition = self._modules.resolve(self._module, name) if name.isupper() else None
        value = definition.value if definition is not None else None
        return (
            SourceText(constant=ast.unparse(value)) if _is_text_or_number(value) else SourceText()
        )

    def _operation(self, node: ast.expr, depth: int) -> SourceText | None:
        if isinstance(node, ast.Call):
            return self._call(node, depth)
        if isinstance(node, ast.Subscript):
            return self._element(node, depth)
        if isinstance(node, ast.BinOp):
            return self._arithmetic(node, depth)
        if isinstance(node, ast.BoolOp):
            return self._alternatives(node, depth)
        if isinstance(node, (ast.UnaryOp, ast.Compare)):
            inner = only(list(self._operands(node, depth)))
            return inner.changed(ast.unparse(node)) if inner is not None else None
        if isinstance(node, ast.IfExp):
            first, second = (self.describe(item, depth) for item in (node.body, node.orelse))
            return chosen(ast.unparse(node.test), first, second)
        if isinstance(node, (ast.Await, ast.NamedExpr, ast.Starred)):
            return self.describe(node.value, depth)
        if isinstance(node, ast.JoinedStr):
            return self._text(node, depth)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
            return self._comprehension(node, depth)
        return None

    def _operands(self, node: ast.AST, depth: int) -> Iterator[SourceText | None]:
        for item in ast.iter_child_nodes(node):
            if isinstance(item, ast.expr) and not isinstance(item, ast.Constant):
                yield self.describe(item, depth)

    def _alternatives(self, node: ast.BoolOp, depth: int) -> SourceText | None:
        if isinstance(node.op, ast.Or):
            first, *others = [self.describe(item, depth) for item in node.values]
            is_mixed = first is not None and any(
                it and it.path not in ((), first.path) for it in others
            )
            return first.changed(ast.unparse(node)) if first is not None and is_mixed else first
        source = self.describe(node.values[-1], depth)
        first = self.describe(node.values[0], depth)
        if source and first and first.path and source.path[: len(first.path)] != first.path:
            return first.changed(ast.unparse(node))
        return source.only_if(map(ast.unparse, node.values[:-1])) if source is not None else None

    def _element(self, node: ast.Subscript, depth: int) -> SourceText | None:
        if isinstance(node.value, ast.Name) and node.value.id.isupper():
            return self.describe(node.slice, depth)
        owner = self.describe(node.value, depth)
        if owner is None or owner.constant:
            return owner
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            return owner.member(node.slice.value)
        whole = isinstance(node.slice, ast.Slice) and ast.unparse(node.slice) == ":"
        constant = isinstance(node.slice, (ast.Slice, ast.Constant, ast.UnaryOp))
        return owner.changed(f"[{ast.unparse(node.slice)}]") if constant and not whole else owner

    def _text(self, node: ast.JoinedStr, depth: int) -> SourceText | None:
        values = [item.value for item in node.values if isinstance(item, ast.FormattedValue)]
        source = only([self.describe(item, depth) for item in values])
        if source is None:
            source = self.describe(values[0], depth) if values else None
        if source is None or (len(node.values) == 1 and not node.values[0].__dict__["format_spec"]):
            return source
        return source.changed(ast.unparse(node))

    def _comprehension(
        self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, depth: int
    ) -> SourceText | None:
        source = self.describe(node.generators[0].iter, depth)
        tests = [test for item in node.generators for test in item.ifs if not _is_type_test(test)]
        if source is None or not tests:
            return source
        return source.changed(f"if {ast.unparse(tests[0])}")

    def _call(self, node: ast.Call, depth: int) -> SourceText | None:
        name = last(node.func)
        if name in UNITS and node.args:
            return self._converted(node.args[0], UNITS[name], depth)
        seconds = [item.value for item in node.keywords if item.arg == "seconds"]
        if name in {"Duration", "Timestamp"} and seconds:
            is_whole = len(node.keywords) > 1
            if not is_whole:
                return self._converted(seconds[0], 1, depth)
            source = self.describe(seconds[0], depth)
            # The fraction is in another field.
            return source._replace(change="") if source is not None else None
        if name == "GetCurrentTime" or _is_now(node):
            return SourceText(constant=_NOW)
        if name == "getattr" and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
            owner = self.describe(node.args[0], depth)
            return owner.member(str(node.args[1].value)) if owner is not None else None
        if name == "get" and node.args and isinstance(node.func, ast.Attribute):
            return self._looked_up(node.func, node.args[0], depth)
        if name == "timedelta":
            return self._timedelta(node, depth)
        arguments = [self.describe(item, depth) for item in node.args]
        if name in _WHOLE and len(arguments) == 1 and arguments[0] is not None:
            # A number of small units, such as nanoseconds, loses nothing.
            is_cut = arguments[0].factor < 1000
            return arguments[0].changed(ast.unparse(node)) if is_cut else arguments[0]
        # The name of a class says nothing of a source.
        if isinstance(node.func, ast.Attribute) and not node.func.attr[:1].isupper():
            owner = self.describe(node.func.value, depth)
            is_owner = owner is not None and (owner.path or (owner.root and name in _COPIES))
            if owner is not None and is_owner and only(arguments) is None:
                partial = name in _COPIES and bool(node.args or node.keywords)
                return owner.changed(_method(node)) if partial or name in CHANGING else owner
        return self._result(node, name, only(arguments), depth)

    def _looked_up(self, function: ast.Attribute, key: ast.expr, depth: int) -> SourceText | None:
        """Returns the source of `TABLE.get(key)`, or of `values.get("name")`."""
        if isinstance(key, ast.Constant):
            owner = self.describe(function.value, depth)
            return owner.member(str(key.value)) if owner is not None else None
        return self.describe(key, depth)

    def _timedelta(self, node: ast.Call, depth: int) -> SourceText | None:
        keyword = node.keywords[0] if len(node.keywords) == 1 else None
        source = self.describe(keyword.value, depth) if keyword is not None else None
        unit = _TIMEDELTA.get(keyword.arg or "") if keyword is not None else None
        return source.times(unit) if source is not None and unit is not None else source

    def _result(
        self, node: ast.Call, name: str, argument: SourceText | None, depth: int
    ) -> SourceText | None:
        """Returns the source of the result of a function that is given an argument."""
        if argument is None:
            return None
        returned, parameter = self._returned(node.func, depth)
        if returned is None:
            result = argument.through(name)
            is_changed = name in CHANGING or self._is_foreign(node)
            return result.changed(f"{dotted(node.func)}(...)") if is_changed else result
        if takes_milliseconds(name) or takes_milliseconds(f"{parameter}_"):
            # Its parameter is in milliseconds, whatever the name of the argument says.
            return returned.times(1e3).inside(argument).through("ms_")
        return returned.inside(argument)

    def _is_foreign(self, node: ast.Call) -> bool:
        """Whether a call is one of a function in a module of another package."""
        head, dot, _ = (dotted(node.func) or "").partition(".")
        is_local = head in {"self", "cls"} or self._variables.has(head)
        if not dot or is_local or self._modules.resolve(self._module, dotted(node.func) or ""):
            return False
        name = last(node.func)
        return not name[:1].isupper() and name not in _SAME and len(node.args) > 0

    def returned(self, called: ast.expr) -> SourceText | None:
        """Returns what a function of the package makes of its only parameter."""
        return self._returned(called, _MAX_DEPTH)[0]

    def _returned(self, called: ast.expr, depth: int) -> tuple[SourceText | None, str]:
        """Returns what a function of the package makes of its only parameter, and its name."""
        path = dotted(called)
        definition = self._modules.resolve(self._module, path) if path else None
        node = definition.node if definition is not None else None
        if definition is None or not isinstance(node, _FUNCTIONS):
            return None, ""
        returns = [item.value for item in ast.walk(node) if isinstance(item, ast.Return)]
        if len(returns) != 1 or returns[0] is None or len(parameters_of(node)) != 1:
            return None, ""
        reader = SourceReader(self._modules, definition.module, node)
        source = reader.describe(returns[0], depth - 1)
        return (source, source.root) if source is not None and source.root else (None, "")

    def _number(self, node: ast.expr) -> float:
        """Returns the value of a constant number, 0 for any other expression."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            return self._number(node.left) * self._number(node.right)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            return float(self._number(node.left) ** self._number(node.right))
        if isinstance(node, (ast.Name, ast.Attribute)) and (name := dotted(node)) is not None:
            definition = self._modules.resolve(self._module, name)
            value = definition.value if definition is not None else None
            return self._number(value) if value is not None and value is not node else 0.0
        number = node.value if isinstance(node, ast.Constant) else 0
        return float(number) if isinstance(number, (int, float)) else 0.0

    def _arithmetic(self, node: ast.BinOp, depth: int) -> SourceText | None:
        for value, other in ((node.left, node.right), (node.right, node.left)):
            source, number = self.describe(value, depth), self._number(other)
            if source is not None and source.constant == _NOW:
                return source
            if source is None or not source.is_value:
                continue
            if number and isinstance(node.op, ast.Mult):
                return source.times(number)
            if number and isinstance(node.op, ast.Div) and value is node.left:
                return source.times(1 / number)
            return source.changed(ast.unparse(node))
        return None


def _names(node: ast.AST) -> Iterator[str]:
    """Yields the dotted names in an expression, and their beginnings."""
    for item in ast.walk(node):
        if isinstance(item, (ast.Name, ast.Attribute)) and (name := dotted(item)) is not None:
            yield name


def _is_empty(value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return True
    inside = getattr(value, "elts", None) or getattr(value, "keys", None)
    return isinstance(value, (ast.List, ast.Tuple, ast.Dict)) and not inside


def _is_type_test(test: ast.expr) -> bool:
    """Whether a condition only asks for the type of a value, or whether there is one."""
    if isinstance(test, ast.Call):
        return last(test.func) in {"isinstance", "hasattr"}
    is_name = isinstance(test, (ast.Name, ast.Attribute))
    return is_name or (isinstance(test, ast.Compare) and is_none(test.comparators[0]))


def _is_text_or_number(value: ast.expr | None) -> TypeGuard[ast.Constant]:
    return isinstance(value, ast.Constant) and value.value not in (None, "")


def _is_now(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func) == "time.time"


def _is_local_now(node: ast.expr) -> bool:
    """Whether an expression is a time without a zone, which a Timestamp takes for UTC."""
    is_call = isinstance(node, ast.Call) and not (node.args or node.keywords)
    return is_call and isinstance(node, ast.Call) and last(node.func) == "now"


def default_clock(value: ast.expr | None) -> str | None:
    """Returns the time by default of a field, as it is written; None if it has none."""
    for item in value.keywords if isinstance(value, ast.Call) else ():
        if item.arg != "default_factory":
            continue
        called = ast.Call(item.value, [], [])
        body = item.value.body if isinstance(item.value, ast.Lambda) else called
        clocks = (it for it in ast.walk(body) if _is_now(it) or _is_other_clock(it))
        return ast.unparse(body) if any(clocks) else None
    return None


def _is_other_clock(node: ast.AST) -> bool:
    """Whether an expression reads a clock that does not show the time of day."""
    return isinstance(node, ast.Call) and last(node.func) in _OTHER_CLOCKS


def _method(node: ast.Call) -> str:
    assert isinstance(node.func, ast.Attribute)
    arguments = ", ".join(map(ast.unparse, (*node.args, *node.keywords)))
    return f".{node.func.attr}({arguments})"
