"""Reads which fields of an SDK's event a handler of the host uses, and what a driver emits."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from sessiongen.vocabulary.ordering import longest
from sessiongen.vocabulary.python.classes import ClassView, own
from sessiongen.vocabulary.python.literals import alternatives, dotted, last

_QUESTIONS = {"isinstance", "type"}


@dataclass
class EventUse:
    """The event that a handler receives. type: its class, if it is annotated.

    reads: paths, as `error.label`. whole: it goes on to code that is not followed.
    """

    type: str | None = None
    reads: set[str] = field(default_factory=set)
    whole: bool = False


def taken(view: ClassView, handler: ast.AST) -> EventUse:
    """Return how a handler and the methods that it passes the event to use the event."""
    found = EventUse()
    arguments = _arguments(view, handler)
    if arguments:
        annotation = arguments[0].annotation
        kinds = [last(part) for part in alternatives(annotation)] if annotation else []
        found.type = kinds[0] if kinds and kinds[0] else None
        _follow(view, handler, arguments[0].arg, found, set())
        found.reads = longest(found.reads)
    return found


def _arguments(view: ClassView, function: ast.AST) -> list[ast.arg]:
    """Return the arguments of a function, a method's without `self`."""
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return []
    found = [*function.args.posonlyargs, *function.args.args]
    is_method = any(function is method for method in view.methods.values())
    return found[1:] if is_method else found


def _follow(
    view: ClassView, function: ast.AST, name: str, found: EventUse, seen: set[tuple[int, str]]
) -> None:
    if (id(function), name) in seen:
        return
    seen.add((id(function), name))
    known: set[int] = set()
    called = {id(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute):
            head, _, path = (dotted(node) or "").partition(".")
            if head == name and id(node) not in called:
                found.reads.add(path)
            if _is(node.value, name):
                known.add(id(node.value))
        elif isinstance(node, ast.Call):
            known |= _passed(view, node, name, found, seen)
    found.whole |= any(
        _is(node, name) and id(node) not in known and isinstance(node.ctx, ast.Load)
        for node in ast.walk(function)
        if isinstance(node, ast.Name)
    )


def _passed(
    view: ClassView, call: ast.Call, name: str, found: EventUse, seen: set[tuple[int, str]]
) -> set[int]:
    """Follow an event into a method of the class; return the nodes that are done."""
    given = [(at, node) for at, node in enumerate(call.args) if _is(node, name)]
    if last(call.func) in _QUESTIONS:
        return {id(node) for _, node in given}
    method = view.methods.get(own(call.func))
    arguments = _arguments(view, method) if method is not None else []
    known = set()
    for at, node in given:
        if method is not None and at < len(arguments):
            _follow(view, method, arguments[at].arg, found, seen)
            known.add(id(node))
    return known


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
