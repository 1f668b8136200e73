"""Describes what the expressions in TypeScript code are made from."""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose

from tree_sitter import Node

from sessiongen.vocabulary.source_text import (
    CHANGING,
    SourceText,
    chosen,
    one_of,
    only,
    takes_milliseconds,
)
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.calls import function_of, returned
from sessiongen.vocabulary.typescript.conditions import extra_conditions
from sessiongen.vocabulary.typescript.modules import Modules
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.syntax import FUNCTIONS, NAMES, text

_MAX_DEPTH = 12
_CONSTANTS = {"true", "false", "number", "string"}
_EMPTY = {"null", "undefined"}
# What constructs Timestamp and Duration from a number of milliseconds.
_FROM_MILLISECONDS = {"durationFromMs", "fromDate", "timestampFromDate", "timestampFromMs"}
_FROM_DATES = {"fromDate", "timestampFromDate"}
_TIMES = {"Duration", "Timestamp"}
_NOW = "the current time"

# A variable's value, and the member of it that the variable is bound to.
_Value = tuple[Node, str]


class SourceReader:
    """Describes the expressions of one file."""

    def __init__(self, modules: Modules, file: File) -> None:
        self._modules = modules
        self._file = file
        self._variables: dict[int, dict[str, list[_Value]]] = {}
        # The variables whose values are being described.
        self._described: list[tuple[int, str]] = []

    def describe(self, node: Node, depth: int = _MAX_DEPTH) -> SourceText | None:
        """Returns the source of an expression, None if it has none that can be described."""
        node = syntax.unwrapped(node)
        if depth == 0:
            return None
        if node.type in _CONSTANTS:
            return SourceText(constant=text(node)) if syntax.constant(node) != "" else None
        if node.type in NAMES or node.type == "this":
            return self._name(node, depth - 1)
        member = syntax.member(node)
        # The name of a class says nothing of a source.
        if member is not None and not member[1][:1].isupper():
            owner = self.describe(member[0], depth - 1)
            return owner.member(member[1]) if owner is not None and not owner.constant else None
        return self._operation(node, depth - 1)

    def _name(self, node: Node, depth: int) -> SourceText | None:
        functions = syntax.enclosing(node, *FUNCTIONS)
        if node.type == "this" or not functions:
            return SourceText()
        outermost = functions[-1]
        if outermost.id not in self._variables:
            self._variables[outermost.id] = _variables(outermost)
        values = self._variables[outermost.id].get(text(node), [])
        if not values:
            return _parameter(text(node), functions)
        # A variable that is computed from itself has no source that can be described.
        key = (outermost.id, text(node))
        if key in self._described:
            return None
        self._described.append(key)
        sources = [self._bound(value, len(values) > 1, depth) for value in values]
        self._described.remove(key)
        if sources == [None]:
            # An object that the function computes.
            return SourceText()
        conditions = [extra_conditions(value, node) for value, _ in values]
        return one_of(list(zip(sources, conditions)))

    def _bound(self, value: _Value, is_one_of: bool, depth: int) -> SourceText | None:
        node, member = value
        inner = syntax.unwrapped(node)
        if is_one_of and _is_empty(inner):
            return SourceText()
        source = self.describe(inner, depth)
        return source.member(member) if source is not None and member else source

    def _operation(self, node: Node, depth: int) -> SourceText | None:
        if node.type in {"call_expression", "new_expression"}:
            return self._call(node, depth)
        if node.type == "subscript_expression":
            return self._element(node, depth)
        if node.type == "binary_expression":
            return self._binary(node, depth)
        if node.type == "unary_expression":
            operand = node.child_by_field_name("argument")
            inner = syntax.unwrapped(operand) if operand is not None else node
            if inner.type == "unary_expression" and text(node).startswith("!!"):
                return self.describe(inner.named_children[-1], depth)
            source = self.describe(inner, depth) if operand is not None else None
            return source.changed(text(node)) if source is not None and source.is_value else None
        if node.type == "template_string":
            return self._template(node, depth)
        if node.type == "ternary_expression":
            parts = (node.child_by_field_name(name) for name in ("consequence", "alternative"))
            first, second = (self.describe(part, depth) if part else None for part in parts)
            return chosen(text(node.child_by_field_name("condition")), first, second)
        if node.type == "await_expression":
            return self.describe(node.named_children[0], depth)
        return None

    def _element(self, node: Node, depth: int) -> SourceText | None:
        table, index = (node.child_by_field_name(name) for name in ("object", "index"))
        if table is None or index is None:
            return None
        if text(table).rpartition(".")[2].isupper():
            return self.describe(index, depth)
        owner = self.describe(table, depth)
        if owner is None or owner.constant:
            return owner
        if index.type == "number":
            return owner.changed(f"[{text(index)}]")
        name = syntax.constant(index)
        return owner.member(name) if name is not None else owner

    def _template(self, node: Node, depth: int) -> SourceText | None:
        parts = [item for item in node.named_children if item.type != "escape_sequence"]
        values = [
            item.named_children[0]
            for item in parts
            if item.type == "template_substitution" and item.named_children
        ]
        sources = [self.describe(item, depth) for item in values]
        source = only(sources) or (sources[0] if sources else None)
        if source is None or not source.is_value or len(parts) == len(node.named_children) == 1:
            return source
        return source.changed(text(node))

    def _call(self, node: Node, depth: int) -> SourceText | None:
        function = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        if text(function) in {"Date", "Date.now", "Timestamp.now"} and not syntax.arguments(node):
            return SourceText(constant=_NOW)
        arguments = [self.describe(item, depth) for item in syntax.arguments(node)]
        member = syntax.member(function)
        name = member[1] if member is not None else text(function)
        if name in _TIMES and node.type == "new_expression":
            return self._seconds_and_nanos(node, depth)
        now = SourceText(constant=_NOW)
        if now in arguments or (not arguments and self._returned_values(node) == [now]):
            return now
        if member is not None and name == "get" and arguments:
            return arguments[0]
        if member is not None:
            owner = self.describe(member[0], depth)
            if owner is not None and owner.is_value and only(arguments) is None:
                return owner.changed(_method(node)) if self._is_changing(node, name) else owner
        return self._result(node, name, only(arguments), depth)

    def _is_changing(self, call: Node, name: str) -> bool:
        if name == "filter":
            return not all(_is_type_filter(self._function(it)) for it in syntax.arguments(call))
        return name in CHANGING

    def _function(self, node: Node) -> Node:
        """Returns the function of the package that a name stands for, else the node itself."""
        named = node.type == "identifier"
        definition = self._modules.resolve(self._file, text(node)) if named else None
        function = function_of(definition) if definition is not None else None
        return function or node

    def _result(
        self, node: Node, name: str, argument: SourceText | None, depth: int
    ) -> SourceText | None:
        """Returns the source of the result of a function that is given an argument."""
        if argument is None:
            return None
        if name in _FROM_MILLISECONDS:
            given = syntax.unwrapped(syntax.arguments(node)[0])
            # A value that is a date already has no unit.
            is_date = name in _FROM_DATES and given.type != "new_expression"
            return argument if is_date else argument.times(1e-3)
        result, parameter = self._returned(node, depth)
        if result is None:
            whole = argument.through(name)
            unknown = name in CHANGING or self._is_foreign(name)
            return whole.changed(f"{name}(...)") if unknown else whole
        if takes_milliseconds(name) or takes_milliseconds(f"{parameter}_"):
            # Its parameter is in milliseconds, whatever the name of the argument says.
            return result.times(1e3).inside(argument).through("ms_")
        return result.inside(argument)

    def _is_foreign(self, name: str) -> bool:
        """Whether a function is imported, and its code is not in the package."""
        return name in self._file.imports and self._modules.resolve(self._file, name) is None

    def _returned_values(self, call: Node) -> list[SourceText | None]:
        """Returns the sources of what a function of the package returns."""
        function = call.child_by_field_name("function")
        named = function is not None and function.type == "identifier"
        definition = self._modules.resolve(self._file, text(function)) if named else None
        target = function_of(definition) if definition is not None else None
        if definition is None or target is None:
            return []
        reader = SourceReader(self._modules, definition.file)
        return [reader.describe(value, 3) for value in returned(target)]

    def _returned(self, call: Node, depth: int) -> tuple[SourceText | None, str]:
        """Returns what a function of the package makes of its only parameter, and its name."""
        name = call.child_by_field_name("function")
        if name is None or name.type != "identifier":
            return None, ""
        definition = self._modules.resolve(self._file, text(name))
        function = function_of(definition) if definition is not None else None
        values = list(returned(function)) if function is not None else []
        if definition is None or function is None or len(values) != 1:
            return None, ""
        if len(syntax.parameters(function)) != 1:
            return None, ""
        source = SourceReader(self._modules, definition.file).describe(values[0], depth - 1)
        return (source, source.root) if source is not None and source.root else (None, "")

    def _seconds_and_nanos(self, node: Node, depth: int) -> SourceText | None:
        """Returns the source of `new Duration({ seconds, nanos })`."""
        fields = {name: value for item in syntax.arguments(node) for name, value in _pairs(item)}
        seconds = self.describe(fields["seconds"], depth) if "seconds" in fields else None
        if seconds is None or not seconds.is_value:
            return None
        nanos = self.describe(fields["nanos"], depth) if "nanos" in fields else SourceText()
        if nanos is None or (nanos.is_value and isclose(nanos.factor, seconds.factor * 1e9)):
            return seconds
        return seconds.changed(f"nanos: {text(fields.get('nanos'))}")

    def _binary(self, node: Node, depth: int) -> SourceText | None:
        left, right = (node.child_by_field_name(name) for name in ("left", "right"))
        operator = text(node.child_by_field_name("operator"))
        if left is None or right is None:
            return None
        if operator in {"??", "||"}:
            return self.describe(left, depth)
        if operator == "&&":
            source = self.describe(right, depth)
            return source.only_if([text(left)]) if source is not None else None
        for value, other in ((left, right), (right, left)):
            source, number = self.describe(value, depth), _number(other)
            if source is None or not source.is_value:
                continue
            if number and operator == "*":
                return source.times(number)
            if number and operator == "/" and value is left:
                return source.times(1 / number)
            return source.changed(text(node))
        return None


