"""Reads which events a TypeScript SDK emits on its session.

A call of `emit` counts if its receiver is `this` or `super` in the session class, or a
variable or property annotated with the session class. The first call per event is recorded.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import DefinitionFact, EventName, Session
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.emission_code import emission_fact
from sessiongen.vocabulary.typescript.modules import Modules
from sessiongen.vocabulary.typescript.classes import ClassView
from sessiongen.vocabulary.typescript.roles import RoleReader
from sessiongen.vocabulary.typescript.syntax import CLASSES, FUNCTIONS, class_methods, text


def read_session(
    modules: Modules, view: ClassView, roles: RoleReader, faults: Faults
) -> tuple[Session, list[DefinitionFact]]:
    """Returns the session's declared events and those that are emitted, and the emitting code."""
    emits: dict[str, EventName] = {}
    code = []
    for file in modules.mentioning("emit("):
        for call in _emissions(file.root, view):
            event = syntax.arguments(call)[0]
            name = roles.literals.constant(file, event)
            if name is not None:
                emits.setdefault(name, EventName(name, file.place(call)))
                code.append(emission_fact(file, call, name))
            else:
                message = f"the name of an event emitted on {view.name} is not a constant"
                faults.unreadable(modules.span(file, event), Rule.SDK_EVENT, message)
    place = view.file.place(view.node)
    return Session(view.name, place, roles.declared(view), tuple(emits.values())), code


def _emissions(root: Node, view: ClassView) -> Iterator[Node]:
    attributes: dict[int, set[str]] = {}
    nodes = [node for _, node in view.classes]
    for node in syntax.walk(root):
        function = node.child_by_field_name("function")
        method = syntax.member(function) if node.type == "call_expression" else None
        if method is None or method[1] != "emit" or not syntax.arguments(node):
            continue
        receiver = syntax.unwrapped(method[0])
        enclosing = syntax.enclosing(node, *CLASSES)
        owner = enclosing[0] if enclosing else None
        if owner is not None and owner.id not in attributes:
            attributes[owner.id] = _attributes(owner, view.name)
        if receiver.type in {"this", "super"}:
            # An override of emit passes its own argument on.
            on_session = owner in nodes and not _passes_name_on(node)
        elif syntax.this_property(receiver):
            on_session = (
                owner is not None and syntax.this_property(receiver) in attributes[owner.id]
            )
        else:
            on_session = text(receiver) in _variables(node, view.name)
        if on_session:
            yield node


def _passes_name_on(call: Node) -> bool:
    event = syntax.arguments(call)[0]
    for function in syntax.enclosing(call, "method_definition")[:1]:
        names = [text(item.child_by_field_name("pattern")) for item in syntax.parameters(function)]
        return text(function.child_by_field_name("name")) == "emit" and text(event) in names
    return False


def _variables(node: Node, session: str) -> set[str]:
    """Returns the parameters of the functions around a node that contain the session."""
    return {
        name
        for function in syntax.enclosing(node, *FUNCTIONS)
        for name in _parameters(function, session)
    }


def _parameters(function: Node, session: str) -> set[str]:
    return {
        text(item.child_by_field_name("pattern"))
        for item in syntax.parameters(function)
        if _has_session_type(syntax.annotation(item), session)
    }


def _attributes(node: Node, session: str) -> set[str]:
    """Returns the attributes of a class that contain the session."""
    names: set[str] = set()
    body = node.child_by_field_name("body")
    for item in body.named_children if body else ():
        kind = syntax.annotation(item)
        if item.type == "method_definition" and syntax.child(item, "get") is not None:
            returned = item.child_by_field_name("return_type")
            kind = returned.named_children[-1] if returned and returned.named_children else None
        if _has_session_type(kind, session):
            names.add(text(item.child_by_field_name("name")))
    for name, method in class_methods(node).items():
        session_parameters = _parameters(method, session)
        if name == "constructor":
            names |= {
                text(item.child_by_field_name("pattern"))
                for item in syntax.parameters(method)
                if syntax.child(item, "accessibility_modifier", "readonly") is not None
            } & session_parameters
        for item in syntax.walk(method):
            if item.type == "assignment_expression":
                right = item.child_by_field_name("right")
                if right is not None and text(syntax.unwrapped(right)) in session_parameters:
                    names.add(syntax.this_property(item.child_by_field_name("left")))
    return names - {""}


def _has_session_type(node: Node | None, session: str) -> bool:
    for part in syntax.alternatives(node) if node else ():
        head = part.child_by_field_name("name") if part.type == "generic_type" else part
        if head is not None and text(head) == session:
            return True
    return False
