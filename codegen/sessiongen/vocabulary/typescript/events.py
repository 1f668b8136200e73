"""Reads which fields of an SDK's event a handler of the host uses."""

from __future__ import annotations

from dataclasses import dataclass, field

from tree_sitter import Node

from sessiongen.vocabulary.ordering import longest
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.classes import ClassView
from sessiongen.vocabulary.typescript.syntax import text

_TYPES = {"type_identifier", "nested_type_identifier"}


@dataclass
class EventUse:
    """The event that a handler receives. type: its class, if it is annotated.

    reads: paths, as `error.label`. whole: it goes on to code that is not followed.
    """

    type: str | None = None
    reads: set[str] = field(default_factory=set)
    whole: bool = False


def taken(view: ClassView, handler: Node) -> EventUse:
    """Return how a handler and the methods that it passes the event to use the event."""
    found = EventUse()
    parameters = syntax.parameters(handler)
    if parameters:
        kind = syntax.annotation(parameters[0])
        parts = [part for part in syntax.alternatives(kind) if part.type in _TYPES] if kind else []
        found.type = text(parts[0]).rpartition(".")[2] if parts else None
        _follow(view, handler, _name(parameters[0]), found, set())
        found.reads = longest(found.reads)
    return found


def _name(parameter: Node) -> str:
    return text(parameter.child_by_field_name("pattern"))


def _follow(
    view: ClassView, function: Node, name: str, found: EventUse, seen: set[tuple[int, str]]
) -> None:
    if (function.id, name) in seen:
        return
    seen.add((function.id, name))
    for node in syntax.walk(function):
        if node.type == "shorthand_property_identifier":
            found.whole |= text(node) == name
        if node.type != "identifier" or text(node) != name or node.parent is None:
            continue
        outer = _out(node.parent)
        if outer.type == "member_expression":
            found.reads |= _path(outer)
        elif outer.type == "arguments":
            _passed(view, outer, node, found, seen)
        elif outer.type not in {"required_parameter", "optional_parameter"}:
            found.whole = True


def _out(node: Node) -> Node:
    while node.type == "non_null_expression" and node.parent is not None:
        node = node.parent
    return node


def _path(node: Node) -> set[str]:
    """Return the whole path that begins with a member, less the method that is called."""
    parts: list[str] = []
    while node.type == "member_expression" and node.parent is not None:
        outer = _out(node.parent)
        if outer.type == "call_expression":
            break
        parts.append(text(node.child_by_field_name("property")))
        node = outer
    return {".".join(parts)} - {""}


def _passed(
    view: ClassView, arguments: Node, node: Node, found: EventUse, seen: set[tuple[int, str]]
) -> None:
    """Follow an event into a method of the class."""
    call = arguments.parent
    method = view.methods.get(syntax.own(call.child_by_field_name("function"))) if call else None
    parameters = syntax.parameters(method) if method is not None else []
    at = [item.id for item in arguments.named_children if item.type != "comment"].index(node.id)
    if method is not None and at < len(parameters):
        _follow(view, method, _name(parameters[at]), found, seen)
    else:
        found.whole = True
