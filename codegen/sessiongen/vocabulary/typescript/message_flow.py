"""Follows a message through a TypeScript function to the code that passes it on.

A message flows through variables, objects, other messages and the parameters of functions of
the package. A call of any other function passes it on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tree_sitter import Node

from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.classes import ClassView
from sessiongen.vocabulary.typescript.syntax import NAMES, text

# Calls that only look at their argument.
_LOOKING = {"String", "Boolean", "log", "debug", "info", "warn", "error", "stringify"}


@dataclass
class Flow:
    """Where values go in a function.

    ends: the calls and statements that pass one on.
    parameters: the functions of the package that are given one, each with its parameter.
    """

    ends: list[Node] = field(default_factory=list)
    parameters: list[tuple[Node, str]] = field(default_factory=list)


def flow(view: ClassView, function: Node, starts: Iterable[Node]) -> Flow:
    """Returns where the values of some expressions of a function go."""
    result = Flow()
    queue, seen = list(starts), set[int]()
    while queue:
        node = queue.pop()
        if node.id not in seen:
            seen.add(node.id)
            queue += _step(view, function, node, result)
    return result


def uses(function: Node, name: str) -> list[Node]:
    """Returns the places of a function that read a variable."""
    return [
        node
        for node in syntax.walk(function)
        if node.type in NAMES and text(node) == name and not _is_binding(node)
    ]


def _is_binding(node: Node) -> bool:
    parent = node.parent
    if parent is None or parent.type in {"required_parameter", "optional_parameter"}:
        return True
    target = parent.child_by_field_name("name") or parent.child_by_field_name("left")
    binds = parent.type in {"variable_declarator", "assignment_expression"}
    return binds and target is not None and target.id == node.id


def _step(view: ClassView, function: Node, node: Node, result: Flow) -> Iterator[Node]:
    """Yields the uses of the variable that an expression is assigned to, if it is."""
    inner, outer = node, node.parent
    while outer is not None and outer.id != function.id:
        if outer.type == "member_expression":
            # Only a part of the message is used.
            return
        is_called = outer.child_by_field_name("function") == inner
        if outer.type == "call_expression" and not is_called and not view.constructs_any(outer):
            _argument(view, outer, inner, result)
            return
        if outer.type in {"variable_declarator", "assignment_expression"}:
            target = outer.child_by_field_name("name") or outer.child_by_field_name("left")
            if target is not None and target.type == "identifier":
                yield from uses(function, text(target))
            elif target is not None:
                result.ends.append(outer)
            return
        if outer.type in {"if_statement", "switch_statement"}:
            return
        if outer.type == "return_statement" or outer.type.endswith("declaration"):
            result.ends.append(outer)
            return
        if outer.type != "arguments":
            inner = outer
        outer = outer.parent


def _argument(view: ClassView, call: Node, node: Node, result: Flow) -> None:
    function = call.child_by_field_name("function")
    member = syntax.member(function)
    if (member[1] if member is not None else text(function)) in _LOOKING:
        return
    called = view.called(call)
    arguments = [item.id for item in syntax.arguments(call)]
    names = syntax.parameter_names(called) if called is not None else []
    index = arguments.index(node.id) if node.id in arguments else len(names)
    if called is not None and index < len(names):
        result.parameters.append((called, names[index]))
    result.ends.append(call)
