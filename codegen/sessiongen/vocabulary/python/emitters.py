"""The event names that a Python class gives its event emitter.

In: a class's definition. Out: the names, each with its place; a fault if they are no set of
constants.
"""

from __future__ import annotations

import ast

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import EventName, Place
from sessiongen.vocabulary.python.modules import Definition, Modules
from sessiongen.vocabulary.python.literals import WordReader, dotted, elements, is_literal, last


def emitter_argument(found: Definition) -> ast.expr | None:
    """Return `T` of `class X(EventEmitter[T])`."""
    assert isinstance(found.node, ast.ClassDef)
    for base in found.node.bases:
        if isinstance(base, ast.Subscript) and last(base.value) == "EventEmitter":
            return elements(base)[0]
    return None


def declared_events(modules: Modules, found: Definition, faults: Faults) -> tuple[EventName, ...]:
    """Return the event names that a class gives its event emitter."""
    words, module, read = WordReader(modules, faults), found.module, None
    argument = emitter_argument(found)
    if argument is not None and is_literal(argument):
        read = words.of_field(module, argument)
    elif argument is not None:
        target = modules.resolve(module, dotted(argument) or "")
        if target is not None:
            module = target.module
            read = words.of_alias(target) or words.of_class(target)
    if read is None or read.open:
        what = f"the event names of {found.name} are not a set of constants in its base"
        faults.unreadable(modules.span(found.module, found.node), Rule.SDK_EVENT, what)
        return ()
    return tuple(EventName(word.value, Place(module.path, word.line)) for word in read.words)
