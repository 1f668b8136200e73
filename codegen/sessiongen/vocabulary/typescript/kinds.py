"""Reads what TypeScript code does with an item of a kind that it does not know.

Code that constructs a message for one kind of item after the other is a `switch` on the item's
type, or a chain of `if` that tests its type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tree_sitter import Node

from sessiongen.vocabulary.behaviours import EMPTY_MESSAGE, NOTHING_SENT, UNKNOWN_KIND
from sessiongen.vocabulary.model import Behaviour
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.construction_builder import ConstructionBuilder
from sessiongen.vocabulary.typescript.constructions import within
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.syntax import FUNCTIONS, LOOPS, text

_TAG = "type"
# `isText(item)`, a type guard.
_GUARD = re.compile(r"is[A-Z]")


def is_kind_test(test: Node) -> bool:
    """Whether a condition compares the class or the `type` of an item."""
    test = syntax.unwrapped(test)
    if test.type == "unary_expression":
        return is_kind_test(test.named_children[-1])
    if test.type == "call_expression":
        return _GUARD.match(text(test.child_by_field_name("function"))) is not None
    if test.type != "binary_expression":
        return False
    left, right = (test.child_by_field_name(name) for name in ("left", "right"))
    operator = text(test.child_by_field_name("operator"))
    if operator in {"||", "&&"} and left is not None and right is not None:
        return is_kind_test(left) and is_kind_test(right)
    return operator == "instanceof" or is_kind(left)


def excluded_kind(test: Node) -> str:
    """Returns the kind of item that a condition leaves out, "" for any other condition."""
    test = syntax.unwrapped(test)
    if test.type == "unary_expression" and is_kind_test(test):
        return text(syntax.unwrapped(test.named_children[-1]))
    operator = text(test.child_by_field_name("operator"))
    if test.type != "binary_expression" or operator not in {"!=", "!=="} or not is_kind_test(test):
        return ""
    right = test.child_by_field_name("right")
    return syntax.constant(right) or text(right)


def is_kind(node: Node | None) -> bool:
    """Whether an expression is the kind of an item: `x.type` or `typeof x`."""
    inner = syntax.unwrapped(node) if node is not None else None
    member = syntax.member(inner)
    if member is not None:
        return member[1] == _TAG
    return (
        inner is not None and inner.type == "unary_expression" and text(inner).startswith("typeof")
    )


def kind_behaviours(
    file: File, constructions: Iterable[ConstructionBuilder]
) -> Iterator[Behaviour]:
    """Yields what becomes of an item of an unknown kind, for each message that depends on it."""
    reader = _KindReader(file, {item.node.id: item for item in constructions})
    for node in syntax.walk(file.root):
        value = node.child_by_field_name("value")
        if node.type == "switch_statement" and is_kind(value):
            yield from reader.chain(node, *_cases(node))
        elif node.type == "if_statement" and not _is_else(node):
            condition = node.child_by_field_name("condition")
            if condition is not None and is_kind_test(condition):
                yield from reader.chain(node, *_branches(node))


class _KindReader:
    """Reads one file. constructions: those in it, by the ids of their nodes."""

    def __init__(self, file: File, constructions: dict[int, ConstructionBuilder]) -> None:
        self._file = file
        self._constructions = constructions

    def chain(
        self, node: Node, known: list[list[Node]], otherwise: list[Node] | None
    ) -> Iterator[Behaviour]:
        """Yields the behaviour of a chain whose branches all construct one message."""
        messages = {self._message(branch) for branch in known}
        if len(messages) == 1 and (message := messages.pop()):
            outcome = self._outcome(node, message, otherwise)
            place = self._file.place(node)
            yield Behaviour(UNKNOWN_KIND, message, within(node), outcome, place)

    def _outcome(self, node: Node, message: str, otherwise: list[Node] | None) -> str:
        loops = syntax.enclosing(node, *LOOPS, *FUNCTIONS)
        inside = bool(loops) and loops[0].type in LOOPS
        body = otherwise if otherwise is not None else ([] if inside else _following(node))
        if not body:
            # A function that returns nothing else returns undefined.
            returns = not inside and _returns_value(node)
            return "undefined" if returns else NOTHING_SENT
        first = body[0]
        if first.type == "throw_statement":
            thrown = first.named_children[0] if first.named_children else None
            return text(thrown.child_by_field_name("constructor")) if thrown is not None else ""
        if first.type in {"continue_statement", "break_statement"}:
            return NOTHING_SENT
        if first.type == "return_statement" and not first.named_children:
            return NOTHING_SENT
        value = first.named_children[0] if first.named_children else None
        if first.type == "return_statement" and text(value) in {"undefined", "null"}:
            return text(value)
        construction = self._construction([first])
        if construction is None or construction.message != message:
            return ""
        return "" if construction.fields or construction.open else EMPTY_MESSAGE

    def _message(self, body: Iterable[Node]) -> str:
        """Returns the message that a block constructs for the item: the last outermost one."""
        names = [item.message for part in body if (item := self._construction([part]))]
        return names[-1] if names else ""

    def _construction(self, body: Iterable[Node]) -> ConstructionBuilder | None:
        for part in body:
            for node in syntax.walk(part):
                if node.id in self._constructions:
                    return self._constructions[node.id]
        return None


def _is_else(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "else_clause"


def _statements(node: Node | None) -> list[Node]:
    """Returns the statements of a block, or of a statement without one."""
    if node is None:
        return []
    block = node.type == "statement_block"
    return [item for item in (node.named_children if block else [node]) if item.type != "comment"]


def _branches(node: Node) -> tuple[list[list[Node]], list[Node] | None]:
    """Returns the branches of a chain of `if` and `else if`, and its `else`."""
    known = [_statements(node.child_by_field_name("consequence"))]
    clause = node.child_by_field_name("alternative")
    while clause is not None and clause.named_children:
        inner = clause.named_children[0]
        condition = inner.child_by_field_name("condition")
        if inner.type != "if_statement" or condition is None or not is_kind_test(condition):
            return known, _statements(inner)
        known.append(_statements(inner.child_by_field_name("consequence")))
        clause = inner.child_by_field_name("alternative")
    return known, None


def _cases(node: Node) -> tuple[list[list[Node]], list[Node] | None]:
    """Returns the branches of a `switch`, and its default; cases without statements are joined."""
    known: list[list[Node]] = []
    otherwise: list[Node] | None = None
    body = node.child_by_field_name("body")
    for item in body.named_children if body is not None else ():
        statements = [
            statement
            for part in item.children_by_field_name("body")
            for statement in _statements(part)
        ]
        if item.type == "switch_default":
            otherwise = statements
        elif item.type == "switch_case" and statements:
            known.append(statements)
    return known, otherwise


def _following(node: Node) -> list[Node]:
    """Returns the statements after a statement."""
    following = []
    sibling = node.next_named_sibling
    while sibling is not None:
        if sibling.type != "comment":
            following.append(sibling)
        sibling = sibling.next_named_sibling
    return following


def _returns_value(node: Node) -> bool:
    return any(
        item.type == "return_statement" and item.named_children for item in syntax.walk(node)
    )
