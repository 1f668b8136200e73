"""Finds the conditions under which a block of Python code ends without reaching any of some nodes."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from sessiongen.vocabulary.python.literals import last

_EXITS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
# Code with more paths than this is not followed.
_MAX_PATHS = 50


class Test(NamedTuple):
    """A condition that holds, and the text of its opposite."""

    text: str
    opposite: str

    @classmethod
    def of(cls, test: ast.expr) -> Test:
        """Returns the condition that an expression is true."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return cls.of(test.operand).inverse
        text = ast.unparse(_with_union(test))
        return cls(text, f"not ({text})")

    @property
    def inverse(self) -> Test:
        """The opposite condition."""
        return Test(self.opposite, self.text)


Path = tuple[Test, ...]


def paths_without(
    body: Sequence[ast.stmt], nodes: Collection[int], raising: bool = True
) -> list[Path]:
    """Returns the conditions of each path through a block that reaches none of some nodes.

    nodes: their ids. raising: whether an exception ends a path; else its caller is told.
    Guards that a path has passed are not part of its conditions.
    """
    flow = _Flow(nodes, raising)
    remaining = flow.block(body, ())
    return list(dict.fromkeys((*flow.ended, *remaining)))


def conditions(paths: Iterable[Path]) -> list[str]:
    """Returns the conditions that exclude these paths, as they are written."""
    texts = [" or ".join(test.opposite for test in path) or "False" for path in paths]
    return list(dict.fromkeys(" ".join(text.split()) for text in texts))


class _Flow:
    """Follows the statements of a function. ended: the paths that ended at an exit."""

    def __init__(self, nodes: Collection[int], raising: bool) -> None:
        self.ended: list[Path] = []
        self._nodes = nodes
        self._raising = raising
        self._reached = 0
        # Whether the loop around a statement contains one of the nodes.
        self._loops: list[bool] = []

    def block(self, body: Sequence[ast.stmt], path: Path) -> list[Path]:
        """Returns the paths that go on behind a block without having reached a node."""
        paths = [path]
        for statement in body:
            if paths and len(paths) < _MAX_PATHS and self._matters(statement):
                paths = [after for item in paths for after in self._statement(statement, item)]
        return paths

    def _statement(self, node: ast.stmt, path: Path) -> list[Path]:
        if isinstance(node, ast.If):
            test = Test.of(node.test)
            return self._branches([((test,), node.body), ((test.inverse,), node.orelse)], path)
        if isinstance(node, ast.Match):
            return self._branches(list(_cases(node)), path)
        if isinstance(node, _LOOPS):
            return self._loop(node, path)
        if isinstance(node, ast.Try):
            after = [
                it for each in self.block(node.body, path) for it in self.block(node.orelse, each)
            ]
            return [it for each in after for it in self.block(node.finalbody, each)]
        if isinstance(node, (ast.With, ast.AsyncWith)):
            # What an exception of the block does is not followed.
            return self.block(node.body, path)
        if isinstance(node, _FUNCTIONS):
            return self._inner_function(node, path)
        if isinstance(node, ast.Expr) and (choice := _choice(node.value)) is not None:
            return self._branches(choice, path)
        return self._simple(node, path)

    def _simple(self, node: ast.stmt, path: Path) -> list[Path]:
        if self._holds(node):
            self._reached += 1
            return []
        if not isinstance(node, _EXITS):
            return [path]
        in_loop = isinstance(node, (ast.Continue, ast.Break))
        ignored = in_loop and not (self._loops and self._loops[-1])
        if not ignored and (self._raising or not isinstance(node, ast.Raise)):
            self.ended.append(path)
        return []

    def _branches(
        self, branches: Sequence[tuple[Path, Sequence[ast.stmt]]], path: Path
    ) -> list[Path]:
        reached = self._reached
        remaining = [it for tests, body in branches for it in self.block(body, (*path, *tests))]
        # Where no branch reaches a node, it does not matter which of them was taken.
        return remaining if self._reached > reached else [path] if remaining else []

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, path: Path) -> list[Path]:
        holds = self._holds(node)
        self._loops.append(holds)
        remaining = self.block(node.body, path)
        self._loops.pop()
        if not holds:
            return [path]
        # Each item of the loop should reach a node.
        self.ended += [item for item in remaining if item != path]
        return []

    def _inner_function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, path: Path
    ) -> list[Path]:
        """A function that is defined inside runs where it is defined, as far as one can see."""
        if any(map(self._holds, node.decorator_list)):
            self._reached += 1
            return []
        if not self._holds(node):
            return [path]
        self.ended += self.block(node.body, path)
        return []

    def _matters(self, node: ast.stmt) -> bool:
        return any(id(item) in self._nodes or isinstance(item, _EXITS) for item in ast.walk(node))

    def _holds(self, node: ast.AST) -> bool:
        return any(id(item) in self._nodes for item in ast.walk(node))


def _cases(node: ast.Match) -> Iterator[tuple[Path, list[ast.stmt]]]:
    """Yields the conditions and the statements of each case, and of no case."""
    subject = ast.unparse(node.subject)
    others: list[Test] = []
    for case in node.cases:
        text = _matched(subject, case.pattern)
        tests = [Test(text, f"not ({text})")] if text else []
        tests += [Test.of(case.guard)] if case.guard is not None else []
        yield (*others, *tests), case.body
        if not tests:
            return
        if case.guard is None:
            others.append(tests[0].inverse)
    yield tuple(others), []


def _matched(subject: str, pattern: ast.pattern) -> str:
    """Returns the condition that a pattern matches, written as a test; "" if it always does."""
    if isinstance(pattern, ast.MatchAs):
        return _matched(subject, pattern.pattern) if pattern.pattern is not None else ""
    if isinstance(pattern, ast.MatchValue):
        return f"{subject} == {ast.unparse(pattern.value)}"
    parts = pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]
    classes = [
        ast.unparse(part.cls)
        for part in parts
        if isinstance(part, ast.MatchClass)
        if not part.patterns and not any(_matched("", item) for item in part.kwd_patterns)
    ]
    if len(classes) == len(parts):
        return f"isinstance({subject}, {' | '.join(classes)})"
    return f"{subject} is {ast.unparse(pattern)}"


def _with_union(test: ast.expr) -> ast.expr:
    """Returns `isinstance(x, A | B)` for `isinstance(x, (A, B))`, and any other condition as it is."""
    if isinstance(test, ast.Call) and last(test.func) == "isinstance" and len(test.args) == 2:
        classes = test.args[1]
        if isinstance(classes, ast.Tuple) and classes.elts:
            union = classes.elts[0]
            for item in classes.elts[1:]:
                union = ast.BinOp(union, ast.BitOr(), item)
            return ast.Call(test.func, [test.args[0], union], [])
    return test


def _choice(node: ast.expr) -> list[tuple[Path, list[ast.stmt]]] | None:
    """Returns the branches of a conditional expression that stands as a statement."""
    if isinstance(node, ast.IfExp):
        test = Test.of(node.test)
        return [((test,), [ast.Expr(node.body)]), ((test.inverse,), [ast.Expr(node.orelse)])]
    if isinstance(node, ast.BoolOp):
        first = node.values[0]
        rest = node.values[1:]
        inner = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
        test = Test.of(first)
        test = test if isinstance(node.op, ast.And) else test.inverse
        return [((test,), [ast.Expr(inner)]), ((test.inverse,), [])]
    return None
