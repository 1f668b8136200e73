"""Reads which events a Python SDK emits on its session.

A call of `emit` counts if its receiver is `self` or `super()` in the session class, or a
variable or attribute annotated with the session class. The first call per event is recorded.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import DefinitionFact, EventName, Session
from sessiongen.vocabulary.python.emission_code import emission_fact
from sessiongen.vocabulary.python.emitters import declared_events
from sessiongen.vocabulary.python.modules import Definition, Modules
from sessiongen.vocabulary.python.parsed_module import Module
from sessiongen.vocabulary.python.literals import LiteralReader, alternatives, dotted, last

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def read_session(
    modules: Modules, definition: Definition, faults: Faults
) -> tuple[Session, list[DefinitionFact]]:
    """Returns the session's declared events and those that are emitted, and the emitting code."""
    emits: dict[str, EventName] = {}
    code = []
    literals, classes = LiteralReader(modules, faults), modules.with_bases(definition)
    own = {item.path for item in classes}
    for module in modules.mentioning(".emit("):
        # Elsewhere, the session is what is annotated with its class.
        if module.path not in own and not modules.mentions(module, definition.name):
            continue
        for function, call in _emissions(module, definition, [item.node for item in classes]):
            event = call.args[0]
            name = literals.constant(module, event)
            if name is not None:
                emits.setdefault(name, EventName(name, module.place(call)))
                code.append(emission_fact(module, function, call, name))
            else:
                message = f"the name of an event emitted on {definition.name} is not a constant"
                faults.unreadable(modules.span(module, event), Rule.SDK_EVENT, message)
    events = declared_events(modules, classes, faults)
    place = definition.module.place(definition.node)
    return Session(definition.name, place, events, tuple(emits.values())), code


def _emissions(
    module: Module, session: Definition, classes: list[ast.stmt]
) -> Iterator[tuple[_Function, ast.Call]]:
    for statement in ast.walk(module.tree):
        if isinstance(statement, ast.ClassDef):
            self_attribute = any(statement is node for node in classes)
            attributes = _attributes(statement, session.name)
            for function in _functions(statement):
                yield from _in_function(function, session.name, attributes, self_attribute)
    for function in _functions(module.tree):
        yield from _in_function(function, session.name, set(), False)


def _functions(owner: ast.ClassDef | ast.Module) -> Iterator[_Function]:
    for node in owner.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def _in_function(
    function: _Function, session: str, attributes: set[str], self_attribute: bool
) -> Iterator[tuple[_Function, ast.Call]]:
    variables = _parameters(function, session)
    arguments = [item.arg for item in function.args.args]
    for node in ast.walk(function):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if node.func.attr != "emit" or not node.args:
            continue
        receiver = node.func.value
        name = dotted(receiver) or ""
        is_self_or_super = name == "self" or (
            isinstance(receiver, ast.Call) and last(receiver.func) == "super"
        )
        if not (
            (self_attribute and is_self_or_super)
            or name in variables
            or name.removeprefix("self.") in attributes
        ):
            continue
        # An override of emit passes its own argument on.
        if function.name == "emit" and dotted(node.args[0]) in arguments:
            continue
        yield function, node


def _parameters(function: _Function, session: str) -> set[str]:
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return {item.arg for item in arguments if _has_session_type(item.annotation, session)}


def _attributes(node: ast.ClassDef, session: str) -> set[str]:
    """Returns the attributes of a class that contain the session."""
    names = {
        item.target.id
        for item in node.body
        if isinstance(item, ast.AnnAssign)
        and isinstance(item.target, ast.Name)
        and _has_session_type(item.annotation, session)
    }
    for function in _functions(node):
        if _has_session_type(function.returns, session):
            names.add(function.name)
        variables = _parameters(function, session)
        for inner in ast.walk(function):
            names |= set(_assigned_attributes(inner, variables, session))
    return names


def _assigned_attributes(node: ast.AST, variables: set[str], session: str) -> Iterator[str]:
    """Yields the attributes to which a statement assigns the session."""
    if isinstance(node, ast.AnnAssign) and _has_session_type(node.annotation, session):
        yield from _attribute(node.target)
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts))
            for left, right in pairs:
                if any(
                    isinstance(inner, ast.Name) and inner.id in variables
                    for inner in _values(right)
                ):
                    yield from _attribute(left)


def _values(node: ast.expr) -> list[ast.expr]:
    """Returns the possible values of an expression: both sides of `a or b`, else itself."""
    return node.values if isinstance(node, ast.BoolOp) else [node]


def _attribute(target: ast.expr) -> Iterator[str]:
    name = dotted(target) or ""
    if name.startswith("self.") and name.count(".") == 1:
        yield name.removeprefix("self.")


def _has_session_type(annotation: ast.expr | None, session: str) -> bool:
    for part in alternatives(annotation) if annotation else ():
        head = part.value if isinstance(part, ast.Subscript) else part
        if last(head) == session:
            return True
    return False
