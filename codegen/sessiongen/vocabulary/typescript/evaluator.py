"""Evaluates TypeScript expressions that convert a literal of an SDK into a proto value.

The supported language is small: constants, tables, conditions, enums, and functions and methods of
the package. An expression that refers to nothing in the package, such as `event.newState`,
stands for the literal; there may be only one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tree_sitter import Node

from sessiongen.vocabulary.evaluation import (
    LiteralSet,
    ProtoPath,
    ProtoValue,
    Table,
    Text,
    UnreadableError,
    is_other,
)
from sessiongen.vocabulary.typescript import evaluator_calls, syntax
from sessiongen.vocabulary.typescript.assignments import bindings
from sessiongen.vocabulary.typescript.evaluator_base import (
    BaseEvaluator,
    Function,
    NameScope,
)
from sessiongen.vocabulary.typescript.statements import execute
from sessiongen.vocabulary.typescript.syntax import FUNCTIONS, text

_EQUAL, _UNEQUAL = {"==", "==="}, {"!=", "!=="}
_IDENTIFIERS = {"identifier", "shorthand_property_identifier"}


class Evaluator(BaseEvaluator):
    """Evaluates expressions by their kind."""

    def evaluate(self, node: Node, scope: NameScope) -> Any:
        node = syntax.unwrapped(node)
        if node.type in _IDENTIFIERS:
            return self._identifier(node, scope)
        if node.type in FUNCTIONS:
            return Function(node, scope)
        if node.type in {"undefined", "null"}:
            return None
        if node.type in {"true", "false"}:
            return node.type == "true"
        if node.type == "string":
            return Text(self._constant(node))
        if node.type == "number":
            return text(node)
        evaluate = getattr(self, f"_{node.type}", None)
        if evaluate is None:
            raise UnreadableError(node, "this expression is not evaluated")
        return evaluate(node, scope)

    def _constant(self, node: Node) -> str:
        constant = syntax.constant(node)
        if constant is None:
            raise UnreadableError(node, "this string is not evaluated")
        return constant

    def _identifier(self, node: Node, scope: NameScope) -> Any:
        name = text(node)
        if name in scope.names:
            return scope.names[name]
        bound = bindings(name, node)
        if bound:
            return execute(self, bound, name, replace(scope, names={}))
        defined = self.defined(scope.file, name)
        return self.source(node) if defined is None else defined

    def _template_string(self, node: Node, scope: NameScope) -> Text:
        parts = []
        for item in node.named_children:
            if item.type == "template_substitution":
                parts.append(self.text(self.value(item.named_children[0], scope), node).value)
            else:
                parts.append(text(item))
        return Text("".join(parts))

    def _member_expression(self, node: Node, scope: NameScope) -> Any:
        member = syntax.member(node)
        assert member is not None
        owner, name = syntax.unwrapped(member[0]), member[1]
        if owner.type == "this":
            method = scope.methods.get(name)
            value = None if method is None else self._class_member(method, scope)
            return self.source(node) if value is None else value
        if self.is_opaque(owner, scope):
            return self.source(node)
        return self._part(node, self.value(owner, scope), name)

    def _part(self, node: Node, owner: Any, name: str) -> Any:
        if isinstance(owner, ProtoPath):
            return owner.below(name)
        if isinstance(owner, LiteralSet):
            return next((item for item in owner.members if item.member == name), None)
        if isinstance(owner, Table):
            return self.look_up(owner, Text(name))
        if owner is self.literal:
            # A property of something opaque: the whole path stands for the literal.
            self.trace.sources.clear()
            return self.source(node)
        raise UnreadableError(node, "this property is not evaluated")

    def _subscript_expression(self, node: Node, scope: NameScope) -> Any:
        owner_node, key_node = (node.child_by_field_name(name) for name in ("object", "index"))
        assert owner_node is not None and key_node is not None
        owner, key = self.value(owner_node, scope), self.value(key_node, scope)
        if isinstance(owner, Table):
            return self.look_up(owner, key)
        if isinstance(owner, ProtoPath):
            name = self.text(key, node).value
            return None if is_other(name) else ProtoValue(name)
        raise UnreadableError(node, "what is subscripted is not a table")

    def _object(self, node: Node, scope: NameScope) -> Table:
        table = Table()
        for item in node.named_children:
            if item.type == "pair":
                value = item.child_by_field_name("value")
                assert value is not None
                table.add(
                    self._key(item.child_by_field_name("key"), scope), self.value(value, scope)
                )
            elif item.type == "spread_element":
                spread = self.value(item.named_children[0], scope)
                if not isinstance(spread, Table):
                    raise UnreadableError(item, "what is spread here is not a table")
                table.update(spread)
            elif item.type != "comment":
                raise UnreadableError(item, "this entry is not evaluated")
        return table

    def _key(self, node: Node | None, scope: NameScope) -> Text:
        if node is not None and node.type == "computed_property_name":
            key = self.value(node.named_children[0], scope)
            if isinstance(key, Text) and key is not self.literal:
                return key
            raise UnreadableError(node, "a key of the table is not a constant")
        constant = syntax.constant(node)
        return Text(text(node) if constant is None else constant)

    def _array(self, node: Node, scope: NameScope) -> list[Any]:
        items: list[Any] = []
        for item in node.named_children:
            if item.type == "spread_element":
                items += self.items(item.named_children[0], scope)
            elif item.type != "comment":
                items.append(self.value(item, scope))
        return items

    def _ternary_expression(self, node: Node, scope: NameScope) -> Any:
        chosen = self.condition(node.child_by_field_name("condition"), scope)
        part = node.child_by_field_name("consequence" if chosen else "alternative")
        assert part is not None
        return self.value(part, scope)

    def _unary_expression(self, node: Node, scope: NameScope) -> bool:
        if text(node.child_by_field_name("operator")) != "!":
            raise UnreadableError(node, "this expression is not evaluated")
        return not self.condition(node.child_by_field_name("argument"), scope)

    def _binary_expression(self, node: Node, scope: NameScope) -> Any:
        left_node, right_node = (node.child_by_field_name(name) for name in ("left", "right"))
        assert left_node is not None and right_node is not None
        operator, left = text(node.child_by_field_name("operator")), self.value(left_node, scope)
        if operator == "??":
            return self.value(right_node, scope) if left is None else left
        if operator in {"||", "&&"}:
            done = self.truth(left) is (operator == "||")
            return left if done else self.value(right_node, scope)
        right = self.value(right_node, scope)
        if operator in _EQUAL | _UNEQUAL:
            return self.equal(left, right) is (operator in _EQUAL)
        if operator == "in" and isinstance(right, Table):
            self.trace.look_up(right)
            return self.text(left, node).value in right.entries
        if operator == "+":
            return Text(self.text(left, node).value + self.text(right, node).value)
        raise UnreadableError(node, "this expression is not evaluated")

    def _new_expression(self, node: Node, scope: NameScope) -> Any:
        return evaluator_calls.construct(self, node, scope)

    def _call_expression(self, node: Node, scope: NameScope) -> Any:
        return evaluator_calls.call(self, node, scope)

    def _class_member(self, node: Node, scope: NameScope) -> Any:
        if node.type in FUNCTIONS:
            return Function(node, NameScope(scope.file, scope.methods))
        return None
