"""Finds the conditions under which TypeScript statements end without reaching any of some nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tree_sitter import Node

from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.kinds import excluded_kind, is_kind_test
from sessiongen.vocabulary.typescript.syntax import FUNCTIONS, text

_LOOPS = {*syntax.LOOPS, "do_statement"}
_EXITS = {"return_statement", "throw_statement", "continue_statement", "break_statement"}
_BLOCKS = {"statement_block", "else_clause", "finally_clause", "catch_clause"}
# What may be around an expression that stands as a statement.
_AROUND = {"expression_statement", "return_statement", "await_expression", "unary_expression"}
_OPPOSITES = {"===": "!==", "==": "!=", "<": ">=", ">": "<="}
_OPPOSITES |= {value: key for key, value in _OPPOSITES.items()}
# Code with more paths than this is not followed.
_MAX_PATHS = 50


class Test(NamedTuple):
    """A condition that holds, and the text of its opposite.

    is_kind: whether it asks for the kind of an item. is_negative: whether it excludes kinds.
    """

    text: str
    opposite: str
    is_kind: bool = False
    is_negative: bool = False

    @property
    def inverse(self) -> Test:
        """The opposite condition."""
        return Test(self.opposite, self.text, self.is_kind, not self.is_negative)


Path = tuple[Test, ...]
# A condition, and the statements that run if it holds.
_Branch = tuple[Test, list[Node]]


def negated(condition: Node) -> str:
    """Returns the opposite of a condition as it would be written."""
    node = syntax.unwrapped(condition)
    operator = text(node.child_by_field_name("operator"))
    if node.type == "unary_expression" and operator == "!":
        return text(syntax.unwrapped(node.named_children[-1]))
    if node.type == "binary_expression" and operator in _OPPOSITES:
        left, right = (text(node.child_by_field_name(name)) for name in ("left", "right"))
        return f"{left} {_OPPOSITES[operator]} {right}"
    source = text(node)
    return f"!{source}" if re.fullmatch(r"[\w.?!]+(\(.*\))?", source) else f"!({source})"


def paths_without(body: Iterable[Node], goals: Sequence[Node], raising: bool = True) -> list[Path]:
    """Returns the conditions of each path through statements that reaches none of some nodes.

    raising: whether an exception ends a path; else its caller is told.
    Guards that a path has passed are not part of its conditions.
    """
    flow = _Flow(goals, raising)
    remaining = flow.block(body, ())
    return list(dict.fromkeys((*flow.ended, *remaining)))


def conditions(paths: Iterable[Path]) -> list[str]:
    """Returns the conditions that exclude these paths, as they are written."""
    texts = [" or ".join(test.opposite for test in path) or "false" for path in paths]
    return list(dict.fromkeys(" ".join(item.split()) for item in texts))


def breaks(loop: Node) -> list[Node]:
    """Returns the statements that end a loop."""
    inner = {*_LOOPS, "switch_statement", *FUNCTIONS}
    return [
        item
        for item in syntax.walk(loop)
        if item.type == "break_statement" and syntax.enclosing(item, *inner)[0] == loop
    ]


def statements_of(function: Node) -> list[Node]:
    """Returns the statements of a function; of an arrow without a block, its value."""
    body = function.child_by_field_name("body")
    if body is None:
        return []
    return body.named_children if body.type == "statement_block" else [body]


class _Flow:
    """Follows the statements of a function. ended: the paths that ended at an exit."""

    def __init__(self, goals: Sequence[Node], raising: bool) -> None:
        self.ended: list[Path] = []
        self._goals = goals
        self._raising = raising
        self._reached = 0
        # For each loop or `switch` around a statement, where the paths of its `break` go on.
        self._breaks: list[list[Path]] = []

    def block(self, body: Iterable[Node], path: Path) -> list[Path]:
        """Returns the paths that go on behind statements without having reached a node."""
        paths = [path]
        for statement in body:
            if paths and len(paths) < _MAX_PATHS and self._matters(statement):
                paths = [after for item in paths for after in self._statement(statement, item)]
        return paths

    def _statement(self, node: Node, path: Path) -> list[Path]:
        if node.type in _BLOCKS:
            return self.block(node.named_children, path)
        if node.type == "if_statement":
            return self._branches(list(_if_branches(node)), path)
        if node.type == "switch_statement":
            self._breaks.append([])
            remaining = self._branches(list(_cases(node)), path)
            return [*remaining, *self._breaks.pop()]
        if node.type in _LOOPS:
            return self._loop(node, path)
        if node.type == "try_statement":
            return self._try(node, path)
        choice = _choice(node)
        if choice is not None and self._holds(node):
            return self._branches(choice, path)
        return self._simple(node, path)

    def _simple(self, node: Node, path: Path) -> list[Path]:
        if self._holds(node):
            self._reached += 1
            for function in self._functions_around_goals(node):
                self.ended += self.block(statements_of(function), path)
            return []
        if node.type not in _EXITS:
            return [path]
        if node.type == "break_statement" and self._breaks:
            self._breaks[-1].append(path)
        elif self._raising or node.type != "throw_statement":
            self.ended.append(path)
        return []

    def _functions_around_goals(self, statement: Node) -> list[Node]:
        """Returns the functions in a statement that contain a node, such as callbacks."""
        functions = {
            outer.id: outer
            for goal in self._goals
            if _contains(statement, goal)
            for outer in syntax.enclosing(goal, *FUNCTIONS)
            if _contains(statement, outer) and _block_of(outer)
        }
        return list(functions.values())

    def _branches(self, branches: Sequence[_Branch], path: Path) -> list[Path]:
        reached = self._reached
        remaining = [it for test, body in branches for it in self.block(body, (*path, test))]
        # Where no branch reaches a node, it does not matter which of them was taken.
        return remaining if self._reached > reached else [path] if remaining else []

    def _loop(self, node: Node, path: Path) -> list[Path]:
        if not self._holds(node):
            return [path]
        self._breaks.append([])
        body = node.child_by_field_name("body")
        remaining = self.block([body] if body is not None else (), path)
        # Each item of the loop should reach a node.
        self.ended += [item for item in (*remaining, *self._breaks.pop()) if item != path]
        return []

    def _try(self, node: Node, path: Path) -> list[Path]:
        body, handler = node.child_by_field_name("body"), node.child_by_field_name("handler")
        after = self.block([body] if body is not None else (), path)
        if handler is not None and any(item.type in _EXITS for item in syntax.walk(handler)):
            test = Test("an exception is thrown", "no exception is thrown")
            caught = self.block([handler], (*path, test))
            after += caught if after else []
        finalizer = node.child_by_field_name("finalizer")
        finals = [finalizer] if finalizer is not None else []
        return [it for each in after for it in self.block(finals, each)]

    def _matters(self, node: Node) -> bool:
        return self._holds(node) or any(item.type in _EXITS for item in syntax.walk(node))

    def _holds(self, node: Node) -> bool:
        return any(_contains(node, goal) for goal in self._goals)


def _contains(outer: Node, inner: Node) -> bool:
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte


def _block_of(function: Node) -> bool:
    body = function.child_by_field_name("body")
    return body is not None and body.type == "statement_block"


def test_of(condition: Node | None) -> Test:
    if condition is None:
        return Test("true", "false")
    source = text(syntax.unwrapped(condition))
    is_kind, is_negative = is_kind_test(condition), bool(excluded_kind(condition))
    return Test(source, negated(condition), is_kind, is_negative)


def _if_branches(node: Node) -> Iterator[_Branch]:
    test = test_of(node.child_by_field_name("condition"))
    for name, holds in (("consequence", test), ("alternative", test.inverse)):
        body = node.child_by_field_name(name)
        yield holds, [body] if body is not None else []


def _cases(node: Node) -> Iterator[_Branch]:
    """Yields the condition and the statements of each case, and of no case.

    A case without an exit goes on with the statements of the next one.
    """
    subject = text(syntax.unwrapped(node.child_by_field_name("value") or node))
    body = node.child_by_field_name("body")
    cases = [item for item in body.named_children if item.type != "comment"] if body else []
    values: list[str] = []
    default: list[Node] | None = None
    for index, case in enumerate(cases):
        statements = _until_exit(cases[index:])
        if case.type == "switch_default":
            default = statements
            continue
        value = text(case.child_by_field_name("value"))
        values.append(value)
        yield Test(f"{subject} is {value}", f"{subject} is not {value}"), statements
    named = ", ".join(values)
    none = Test(f"{subject} is none of {named}", f"{subject} is one of {named}", True, True)
    yield none, default or []


def _until_exit(cases: Sequence[Node]) -> list[Node]:
    statements: list[Node] = []
    for case in cases:
        statements += case.children_by_field_name("body")
        if not falls_through(case):
            break
    return statements


def falls_through(case: Node) -> bool:
    """Whether a case of a `switch` goes on with the statements of the next one."""
    own = [item for item in case.children_by_field_name("body") if item.type != "comment"]
    last = own[-1] if own else None
    if last is not None and last.type == "statement_block" and last.named_children:
        last = last.named_children[-1]
    return last is None or last.type not in _EXITS


def _choice(node: Node) -> list[_Branch] | None:
    """Returns the branches of a conditional expression that stands as a statement."""
    inner = syntax.unwrapped(node)
    while inner.type in _AROUND and inner.named_children:
        inner = syntax.unwrapped(inner.named_children[-1])
    if inner.type == "ternary_expression":
        return list(_if_branches(inner))
    operator = text(inner.child_by_field_name("operator"))
    left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
    if inner.type != "binary_expression" or operator not in {"&&", "||"} or right is None:
        return None
    test = test_of(left) if operator == "&&" else test_of(left).inverse
    return [(test, [right]), (test.inverse, [])]
