"""Executes Python statements on the way to the value of a function or a variable."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from sessiongen.vocabulary.evaluation import RaisedError, UnreadableError
from sessiongen.vocabulary.expression_evaluator import Break, Continue, Result
from sessiongen.vocabulary.python.assignments import assigns
from sessiongen.vocabulary.python.evaluator_base import BaseEvaluator, Function, NameScope
from sessiongen.vocabulary.python.literals import dotted, last

_IGNORED = (ast.Expr, ast.Pass, ast.Assert, ast.Import, ast.ImportFrom, ast.Global)
_RAISING_CALLS = {"assert_never"}
_BASES = {"Exception", "BaseException", "LookupError"}


def run(evaluator: BaseEvaluator, function: Function, names: dict[str, Any]) -> Any:
    """Returns what a function returns for the values of its parameters."""
    node, scope = function.node, function.scope
    inner = replace(scope, function=node, names={**scope.names, **names})
    if isinstance(node, ast.Lambda):
        return evaluator.value(node.body, inner)
    if any(isinstance(item, (ast.Yield, ast.YieldFrom)) for item in ast.walk(node)):
        raise UnreadableError(node, "a generator is not evaluated")
    result = _block(evaluator, node.body, inner)
    return result.value if result is not None else None


def execute(evaluator: BaseEvaluator, body: list[ast.stmt], name: str, scope: NameScope) -> Any:
    """Returns the value of a variable after the statements that determine it."""
    _block(evaluator, body, scope, only=name)
    if name not in scope.names:
        raise UnreadableError(body[0], f"the variable {name} is not always assigned")
    return scope.names[name]


def _block(
    evaluator: BaseEvaluator, body: list[ast.stmt], scope: NameScope, only: str | None = None
) -> Result | None:
    for statement in body:
        if only is not None and not assigns(statement, only):
            continue
        result = _statement(evaluator, statement, scope, only)
        if result is not None:
            return result
    return None


def _statement(
    evaluator: BaseEvaluator, node: ast.stmt, scope: NameScope, only: str | None
) -> Result | None:
    if isinstance(node, ast.Return):
        return Result(evaluator.value(node.value, scope) if node.value else None)
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        _assign(evaluator, node, scope)
    elif isinstance(node, ast.If):
        body = node.body if evaluator.condition(node.test, scope) else node.orelse
        return _block(evaluator, body, scope, only)
    elif isinstance(node, ast.Match):
        return _match(evaluator, node, scope, only)
    elif isinstance(node, ast.Try):
        return _try(evaluator, node, scope, only)
    elif isinstance(node, ast.For):
        return _for(evaluator, node, scope, only)
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        return _block(evaluator, node.body, scope, only)
    elif isinstance(node, ast.Raise):
        raise RaisedError(_exception(node.exc))
    elif isinstance(node, ast.Break):
        raise Break
    elif isinstance(node, ast.Continue):
        raise Continue
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        if last(node.value.func) in _RAISING_CALLS:
            raise RaisedError("AssertionError")
    elif not isinstance(node, _IGNORED):
        raise UnreadableError(node, "this statement is not evaluated")
    return None


def _exception(node: ast.expr | None) -> str:
    inner = node.func if isinstance(node, ast.Call) else node
    return last(inner) if inner is not None and dotted(inner) else "Exception"


def _assign(evaluator: BaseEvaluator, node: ast.Assign | ast.AnnAssign, scope: NameScope) -> None:
    if node.value is None:
        return
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    value = evaluator.value(node.value, scope)
    for target in targets:
        scope.names.update(evaluator.unpacked(target, value))


def _match(
    evaluator: BaseEvaluator, node: ast.Match, scope: NameScope, only: str | None
) -> Result | None:
    subject = evaluator.value(node.subject, scope)
    for case in node.cases:
        if _matches(evaluator, case.pattern, subject, scope):
            if case.guard is None or evaluator.condition(case.guard, scope):
                return _block(evaluator, case.body, scope, only)
    return None


def _matches(
    evaluator: BaseEvaluator, pattern: ast.pattern, subject: Any, scope: NameScope
) -> bool:
    if isinstance(pattern, ast.MatchValue):
        return evaluator.equal(subject, evaluator.value(pattern.value, scope))
    if isinstance(pattern, ast.MatchSingleton):
        return evaluator.equal(subject, pattern.value)
    if isinstance(pattern, ast.MatchOr):
        return any([_matches(evaluator, item, subject, scope) for item in pattern.patterns])
    if isinstance(pattern, ast.MatchAs):
        if pattern.pattern is not None and not _matches(evaluator, pattern.pattern, subject, scope):
            return False
        if pattern.name is not None:
            scope.names[pattern.name] = subject
        return True
    raise UnreadableError(pattern, "this pattern is not evaluated")


def _try(
    evaluator: BaseEvaluator, node: ast.Try, scope: NameScope, only: str | None
) -> Result | None:
    try:
        result = _block(evaluator, node.body, scope, only)
        result = result or _block(evaluator, node.orelse, scope, only)
    except RaisedError as error:
        for handler in node.handlers:
            kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
            names = {last(kind) for kind in kinds if kind is not None}
            if handler.type is None or error.name in names or names & _BASES:
                return _block(evaluator, handler.body, scope, only)
        raise
    return result


def _for(
    evaluator: BaseEvaluator, node: ast.For, scope: NameScope, only: str | None
) -> Result | None:
    for item in evaluator.items(node.iter, scope):
        scope.names.update(evaluator.unpacked(node.target, item))
        try:
            result = _block(evaluator, node.body, scope, None)
        except Break:
            return None
        except Continue:
            continue
        if result is not None:
            return result
    return _block(evaluator, node.orelse, scope, only)
