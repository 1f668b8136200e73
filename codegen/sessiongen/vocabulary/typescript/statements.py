"""Executes TypeScript statements on the way to the value of a function or a variable."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tree_sitter import Node

from sessiongen.vocabulary.evaluation import RaisedError, UnreadableError
from sessiongen.vocabulary.expression_evaluator import Break, Continue, Result
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.evaluator_base import (
    BaseEvaluator,
    Function,
    NameScope,
    unpacked,
)
from sessiongen.vocabulary.typescript.syntax import text

_IGNORED = {"comment", "empty_statement", "import_statement"}


def run(evaluator: BaseEvaluator, function: Function, names: dict[str, Any]) -> Any:
    """Returns what a function returns for the values of its parameters."""
    body = function.node.child_by_field_name("body")
    if body is None or function.node.type == "generator_function_declaration":
        raise UnreadableError(function.node, "this function is not evaluated")
    scope = replace(function.scope, names={**function.scope.names, **names})
    if body.type != "statement_block":
        return evaluator.value(body, scope)
    result = _block(evaluator, body.named_children, scope)
    return result.value if result is not None else None


def execute(evaluator: BaseEvaluator, binding: list[Node], name: str, scope: NameScope) -> Any:
    """Returns the value of a variable after the statements that assign it."""
    if len(binding) == 1:
        value = binding[0].child_by_field_name("value") or binding[0].child_by_field_name("right")
        assert value is not None
        return evaluator.value(value, scope)
    block = next(
        outer
        for outer in syntax.enclosing(binding[0], "statement_block")
        if all(_contains(outer, item) for item in binding)
    )
    statements = [it for it in block.named_children if any(_contains(it, b) for b in binding)]
    _block(evaluator, statements, scope, binding)
    if name not in scope.names:
        raise UnreadableError(block, f"the variable {name} is not always assigned")
    return scope.names[name]


def _contains(outer: Node, inner: Node) -> bool:
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte


def _block(
    evaluator: BaseEvaluator, body: Iterable[Node], scope: NameScope, only: list[Node] | None = None
) -> Result | None:
    for statement in body:
        if only is None or any(_contains(statement, item) for item in only):
            result = _statement(evaluator, statement, scope, only)
            if result is not None:
                return result
    return None


def _statement(
    evaluator: BaseEvaluator, node: Node, scope: NameScope, only: list[Node] | None
) -> Result | None:
    if node.type in {"statement_block", "else_clause"}:
        return _block(evaluator, node.named_children, scope, only)
    if node.type == "return_statement":
        values = [item for item in node.named_children if item.type != "comment"]
        return Result(evaluator.value(values[0], scope) if values else None)
    if node.type in {"lexical_declaration", "variable_declaration"}:
        for item in node.named_children:
            value = item.child_by_field_name("value")
            if item.type == "variable_declarator" and value is not None:
                _bind(evaluator, item.child_by_field_name("name"), value, scope)
    elif node.type == "expression_statement":
        _expression(evaluator, node.named_children[0], scope)
    elif node.type == "if_statement":
        chosen = evaluator.condition(node.child_by_field_name("condition"), scope)
        part = node.child_by_field_name("consequence" if chosen else "alternative")
        return _statement(evaluator, part, scope, only) if part is not None else None
    elif node.type == "switch_statement":
        return _switch(evaluator, node, scope, only)
    elif node.type == "throw_statement":
        thrown = node.named_children[0].child_by_field_name("constructor")
        raise RaisedError(text(thrown) or "Error")
    elif node.type == "try_statement":
        return _try(evaluator, node, scope, only)
    elif node.type == "for_in_statement":
        return _for(evaluator, node, scope)
    elif node.type == "break_statement":
        raise Break
    elif node.type == "continue_statement":
        raise Continue
    elif node.type not in _IGNORED:
        raise UnreadableError(node, "this statement is not evaluated")
    return None


def _bind(evaluator: BaseEvaluator, target: Node | None, value: Node, scope: NameScope) -> None:
    if target is None or target.type != "identifier":
        raise UnreadableError(target, "this assignment is not evaluated")
    scope.names[text(target)] = evaluator.value(value, scope)


def _expression(evaluator: BaseEvaluator, node: Node, scope: NameScope) -> None:
    """Executes an assignment; other expressions, such as the call of a logger, are ignored."""
    right = node.child_by_field_name("right")
    if node.type == "assignment_expression" and right is not None:
        _bind(evaluator, node.child_by_field_name("left"), right, scope)


def _switch(
    evaluator: BaseEvaluator, node: Node, scope: NameScope, only: list[Node] | None
) -> Result | None:
    value, body = node.child_by_field_name("value"), node.child_by_field_name("body")
    assert value is not None and body is not None
    subject, cases = evaluator.value(value, scope), body.named_children
    start = None
    for index, case in enumerate(cases):
        test = case.child_by_field_name("value")
        if case.type == "switch_case" and test is not None:
            if evaluator.equal(subject, evaluator.value(test, scope)) and start is None:
                start = index
    if start is None:
        defaults = [at for at, case in enumerate(cases) if case.type == "switch_default"]
        start = defaults[0] if defaults else len(cases)
    statements = [part for case in cases[start:] for part in case.children_by_field_name("body")]
    try:
        for statement in statements:
            result = _statement(evaluator, statement, scope, None)
            if result is not None:
                return result
    except Break:
        pass
    return None


def _try(
    evaluator: BaseEvaluator, node: Node, scope: NameScope, only: list[Node] | None
) -> Result | None:
    body, handler = node.child_by_field_name("body"), node.child_by_field_name("handler")
    assert body is not None
    try:
        return _statement(evaluator, body, scope, only)
    except RaisedError:
        caught = handler.child_by_field_name("body") if handler is not None else None
        if caught is None:
            raise
        return _statement(evaluator, caught, scope, only)


def _for(evaluator: BaseEvaluator, node: Node, scope: NameScope) -> Result | None:
    target, body = node.child_by_field_name("left"), node.child_by_field_name("body")
    items = node.child_by_field_name("right")
    assert target is not None and body is not None and items is not None
    for item in evaluator.items(items, scope):
        scope.names.update(unpacked(target, item))
        try:
            result = _statement(evaluator, body, scope, None)
        except Break:
            return None
        except Continue:
            continue
        if result is not None:
            return result
    return None
