"""Reads the timeout of each method of a TypeScript driver that sends a request."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from sessiongen.vocabulary.behaviour_scope import UNITS, Timeout
from sessiongen.vocabulary.behaviours import timeout_fact
from sessiongen.vocabulary.model import Behaviour, Driver
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.classes import ClassView
from sessiongen.vocabulary.typescript.constants import evaluated
from sessiongen.vocabulary.typescript.modules import Modules
from sessiongen.vocabulary.typescript.syntax import text


def timeout_behaviours(
    modules: Modules, view: ClassView, driver: Driver, timeout: Timeout
) -> Iterator[Behaviour]:
    """Yields the default timeout of each request; "" for one that cannot be read."""
    for sending in driver.sends:
        method = view.methods.get(sending.method)
        if method is not None:
            seconds = _seconds(modules, view, method, timeout)
            yield timeout_fact(driver.name, sending, seconds, view.place(method))


def _seconds(modules: Modules, view: ClassView, method: Node, timeout: Timeout) -> float | None:
    for call in syntax.walk(method):
        is_call = call.type == "call_expression"
        name = syntax.this_property(call.child_by_field_name("function")) if is_call else ""
        function = view.methods.get(name)
        parameters = _parameters(function) if function is not None else {}
        if timeout.parameter in parameters:
            index = list(parameters).index(timeout.parameter)
            arguments = syntax.arguments(call)
            given = arguments[index] if index < len(arguments) else parameters[timeout.parameter]
            return _value(modules, view, method, given, timeout)
    return None


def _value(
    modules: Modules, view: ClassView, method: Node, node: Node | None, timeout: Timeout
) -> float | None:
    """Returns the value of an argument in seconds: a constant, or a parameter's default.

    An argument that is computed is read as the method's own parameter of the same name.
    """
    parameters = _parameters(method)
    if node is not None and text(node) in parameters:
        node = parameters[text(node)]
    file = view.file_of(method)
    value = evaluated(modules, file, node) if node is not None else None
    default = parameters.get(timeout.parameter)
    if value is None and default is not None:
        value = evaluated(modules, file, default)
    return value / UNITS[timeout.unit] if isinstance(value, (int, float)) else None


def _parameters(function: Node) -> dict[str, Node | None]:
    """Returns the parameters of a function with their defaults, those of a pattern included."""
    defaults: dict[str, Node | None] = {}
    for item in syntax.parameters(function):
        pattern = item.child_by_field_name("pattern")
        if pattern is None or pattern.type != "object_pattern":
            defaults[text(pattern)] = item.child_by_field_name("value")
            continue
        for part in pattern.named_children:
            left = part.child_by_field_name("left") or part
            defaults[text(left)] = part.child_by_field_name("right")
    return defaults
