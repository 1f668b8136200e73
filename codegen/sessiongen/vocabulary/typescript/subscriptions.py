"""Finds which functions a TypeScript host subscribes to the events of its session."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tree_sitter import Node

from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.calls import called_function, function_of
from sessiongen.vocabulary.typescript.classes import ClassView
from sessiongen.vocabulary.typescript.modules import Modules
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.syntax import FUNCTIONS, text
from sessiongen.vocabulary.typescript.written_tables import loop_rows

_SUBSCRIBE = {"on", "once", "addListener", "prependListener"}
# What may be around the only call of a function.
_STATEMENTS = {"expression_statement", "return_statement", "await_expression", "unary_expression"}


@dataclass(frozen=True)
class Subscription:
    """A call such as `session.on(event, handler)`, or one turn of a loop around it.

    file: the file of the event and the handler.
    """

    call: Node
    event: Node
    handler: Node
    file: File


class Handler(NamedTuple):
    """A function that handles an event. name: "" for a function without a name.

    wrapper: the call that is given the handler, and whose result is subscribed.
    """

    name: str
    node: Node
    wrapper: str = ""


def subscriptions(modules: Modules, view: ClassView) -> Iterator[Subscription]:
    """Yields the subscriptions in the code of a class; loops over tables in the code are followed."""
    for call in (item for _, node in view.classes for item in syntax.walk(node)):
        method = syntax.member(call.child_by_field_name("function"))
        arguments = syntax.arguments(call) if call.type == "call_expression" else []
        if method is None or method[1] not in _SUBSCRIBE or len(arguments) < 2:
            continue
        if _name(arguments[0]) in _parameters_around(call):
            # A method subscribes what it is given.
            for outer, given in view.calls_with(call):
                event, handler = (given.get(_name(item), item) for item in arguments[:2])
                yield Subscription(outer, event, handler, view.file_of(outer))
            continue
        for file, values in loop_rows(modules, view.file_of(call), call):
            event, handler = (values.get(_name(item), item) for item in arguments[:2])
            yield Subscription(call, event, handler, file if values else view.file_of(call))


def _name(node: Node) -> str:
    return text(syntax.unwrapped(node))


def _parameters_around(node: Node) -> list[str]:
    """Returns the parameters of the innermost named function around a node."""
    functions = [
        item for item in syntax.enclosing(node, *FUNCTIONS) if item.type == "method_definition"
    ]
    return syntax.parameter_names(functions[0]) if functions else []


def handler_of(modules: Modules, view: ClassView, file: File, node: Node) -> Handler | None:
    """Returns the function that an expression stands for, None if it is not known."""
    node = syntax.unwrapped(node)
    name = syntax.this_property(node)
    if name in view.methods:
        return Handler(name, view.methods[name])
    if node.type in FUNCTIONS:
        return _delegate(view, node) or Handler(_passed_to(view, node), node)
    bound = syntax.member(node.child_by_field_name("function"))
    if bound is not None and bound[1] == "bind":
        return handler_of(modules, view, file, bound[0])
    if node.type == "call_expression":
        wrapped = [handler_of(modules, view, file, item) for item in syntax.arguments(node)]
        known = [item for item in wrapped if item is not None]
        # What the function does with the handler is a condition.
        return known[0]._replace(wrapper=text(node)) if len(known) == 1 else None
    if node.type != "identifier":
        return None
    definition = modules.resolve(file, text(node))
    function = function_of(definition) if definition is not None else None
    if function is None:
        function, _ = called_function(modules, file, node)
    return Handler(text(node), function) if function is not None else None


def _delegate(view: ClassView, function: Node) -> Handler | None:
    """Returns the method that a function calls with its own parameters, if it does nothing else."""
    body = function.child_by_field_name("body")
    while body is not None and body.type in {"statement_block", *_STATEMENTS}:
        parts = [item for item in body.named_children if item.type != "comment"]
        body = parts[0] if len(parts) == 1 else None
    if body is None or body.type != "call_expression":
        return None
    name = _passed_to(view, function)
    is_own = name and name == syntax.this_property(body.child_by_field_name("function"))
    return Handler(name, view.methods[name]) if is_own else None


def _passed_to(view: ClassView, function: Node) -> str:
    """Returns the only method of the class to which a function passes its first parameter itself."""
    event = syntax.parameter_names(function)[:1]
    names = {
        syntax.this_property(call.child_by_field_name("function"))
        for call in syntax.walk(function)
        if call.type == "call_expression"
        and [text(item) for item in syntax.arguments(call)[:1]] == event
    }
    known = [name for name in names if name in view.methods]
    return known[0] if len(known) == 1 else ""
