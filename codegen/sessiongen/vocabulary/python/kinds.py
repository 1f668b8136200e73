"""Reads what Python code does with an item of a kind that it does not know.

Code that constructs a message for one kind of item after the other is a chain of `if` or a `match`
on the item's type, or a comprehension that keeps some types.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from sessiongen.vocabulary.behaviours import EMPTY_MESSAGE, NOTHING_SENT, UNKNOWN_KIND
from sessiongen.vocabulary.model import Behaviour
from sessiongen.vocabulary.python.construction_builder import ConstructionBuilder
from sessiongen.vocabulary.python.literals import constant, dotted, last
from sessiongen.vocabulary.python.parsed_module import Module, inner_bodies

_TAG = "type"


def is_kind_test(test: ast.expr) -> bool:
    """Whether a condition compares the class or the `type` of an item."""
    if isinstance(test, ast.BoolOp):
        return all(is_kind_test(item) for item in test.values)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return is_kind_test(test.operand)
    if isinstance(test, ast.Compare):
        return isinstance(test.left, ast.Attribute) and test.left.attr == _TAG
    return isinstance(test, ast.Call) and dotted(test.func) == "isinstance"


def excluded_kind(test: ast.expr) -> str:
    """Returns the kind of item that a condition leaves out, "" for any other condition."""
    if isinstance(test, ast.Compare) and is_kind_test(test):
        excluding = isinstance(test.ops[0], (ast.NotEq, ast.NotIn))
        other = test.comparators[0]
        return (constant(other) or ast.unparse(other)) if excluding else ""
    if isinstance(test, ast.UnaryOp) and is_kind_test(test):
        call = test.operand
        if isinstance(call, ast.Compare) and isinstance(call.ops[0], (ast.Eq, ast.In)):
            return constant(call.comparators[0]) or ast.unparse(call.comparators[0])
        return ast.unparse(call.args[1]) if isinstance(call, ast.Call) and call.args[1:] else ""
    return ""


def kind_behaviours(
    module: Module, constructions: Iterable[ConstructionBuilder]
) -> Iterator[Behaviour]:
    """Yields what becomes of an item of an unknown kind, for each message that depends on it."""
    by_function: dict[int, list[ConstructionBuilder]] = {}
    functions: dict[int, ast.AST] = {}
    for item in constructions:
        if item.function is not None:
            functions[id(item.function)] = item.function
            by_function.setdefault(id(item.function), []).append(item)
    for key, function in functions.items():
        reader = _KindReader(module, by_function[key])
        yield from reader.read(getattr(function, "body", []), False)
        yield from reader.comprehensions(function)


class _KindReader:
    """Reads one function. constructions: those in it."""

    def __init__(self, module: Module, constructions: list[ConstructionBuilder]) -> None:
        self._module = module
        self._messages = {id(item.node): item for item in constructions}
        self._within = constructions[0].within

    def read(self, body: list[ast.stmt], loop: bool) -> Iterator[Behaviour]:
        """Yields the behaviour of each chain in a block. loop: whether it is inside a loop."""
        for index, statement in enumerate(body):
            rest = body[index + 1 :]
            if isinstance(statement, ast.If) and is_kind_test(statement.test):
                yield from self._chain(statement, _branches(statement), rest, loop)
            elif isinstance(statement, ast.Match) and _is_kind_subject(statement.subject):
                yield from self._chain(statement, _cases(statement), rest, loop)
            for inner in _blocks(statement):
                yield from self.read(inner, loop or isinstance(statement, (ast.For, ast.While)))

    def comprehensions(self, function: ast.AST) -> Iterator[Behaviour]:
        """Yields the messages of comprehensions that keep some kinds of items."""
        for node in ast.walk(function):
            if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
                tests = [test for item in node.generators for test in item.ifs]
                message = self._message([node.elt])
                if message and any(
                    is_kind_test(test) and not excluded_kind(test) for test in tests
                ):
                    yield self._behaviour(message, NOTHING_SENT, node)

    def _chain(
        self,
        statement: ast.stmt,
        branches: tuple[list[list[ast.stmt]], list[ast.stmt] | None],
        rest: list[ast.stmt],
        loop: bool,
    ) -> Iterator[Behaviour]:
        known, otherwise = branches
        messages = [self._message(branch) for branch in known]
        # Branches that construct different messages are no conversion of one item.
        if messages and messages[0] and len(set(messages)) == 1:
            outcome = self._outcome(messages[0], otherwise, rest, loop)
            yield self._behaviour(messages[0], outcome, statement)

    def _outcome(
        self, message: str, otherwise: list[ast.stmt] | None, rest: list[ast.stmt], loop: bool
    ) -> str:
        body = otherwise if otherwise is not None else ([] if loop else rest)
        if not body or isinstance(body[0], (ast.Continue, ast.Pass)):
            return NOTHING_SENT
        first = body[0]
        if isinstance(first, ast.Raise):
            raised = first.exc.func if isinstance(first.exc, ast.Call) else first.exc
            return last(raised) if raised is not None else ""
        if isinstance(first, ast.Return) and first.value is None:
            return NOTHING_SENT
        if isinstance(first, ast.Return) and isinstance(first.value, ast.Constant):
            return str(first.value.value)
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Call):
            if last(first.value.func) == "assert_never":
                return "AssertionError"
        construction = self._construction([first])
        if construction is None or construction.message != message:
            return ""
        return "" if construction.fields or construction.open else EMPTY_MESSAGE

    def _construction(self, body: Iterable[ast.AST]) -> ConstructionBuilder | None:
        """Returns the outermost construction in a block."""
        for part in body:
            for node in ast.walk(part):
                if id(node) in self._messages:
                    return self._messages[id(node)]
        return None

    def _message(self, body: Iterable[ast.AST]) -> str:
        """Returns the message that a block constructs for the item: the last outermost one."""
        names = [item.message for part in body if (item := self._construction([part]))]
        return names[-1] if names else ""

    def _behaviour(self, message: str, outcome: str, node: ast.AST) -> Behaviour:
        return Behaviour(UNKNOWN_KIND, message, self._within, outcome, self._module.place(node))


def _is_kind_subject(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute))


def _branches(statement: ast.If) -> tuple[list[list[ast.stmt]], list[ast.stmt] | None]:
    """Returns the branches of a chain of `if` and `elif`, and its `else`."""
    known = [statement.body]
    rest = statement.orelse
    while len(rest) == 1 and isinstance(rest[0], ast.If) and is_kind_test(rest[0].test):
        known.append(rest[0].body)
        rest = rest[0].orelse
    return known, rest or None


def _cases(statement: ast.Match) -> tuple[list[list[ast.stmt]], list[ast.stmt] | None]:
    known, otherwise = [], None
    for case in statement.cases:
        if isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None:
            otherwise = case.body
        else:
            known.append(case.body)
    return known, otherwise


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yields the blocks of a statement; the `elif` of a chain belongs to it."""
    if isinstance(statement, ast.If) and is_kind_test(statement.test):
        yield statement.body
    else:
        yield from inner_bodies(statement)
