"""Reads the event names in the type argument of a Python event emitter.

Names that are not a set of constants are reported.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import EventName, Place
from sessiongen.vocabulary.python.modules import Definition, Modules
from sessiongen.vocabulary.python.literals import LiteralReader, dotted, elements, is_literal, last


def emitter_argument(definition: Definition) -> ast.expr | None:
    """Returns `T` of `class X(EventEmitter[T])`."""
    assert isinstance(definition.node, ast.ClassDef)
    for base in definition.node.bases:
        if isinstance(base, ast.Subscript) and last(base.value) == "EventEmitter":
            return elements(base)[0]
    return None


def declared_events(
    modules: Modules, classes: Sequence[Definition], faults: Faults
) -> tuple[EventName, ...]:
    """Returns the event names that a class, or a base of it, gives its event emitter."""
    definition = next((item for item in classes if emitter_argument(item)), classes[0])
    literals, module, names = LiteralReader(modules, faults), definition.module, None
    argument = emitter_argument(definition)
    if argument is not None and is_literal(argument):
        names = literals.of_field(module, argument)
    elif argument is not None:
        target = modules.resolve(module, dotted(argument) or "")
        if target is not None:
            module = target.module
            names = literals.of_alias(target) or literals.of_class(target)
    if names is None or names.open:
        message = f"the event names of {definition.name} are not a set of constants in its base"
        faults.unreadable(modules.span(definition.module, definition.node), Rule.SDK_EVENT, message)
        return ()
    return tuple(
        EventName(literal.value, Place(module.path, literal.line)) for literal in names.literals
    )
