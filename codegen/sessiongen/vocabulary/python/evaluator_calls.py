"""Evaluates calls: lookups in tables, methods of strings, and functions of the package."""

from __future__ import annotations

import ast
from typing import Any

from sessiongen.vocabulary.evaluation import (
    LiteralSet,
    ProtoPath,
    ProtoValue,
    RaisedError,
    Table,
    Text,
    UnreadableError,
    is_other,
    pairs_table,
)
from sessiongen.vocabulary.python.evaluator_base import BaseEvaluator, Function, NameScope
from sessiongen.vocabulary.python.literals import dotted, last
from sessiongen.vocabulary.python.statements import run

_TEXT_METHODS = {
    "capitalize",
    "casefold",
    "lower",
    "removeprefix",
    "removesuffix",
    "replace",
    "strip",
    "title",
    "upper",
}
_TABLES = {"dict", "MappingProxyType", "frozendict", "OrderedDict"}
_LISTS = {"frozenset", "iter", "list", "reversed", "set", "sorted", "tuple"}
# Decorators that do not change what a function returns.
_DECORATORS = {"cache", "classmethod", "final", "lru_cache", "override", "staticmethod"}


def call(evaluator: BaseEvaluator, node: ast.Call, scope: NameScope) -> Any:
    """Returns the value of a call."""
    name = dotted(node.func)
    if isinstance(node.func, ast.Attribute):
        function = _method(evaluator, node, node.func, scope)
        if function is not None:
            return function[0]
    head = (name or "").partition(".")[0]
    known = head in scope.names or evaluator.defined_name(scope, node.func)
    if name is not None and not known:
        return _builtin(evaluator, node, last(node.func), scope)
    return _apply(evaluator, node, evaluator.value(node.func, scope), scope)


def look_up(
    evaluator: BaseEvaluator,
    table: Table,
    key: Any,
    node: ast.AST,
    raises: bool,
    default: Any = None,
) -> Any:
    """Returns the value of a key of a table, or what it has for missing keys."""
    evaluator.trace.table = evaluator.trace.table or table.name
    evaluator.trace.look_up(table)
    if isinstance(key, Text) and key.value in table.entries:
        return table.entries[key.value]
    if not isinstance(key, Text) and key is not None:
        raise UnreadableError(node, "the key of this lookup is not a literal")
    if raises and table.default is not None:
        return table.default()
    if raises:
        raise RaisedError("KeyError")
    return default


def _method(
    evaluator: BaseEvaluator, node: ast.Call, function: ast.Attribute, scope: NameScope
) -> tuple[Any] | None:
    """Returns the value of a method's call in a tuple, None if it is not a method of a value."""
    if not evaluator.is_readable(function.value, scope):
        return None
    owner = evaluator.value(function.value, scope)
    arguments = [evaluator.value(item, scope) for item in node.args]
    if isinstance(owner, Table):
        return (_table_method(evaluator, owner, function, arguments),)
    if isinstance(owner, ProtoPath) and function.attr == "Value":
        return (proto_value(evaluator.text(arguments[0], node), "ValueError"),)
    if isinstance(owner, Text) and function.attr in _TEXT_METHODS:
        texts = [evaluator.text(item, node).value for item in arguments]
        return (Text(getattr(owner.value, function.attr)(*texts)),)
    return None


def proto_value(name: Text, exception: str) -> ProtoValue:
    """Returns the proto value of a computed name; no value has a name made of the unknown literal."""
    if is_other(name.value):
        raise RaisedError(exception)
    return ProtoValue(name.value)


def _table_method(
    evaluator: BaseEvaluator, table: Table, function: ast.Attribute, arguments: list[Any]
) -> Any:
    if function.attr == "get" and arguments:
        default = arguments[1] if len(arguments) > 1 else None
        return look_up(evaluator, table, arguments[0], function, False, default)
    if function.attr == "items":
        return [[key, table.entries[text]] for text, key in table.keys.items()]
    if function.attr == "keys":
        return list(table.keys.values())
    if function.attr == "values":
        return list(table.entries.values())
    if function.attr == "copy":
        return table
    raise UnreadableError(function, "this method of a table is not evaluated")


