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
    """How a handler uses the event that it receives. type: the event's class, if annotated.

    reads: the paths that are read, such as `error.label`.
    whole: the event is passed to code that is not followed.
    """

    type: str | None = None
    reads: set[str] = field(default_factory=set)
    whole: bool = False


def event_use(view: ClassView, handler: Node) -> EventUse:
    """Returns how a handler and the methods that it passes the event to use the event."""
    use = EventUse()
    parameters = syntax.parameters(handler)
    if parameters:
        kind = syntax.annotation(parameters[0])
        parts = [part for part in syntax.alternatives(kind) if part.type in _TYPES] if kind else []
        use.type = text(parts[0]).rpartition(".")[2] if parts else None
        _follow(view, handler, _name(parameters[0]), use, set())
        use.reads = longest(use.reads)
    return use


def _name(parameter: Node) -> str:
    return text(parameter.child_by_field_name("pattern"))


def _follow(
    view: ClassView, function: Node, name: str, use: EventUse, seen: set[tuple[int, str]]
) -> None:
    if (function.id, name) in seen:
        return
    seen.add((function.id, name))
    for node in syntax.walk(function):
        if node.type == "shorthand_property_identifier":
            use.whole |= text(node) == name
        if node.type != "identifier" or text(node) != name or node.parent is None:
            continue
        outer = _without_assertions(node.parent)
        if outer.type == "member_expression":
            use.reads |= _path(outer)
        elif outer.type == "arguments":
            _follow_argument(view, outer, node, use, seen)
        elif outer.type not in {"required_parameter", "optional_parameter"}:
            use.whole = True


def _without_assertions(node: Node) -> Node:
    while node.type == "non_null_expression" and node.parent is not None:
        node = node.parent
    return node


def _path(node: Node) -> set[str]:
    """Returns the path of properties that begins with a member, without a called method."""
    parts: list[str] = []
    while node.type == "member_expression" and node.parent is not None:
        outer = _without_assertions(node.parent)
        if outer.type == "call_expression":
            break
        parts.append(text(node.child_by_field_name("property")))
        node = outer
    return {".".join(parts)} - {""}


def _follow_argument(
    view: ClassView, arguments: Node, node: Node, use: EventUse, seen: set[tuple[int, str]]
) -> None:
    """Follows an event that is passed to a method of the class."""
    call = arguments.parent
    method = (
        view.methods.get(syntax.this_property(call.child_by_field_name("function")))
        if call
        else None
    )
    parameters = syntax.parameters(method) if method is not None else []
    index = [item.id for item in arguments.named_children if item.type != "comment"].index(node.id)
    if method is not None and index < len(parameters):
        _follow(view, method, _name(parameters[index]), use, seen)
    else:
        use.whole = True
