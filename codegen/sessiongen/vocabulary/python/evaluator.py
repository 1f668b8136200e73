"""Evaluates Python expressions that convert a literal of an SDK into a proto value.

The supported language is small: constants, tables, conditions, comprehensions, enums, and functions
and methods of the package. An expression that refers to nothing in the package, such as
`event.new_state`, stands for the literal; there may be only one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from sessiongen.vocabulary.evaluation import (
    LiteralSet,
    ProtoPath,
    Table,
    Text,
    UnreadableError,
    is_other,
)
from sessiongen.vocabulary.python import evaluator_calls
from sessiongen.vocabulary.python.assignments import assignments_to
from sessiongen.vocabulary.python.evaluator_base import BaseEvaluator, Function, NameScope
from sessiongen.vocabulary.python.literals import dotted
from sessiongen.vocabulary.python.statements import execute

_EXPRESSIONS = (ast.Tuple, ast.List, ast.Set)


class Evaluator(BaseEvaluator):
    """Evaluates expressions by their kind."""

    def evaluate(self, node: ast.expr, scope: NameScope) -> Any:
        evaluate: Callable[[Any, NameScope], Any] | None = getattr(
            self, f"_{type(node).__name__.lower()}", None
        )
        if evaluate is not None:
            return evaluate(node, scope)
        if isinstance(node, _EXPRESSIONS):
            return [self.value(item, scope) for item in node.elts]
        raise UnreadableError(node, "this expression is not evaluated")

    def _constant(self, node: ast.Constant, scope: NameScope) -> Any:
        return Text(node.value) if isinstance(node.value, str) else node.value

    def _name(self, node: ast.Name, scope: NameScope) -> Any:
        if node.id in scope.names:
            return scope.names[node.id]
        if scope.function is not None:
            assigned = assignments_to(node.id, scope.function)
            if assigned is not None:
                return execute(self, assigned, node.id, replace(scope, names={}))
        defined = self.defined(scope.module, node.id)
        return self.source(node) if defined is None else defined

    def _attribute(self, node: ast.Attribute, scope: NameScope) -> Any:
        name = dotted(node)
        head = name.partition(".")[0] if name else ""
        if name is not None and head not in scope.names:
            own = head in {"self", "cls"} or (scope.owner and head == scope.owner.name)
            if own and scope.owner is not None and name.count(".") == 1:
                member = self.class_member(scope, name.partition(".")[2])
                return self.source(node) if member is None else member
            local = scope.function is not None and assignments_to(head, scope.function) is not None
            if not local:
                defined = self.defined(scope.module, name)
                return self.source(node) if defined is None else defined
        return self._part(node, self.value(node.value, scope))

    def _part(self, node: ast.Attribute, owner: Any) -> Any:
        if isinstance(owner, ProtoPath):
            return owner.below(node.attr)
        if isinstance(owner, LiteralSet):
            return next((item for item in owner.members if item.member == node.attr), None)
        if isinstance(owner, Text) and node.attr in {"value", "name"}:
            if node.attr == "value":
                return Text(owner.value)
            if owner.member is None and not is_other(owner.value):
                raise UnreadableError(node, "the name of this enum member is not known")
            return Text(owner.member or owner.value)
        if owner is self.literal:
            # A field of something opaque: the whole path stands for the literal.
            self.trace.sources.discard(ast.unparse(node.value))
            return self.source(node)
        raise UnreadableError(node, "this attribute is not evaluated")

    def _dict(self, node: ast.Dict, scope: NameScope) -> Table:
        table = Table()
        for key, item in zip(node.keys, node.values, strict=True):
            value = self.value(item, scope)
            if key is None and isinstance(value, Table):
                table.update(value)
                continue
            text = self.value(key, scope) if key is not None else None
            if not isinstance(text, Text) or text is self.literal:
                raise UnreadableError(key or item, "a key of the table is not a constant")
            table.add(text, value)
        return table

    def _dictcomp(self, node: ast.DictComp, scope: NameScope) -> Table:
        table = Table()
        for inner in self._iterations(node.generators, scope):
            key = self.value(node.key, inner)
            if not isinstance(key, Text):
                raise UnreadableError(node.key, "a key of the table is not a constant")
            table.add(key, self.value(node.value, inner))
        return table

    def _listcomp(self, node: ast.ListComp | ast.GeneratorExp, scope: NameScope) -> list[Any]:
        return [self.value(node.elt, inner) for inner in self._iterations(node.generators, scope)]

    _generatorexp = _listcomp

    def _iterations(self, loops: list[ast.comprehension], scope: NameScope) -> Iterator[NameScope]:
        if not loops:
            yield scope
            return
        for item in self.items(loops[0].iter, scope):
            inner = scope.bind(self.unpacked(loops[0].target, item))
            if all(self.truth(self.value(test, inner)) for test in loops[0].ifs):
                yield from self._iterations(loops[1:], inner)

    def _subscript(self, node: ast.Subscript, scope: NameScope) -> Any:
        table = self.value(node.value, scope)
        if not isinstance(table, Table):
            raise UnreadableError(node, "what is subscripted is not a table")
        key = self.value(node.slice, scope)
        return evaluator_calls.look_up(self, table, key, node, raises=True)

    def _ifexp(self, node: ast.IfExp, scope: NameScope) -> Any:
        return self.value(node.body if self.condition(node.test, scope) else node.orelse, scope)

    def _boolop(self, node: ast.BoolOp, scope: NameScope) -> Any:
        value: Any = None
        for item in node.values:
            value = self.value(item, scope)
            if self.truth(value) is isinstance(node.op, ast.Or):
                break
        return value

    def _unaryop(self, node: ast.UnaryOp, scope: NameScope) -> Any:
        if not isinstance(node.op, ast.Not):
            raise UnreadableError(node, "this expression is not evaluated")
        return not self.truth(self.value(node.operand, scope))

    def _binop(self, node: ast.BinOp, scope: NameScope) -> Any:
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        if isinstance(node.op, ast.Add) and isinstance(left, Text) and isinstance(right, Text):
            return Text(left.value + right.value)
        if isinstance(node.op, ast.Add) and isinstance(left, list) and isinstance(right, list):
            return [*left, *right]
        if isinstance(node.op, ast.BitOr) and isinstance(left, Table) and isinstance(right, Table):
            merged = Table()
            merged.update(left)
            merged.update(right)
            return merged
        raise UnreadableError(node, "this expression is not evaluated")

    def _joinedstr(self, node: ast.JoinedStr, scope: NameScope) -> Text:
        parts = [
            self.value(item.value if isinstance(item, ast.FormattedValue) else item, scope)
            for item in node.values
        ]
        return Text("".join(self.text(part, node).value for part in parts))

    def _namedexpr(self, node: ast.NamedExpr, scope: NameScope) -> Any:
        value = self.value(node.value, scope)
        scope.names[node.target.id] = value
        return value

    def _lambda(self, node: ast.Lambda, scope: NameScope) -> Function:
        return Function(node, scope)

    def _compare(self, node: ast.Compare, scope: NameScope) -> bool:
        left = self.value(node.left, scope)
        for operator, item in zip(node.ops, node.comparators, strict=True):
            right = self.value(item, scope)
            if not self._compared(node, operator, left, right):
                return False
            left = right
        return True

    def _compared(self, node: ast.Compare, operator: ast.cmpop, left: Any, right: Any) -> bool:
        if isinstance(operator, (ast.In, ast.NotIn)):
            items = list(right.keys.values()) if isinstance(right, Table) else right
            items = list(items.members) if isinstance(items, LiteralSet) else items
            if not isinstance(items, list):
                raise UnreadableError(node, "this condition is not evaluated")
            contained = any([self.equal(left, item) for item in items])
            return contained is isinstance(operator, ast.In)
        if isinstance(operator, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)):
            return self.equal(left, right) is isinstance(operator, (ast.Eq, ast.Is))
        raise UnreadableError(node, "this condition is not evaluated")

    def _call(self, node: ast.Call, scope: NameScope) -> Any:
        return evaluator_calls.call(self, node, scope)