def _builtin(evaluator: BaseEvaluator, node: ast.Call, name: str, scope: NameScope) -> Any:
    if name in {"str", "cast"} and node.args:
        return evaluator.value(node.args[-1], scope)
    if name in _TABLES:
        return _table(evaluator, node, scope)
    if name == "defaultdict" and node.args:
        table = _table(evaluator, node, scope, node.args[1:])
        factory = evaluator.value(node.args[0], scope)
        if isinstance(factory, Function):
            table.default = lambda: run(evaluator, factory, {})
        return table
    if name in _LISTS and len(node.args) == 1:
        return evaluator.items(node.args[0], scope)
    if name == "get_args" and len(node.args) == 1:
        return evaluator.items(node.args[0], scope)
    if name == "zip":
        parts = [evaluator.items(item, scope) for item in node.args]
        return [list(items) for items in zip(*parts, strict=False)]
    if name == "getattr" and len(node.args) > 1:
        return _getattr(evaluator, node, scope)
    if not node.args and not node.keywords:
        return evaluator.source(node)
    raise UnreadableError(node, "this call is not evaluated")


def _table(
    evaluator: BaseEvaluator, node: ast.Call, scope: NameScope, args: list[ast.expr] | None = None
) -> Table:
    table = Table()
    for argument in node.args if args is None else args:
        value = evaluator.value(argument, scope)
        table.update(value if isinstance(value, Table) else pairs_table(value, argument))
    for keyword in node.keywords:
        value = evaluator.value(keyword.value, scope)
        if keyword.arg is not None:
            table.add(Text(keyword.arg), value)
        elif isinstance(value, Table):
            table.update(value)
    return table


def _getattr(evaluator: BaseEvaluator, node: ast.Call, scope: NameScope) -> Any:
    owner, name = evaluator.value(node.args[0], scope), evaluator.value(node.args[1], scope)
    if not isinstance(owner, ProtoPath):
        raise UnreadableError(node, "the attribute of this call is not evaluated")
    if len(node.args) > 2 and is_other(evaluator.text(name, node).value):
        return evaluator.value(node.args[2], scope)
    return proto_value(evaluator.text(name, node), "AttributeError")


def _apply(evaluator: BaseEvaluator, node: ast.Call, function: Any, scope: NameScope) -> Any:
    arguments = [evaluator.value(item, scope) for item in node.args]
    keywords = {item.arg: evaluator.value(item.value, scope) for item in node.keywords if item.arg}
    if len(keywords) < len(node.keywords):
        raise UnreadableError(node, "the arguments of this call are not evaluated")
    if isinstance(function, Function):
        return _call_function(evaluator, node, function, arguments, keywords)
    if isinstance(function, LiteralSet) and len(arguments) == 1:
        for item in function.members:
            if evaluator.equal(arguments[0], item):
                return item
        raise RaisedError("ValueError")
    raise UnreadableError(node, "this call is not evaluated")


def _call_function(
    evaluator: BaseEvaluator,
    node: ast.Call,
    function: Function,
    arguments: list[Any],
    keywords: dict[str, Any],
) -> Any:
    parameters = function.node.args
    positional = [item.arg for item in (*parameters.posonlyargs, *parameters.args)]
    decorators = [last(_decorator(item)) for item in getattr(function.node, "decorator_list", [])]
    is_method = function.scope.owner is not None or "classmethod" in decorators
    is_method = is_method and "staticmethod" not in decorators
    if is_method and positional:
        positional = positional[1:]
    if any(item not in _DECORATORS for item in decorators):
        raise UnreadableError(function.node, "a decorator may change what this function returns")
    names = {**dict(zip(positional, arguments, strict=False)), **keywords}
    allowed = {*positional, *(item.arg for item in parameters.kwonlyargs)}
    if len(arguments) > len(positional) or not names.keys() <= allowed:
        raise UnreadableError(node, "the arguments of this call are not evaluated")
    for name, default in _defaults(function):
        if name not in names:
            names[name] = evaluator.value(default, function.scope)
    evaluator.declare(function, names)
    evaluator.trace.table = evaluator.trace.table or getattr(function.node, "name", None)
    return run(evaluator, function, names)


def _decorator(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _defaults(function: Function) -> list[tuple[str, ast.expr]]:
    """Returns the parameters of a function that have a default value."""
    arguments = function.node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = list(zip(reversed(positional), reversed(arguments.defaults), strict=False))
    optional = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return [
        *((item.arg, default) for item, default in pairs),
        *((item.arg, default) for item, default in optional if default is not None),
    ]