def _variables(function: Node) -> dict[str, list[_Value]]:
    """Returns the values of the variables in a function."""
    variables: dict[str, list[_Value]] = {}
    for item in syntax.walk(function):
        name, value = None, None
        if item.type == "variable_declarator":
            name, value = item.child_by_field_name("name"), item.child_by_field_name("value")
        elif item.type == "assignment_expression":
            name, value = item.child_by_field_name("left"), item.child_by_field_name("right")
        if name is not None and value is not None:
            for variable, member in syntax.bindings(name):
                variables.setdefault(variable, []).append((value, member))
    return variables


def _parameter(name: str, functions: list[Node]) -> SourceText:
    """Returns the source of a parameter, or of a member of one that is taken apart."""
    for function in functions:
        for item in syntax.parameters(function):
            pattern = item.child_by_field_name("pattern")
            for variable, member in syntax.bindings(pattern) if pattern is not None else ():
                if variable == name:
                    return SourceText(path=(member,) if member else (), root=name)
    return SourceText()


def _pairs(node: Node) -> Iterator[tuple[str, Node]]:
    for item in node.named_children if node.type == "object" else ():
        if item.type == "shorthand_property_identifier":
            yield text(item), item
        elif item.type == "pair" and (value := item.child_by_field_name("value")) is not None:
            yield text(item.child_by_field_name("key")), value


def _is_empty(node: Node) -> bool:
    constant = node.type in _CONSTANTS | _EMPTY
    return constant or (node.type in {"array", "object"} and not node.named_children)


def _is_type_filter(function: Node) -> bool:
    """Whether a filter only asks for the type of an item, or whether there is one."""
    body = function.child_by_field_name("body")
    if text(function) == "Boolean" or body is None:
        return text(function) == "Boolean"
    has_predicate = "type_predicate" in {item.type for item in syntax.walk(function)}
    return not any(text(item) in {"&&", "||"} for item in syntax.walk(body)) and (
        has_predicate or "null" in text(body) or "undefined" in text(body)
    )


def _method(call: Node) -> str:
    member = syntax.member(call.child_by_field_name("function"))
    name = member[1] if member is not None else ""
    return f".{name}{text(call.child_by_field_name('arguments'))}"


def _number(node: Node) -> float:
    """Returns the value of a constant number, 0 for any other expression."""
    try:
        return float(text(node).replace("_", ""))
    except ValueError:
        return 0.0
