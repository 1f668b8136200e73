"""Reads the timeout of each method of a Python driver that sends a request."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sessiongen.vocabulary.behaviour_scope import UNITS, Timeout
from sessiongen.vocabulary.behaviours import timeout_fact
from sessiongen.vocabulary.model import Behaviour, Driver
from sessiongen.vocabulary.python.classes import Role
from sessiongen.vocabulary.python.constants import default_of, evaluated
from sessiongen.vocabulary.python.literals import self_attribute

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def timeout_behaviours(role: Role, driver: Driver, timeout: Timeout) -> Iterator[Behaviour]:
    """Yields the default timeout of each request; "" for one that cannot be read."""
    for sending in driver.sends:
        method = role.view.methods.get(sending.method)
        if method is not None:
            seconds = _seconds(role, method, timeout)
            yield timeout_fact(driver.name, sending, seconds, role.place(method))


def _seconds(role: Role, method: _Function, timeout: Timeout) -> float | None:
    for call in ast.walk(method):
        name = self_attribute(call.func) if isinstance(call, ast.Call) else ""
        function = role.view.methods.get(name)
        if function is None or not isinstance(call, ast.Call):
            continue
        if timeout.parameter in _parameters(function):
            node = _argument(call, function, timeout.parameter)
            node = default_of(function, timeout.parameter) if node is None else node
            return _value(role, method, node, timeout)
    return None


def _value(role: Role, method: _Function, node: ast.expr | None, timeout: Timeout) -> float | None:
    """Returns the value of an argument in seconds: a constant, or a parameter's default.

    An argument that is computed is read as the method's own parameter of the same name.
    """
    if isinstance(node, ast.Name) and node.id in _parameters(method):
        node = default_of(method, node.id)
    module = role.view.module_of(method)
    value = evaluated(role.modules, module, node) if node is not None else None
    if value is None and timeout.parameter in _parameters(method):
        default = default_of(method, timeout.parameter)
        value = evaluated(role.modules, module, default) if default is not None else None
    return value / UNITS[timeout.unit] if isinstance(value, (int, float)) else None


def _parameters(function: _Function) -> list[str]:
    arguments = function.args
    return [item.arg for item in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def _argument(call: ast.Call, function: _Function, name: str) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    index = _parameters(function).index(name) - 1
    return call.args[index] if index < len(call.args) else None
