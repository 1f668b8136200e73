"""Reads which fields of an SDK's event a handler of the host uses."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from sessiongen.vocabulary.ordering import longest
from sessiongen.vocabulary.python.classes import ClassView
from sessiongen.vocabulary.python.dict_entries import constant_names
from sessiongen.vocabulary.python.literals import (
    alternatives,
    constant,
    dotted,
    last,
    self_attribute,
)

_TYPE_CHECKS = {"isinstance", "type"}


@dataclass
class EventUse:
    """How a handler uses the event that it receives. type: the event's class, if annotated.

    reads: the paths that are read, such as `error.label`.
    whole: the event is passed to code that is not followed.
    """

    type: str | None = None
    reads: set[str] = field(default_factory=set)
    whole: bool = False


def event_use(view: ClassView, handler: ast.AST) -> EventUse:
    """Returns how a handler and the methods that it passes the event to use the event."""
    use = EventUse()
    arguments = _arguments(view, handler)
    if arguments:
        annotation = arguments[0].annotation
        kinds = [last(part) for part in alternatives(annotation)] if annotation else []
        use.type = kinds[0] if kinds and kinds[0] else None
        _follow(view, handler, arguments[0].arg, use, set())
        use.reads = longest(use.reads)
    return use


def _arguments(view: ClassView, function: ast.AST) -> list[ast.arg]:
    """Returns the arguments of a function, a method's without `self`."""
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return []
    arguments = [*function.args.posonlyargs, *function.args.args]
    is_method = any(function is method for method in view.methods.values())
    return arguments[1:] if is_method else arguments


def _follow(
    view: ClassView, function: ast.AST, name: str, use: EventUse, seen: set[tuple[int, str]]
) -> None:
    if (id(function), name) in seen:
        return
    seen.add((id(function), name))
    handled: set[int] = set()
    called = {id(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute):
            head, _, path = (dotted(node) or "").partition(".")
            if head == name and id(node) not in called:
                use.reads.add(path)
            if _is_name(node.value, name):
                handled.add(id(node.value))
        elif isinstance(node, ast.Call):
            handled |= _follow_argument(view, function, node, name, use, seen)
    use.whole |= any(
        _is_name(node, name) and id(node) not in handled and isinstance(node.ctx, ast.Load)
        for node in ast.walk(function)
        if isinstance(node, ast.Name)
    )


def _follow_argument(
    view: ClassView,
    function: ast.AST,
    call: ast.Call,
    name: str,
    use: EventUse,
    seen: set[tuple[int, str]],
) -> set[int]:
    """Follows an event that is passed to a method of the class; returns the handled nodes."""
    event_arguments = [
        (index, node) for index, node in enumerate(call.args) if _is_name(node, name)
    ]
    if last(call.func) == "getattr" and len(call.args) > 1:
        paths = _names_of(function, call.args[1])
        if paths and _is_name(call.args[0], name):
            use.reads |= set(paths)
            return {id(call.args[0])}
    if last(call.func) in _TYPE_CHECKS:
        return {id(node) for _, node in event_arguments}
    method = view.methods.get(self_attribute(call.func))
    arguments = _arguments(view, method) if method is not None else []
    handled = set()
    for index, node in event_arguments:
        if method is not None and index < len(arguments):
            _follow(view, method, arguments[index].arg, use, seen)
            handled.add(id(node))
    return handled


def _names_of(function: ast.AST, node: ast.expr) -> list[str]:
    """Returns the texts that an expression can be: a constant, or a variable of a loop over some."""
    text = constant(node)
    if text is not None or not isinstance(node, ast.Name):
        return [text] if text is not None else []
    loops = (it for it in ast.walk(function) if isinstance(it, (ast.For, ast.comprehension)))
    lists = [constant_names(it.iter) for it in loops if _is_name(it.target, node.id)]
    return [name for names in lists for name in names or ()] if None not in lists else []


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
