"""Reads the code that emits an event: the arguments, and the conditions around the call.

The functions that emit a session's events do much else, so that they are not compared as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from sessiongen.vocabulary.digests import digest
from sessiongen.vocabulary.model import DefinitionFact
from sessiongen.vocabulary.typescript.definitions import code_of
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.syntax import FUNCTIONS

_CONDITIONAL = {"if_statement", "else_clause", "ternary_expression", "while_statement"}
_LEAVING = {"return_statement", "throw_statement", "continue_statement", "break_statement"}


def emission_fact(file: File, call: Node, event: str) -> DefinitionFact:
    """Returns the code of a call that emits an event, named `emit(EVENT)`."""
    code = [*code_of(call), *_conditions(call)]
    return DefinitionFact(f"emit({event!r})", digest(" ".join(code)), file.place(call))


def _conditions(call: Node) -> Iterator[str]:
    """Yields the tests around a call in its function, and those of the guards before it."""
    inner, outer = call, call.parent
    while outer is not None and outer.type not in FUNCTIONS:
        if outer.type in _CONDITIONAL:
            yield outer.type
            test = outer.child_by_field_name("condition")
            yield from code_of(test) if test is not None and test != inner else ()
        if outer.type == "statement_block":
            yield from _guards(outer, inner)
        inner, outer = outer, outer.parent
    if outer is not None:
        yield from _guards(outer, inner)


def _guards(block: Node, until: Node) -> Iterator[str]:
    for item in block.named_children:
        if item == until:
            return
        body = item.child_by_field_name("consequence") if item.type == "if_statement" else None
        inner = body.named_children[-1:] if body and body.type == "statement_block" else [body]
        test = item.child_by_field_name("condition")
        if test is not None and any(it is not None and it.type in _LEAVING for it in inner):
            yield from code_of(test)
