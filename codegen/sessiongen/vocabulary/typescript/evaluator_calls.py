"""Evaluates calls: lookups in tables, methods of strings and lists, and functions of the package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tree_sitter import Node

from sessiongen.vocabulary.evaluation import (
    Table,
    Text,
    UnreadableError,
    pairs_table,
)
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.evaluator_base import (
    BaseEvaluator,
    Function,
    NameScope,
    unpacked,
)
from sessiongen.vocabulary.typescript.statements import run
from sessiongen.vocabulary.typescript.syntax import text

_TEXT_METHODS: dict[str, Callable[[str], str]] = {
    "toLowerCase": str.lower,
    "toUpperCase": str.upper,
    "trim": str.strip,
    "toString": str,
}
_GLOBALS = {"Object", "Array", "String"}


def construct(evaluator: BaseEvaluator, node: Node, scope: NameScope) -> Any:
    """Returns the value of `new Map(...)` or `new Set(...)`."""
    kind = text(node.child_by_field_name("constructor"))
    arguments = [evaluator.value(item, scope) for item in syntax.arguments(node)]
    if kind == "Map":
        table = Table()
        for argument in arguments[:1]:
            entries = argument if isinstance(argument, Table) else pairs_table(argument, node)
            table.update(entries)
        return table
    if kind == "Set":
        return evaluator.listed(arguments[0], node) if arguments else []
    raise UnreadableError(node, "this object is not evaluated")


def call(evaluator: BaseEvaluator, node: Node, scope: NameScope) -> Any:
    """Returns the value of a call."""
    function = node.child_by_field_name("function")
    assert function is not None
    inner = syntax.unwrapped(function)
    member = syntax.member(inner)
    if text(inner) == "String":
        return evaluator.value(syntax.arguments(node)[0], scope)
    if member is not None and text(member[0]) in _GLOBALS:
        return _global(evaluator, node, member[1], scope)
    if member is not None and syntax.unwrapped(member[0]).type != "this":
        return _method(evaluator, node, member, scope)
    value = evaluator.value(inner, scope)
    arguments = [evaluator.value(item, scope) for item in syntax.arguments(node)]
    if isinstance(value, Function):
        name = value.name or text(value.node.child_by_field_name("name"))
        evaluator.trace.table = evaluator.trace.table or name or None
        return apply(evaluator, value, arguments, node)
    raise UnreadableError(node, "this call is not evaluated")


def apply(evaluator: BaseEvaluator, function: Function, arguments: list[Any], node: Node) -> Any:
    """Returns what a function returns for its arguments."""
    names: dict[str, Any] = {}
    parameters = syntax.parameters(function.node)
    single = function.node.child_by_field_name("parameter")
    if single is not None and arguments:
        names[text(single)] = arguments[0]
    for index, item in enumerate(parameters):
        pattern, default = item.child_by_field_name("pattern"), item.child_by_field_name("value")
        if pattern is None:
            raise UnreadableError(item, "this parameter is not evaluated")
        if index < len(arguments):
            names.update(unpacked(pattern, arguments[index]))
        else:
            missing = evaluator.value(default, function.scope) if default is not None else None
            names.update(unpacked(pattern, missing))
    evaluator.declare(function, names)
    return run(evaluator, function, names)


def _global(evaluator: BaseEvaluator, node: Node, name: str, scope: NameScope) -> Any:
    """Returns the value of a method of `Object` or `Array`."""
    arguments = [evaluator.value(item, scope) for item in syntax.arguments(node)]
    first = arguments[0] if arguments else None
    if name == "freeze":
        return first
    if name == "fromEntries":
        return pairs_table(evaluator.listed(first, node), node)
    if name == "assign" and all(isinstance(item, Table) for item in arguments):
        table = Table()
        for item in arguments:
            table.update(item)
        return table
    if name == "hasOwn" and isinstance(first, Table):
        evaluator.trace.look_up(first)
        return evaluator.text(arguments[1], node).value in first.entries
    if name in {"entries", "from"}:
        return evaluator.listed(first, node)
    if name == "values":
        return (
            list(first.entries.values())
            if isinstance(first, Table)
            else evaluator.listed(first, node)
        )
    if name == "keys":
        return (
            list(first.keys.values())
            if isinstance(first, Table)
            else _names(evaluator, first, node)
        )
    raise UnreadableError(node, "this call is not evaluated")


def _names(evaluator: BaseEvaluator, value: Any, node: Node) -> list[Text]:
    """Returns the names of the members of an enum."""
    return [Text(item.member or item.value) for item in evaluator.listed(value, node)]


def _method(
    evaluator: BaseEvaluator, node: Node, member: tuple[Node, str], scope: NameScope
) -> Any:
    owner_node, name = syntax.unwrapped(member[0]), member[1]
    if evaluator.is_opaque(owner_node, scope) and name not in {*_TEXT_METHODS, "replace"}:
        if syntax.arguments(node):
            raise UnreadableError(node, "this call is not evaluated")
        return evaluator.source(node)
    owner = evaluator.value(owner_node, scope)
    arguments = [evaluator.value(item, scope) for item in syntax.arguments(node)]
    if isinstance(owner, Table):
        return _table_method(evaluator, owner, name, arguments, node)
    if isinstance(owner, Text):
        return _text_method(evaluator, owner, name, arguments, node)
    if isinstance(owner, list):
        return _list_method(evaluator, owner, name, arguments, node)
    raise UnreadableError(node, "this call is not evaluated")


def _table_method(
    evaluator: BaseEvaluator, table: Table, name: str, arguments: list[Any], node: Node
) -> Any:
    if name == "get" and arguments:
        return evaluator.look_up(table, arguments[0])
    if name in {"has", "hasOwnProperty"} and arguments:
        evaluator.trace.look_up(table)
        return evaluator.text(arguments[0], node).value in table.entries
    if name == "entries":
        return evaluator.listed(table, node)
    raise UnreadableError(node, "this method of a table is not evaluated")


def _text_method(
    evaluator: BaseEvaluator, owner: Text, name: str, arguments: list[Any], node: Node
) -> Text:
    if name in _TEXT_METHODS:
        return Text(_TEXT_METHODS[name](owner.value))
    if name in {"replace", "replaceAll"} and len(arguments) == 2:
        old, new = (evaluator.text(item, node).value for item in arguments)
        return Text(owner.value.replace(old, new, 1 if name == "replace" else -1))
    raise UnreadableError(node, "this method of a string is not evaluated")


def _list_method(
    evaluator: BaseEvaluator, items: list[Any], name: str, arguments: list[Any], node: Node
) -> Any:
    function = arguments[0] if arguments else None
    if name == "includes" and arguments:
        return any([evaluator.equal(item, function) for item in items])
    if not isinstance(function, Function):
        raise UnreadableError(node, "this method of a list is not evaluated")
    results = [apply(evaluator, function, [item], node) for item in items]
    if name == "map":
        return results
    kept = [item for item, result in zip(items, results, strict=True) if evaluator.truth(result)]
    if name == "filter":
        return kept
    if name == "find":
        return kept[0] if kept else None
    raise UnreadableError(node, "this method of a list is not evaluated")
