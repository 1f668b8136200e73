"""Finds branches on the arm of a oneof: `switch (x.oneof.case)`, `if (x.oneof.case === ...)`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.proto_names import ProtoNames
from sessiongen.vocabulary.typescript.modules import Modules
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.literals import LiteralReader
from sessiongen.vocabulary.typescript.syntax import text

_EQUAL = {"==", "==="}
# Nodes in which the name of an arm is only reported, for example in a log message.
_REPORTING_NODES = {"arguments", "pair", "template_substitution"}


@dataclass(frozen=True)
class Branch:
    """The statements that run for an arm, in the proto's spelling.

    node: its `case`, in a function.
    """

    arm: str
    node: Node
    body: tuple[Node, ...]
    function: Node

    def holds(self, node: Node) -> bool:
        """Whether a node is inside."""
        return any(
            part.start_byte <= node.start_byte and node.end_byte <= part.end_byte
            for part in self.body
        )


class Dispatch:
    """Finds the branches of one function on the arm of a message's union."""

    def __init__(
        self,
        modules: Modules,
        file: File,
        names: ProtoNames,
        message: str,
        faults: Faults,
        loops: bool = False,
    ) -> None:
        """loops: variables of loops are the message too, as for the envelope."""
        self.modules = modules
        self.literals = LiteralReader(modules, faults)
        self.file = file
        self.names = names
        self.message = message
        self.faults = faults
        self.loops = loops
        self._case_names: set[str] = set()

    def branches(self, function: Node) -> Iterator[Branch]:
        """Yields a branch for each arm that is named."""
        holders = self._holders(function)
        unions, self._case_names = self._variables(function, holders)
        unions |= set(self._destructured(function, holders))
        seen: set[int] = set()
        for node in syntax.walk(function):
            if node.type == "switch_statement":
                value = node.child_by_field_name("value")
                inner = syntax.unwrapped(value) if value else None
                if inner is not None and self._is_case(inner, holders, unions):
                    seen.add(inner.id)
                    yield from self._cases(node, function)
            elif node.type == "if_statement":
                for operand, other, test, body in self._tests(node, holders, unions):
                    seen.add(operand.id)
                    yield from self._branch(other, test, (body,), function)
        for node in syntax.walk(function):
            used = node.parent is not None and node.parent.type in _REPORTING_NODES
            if node.id not in seen and not used and self._is_case(node, holders, unions):
                self._fault(
                    node, "this test of an arm is neither a `switch` nor the condition of an `if`"
                )

    def _variables(self, function: Node, holders: set[str]) -> tuple[set[str], set[str]]:
        """Returns the variables that hold the union, and those that hold the name of its arm."""
        unions = {
            alias
            for item in syntax.parameters(function)
            if self.names.message(syntax.annotation(item)) == self.message
            for alias, _ in _members(item.child_by_field_name("pattern"))
        }
        cases: set[str] = set()
        for item in syntax.walk(function):
            name, value = item.child_by_field_name("name"), item.child_by_field_name("value")
            if item.type != "variable_declarator" or name is None or value is None:
                continue
            if text(syntax.unwrapped(value)) in holders:
                unions |= {alias for alias, _ in _members(name)}
            elif self._is_union(value, holders, unions):
                unions |= {text(name)} if name.type == "identifier" else set()
                cases |= {alias for alias, member in _members(name) if member == "case"}
        return unions, cases

    def _holders(self, function: Node) -> set[str]:
        """Returns the variables of a function that contain the message."""
        names = {
            text(item.child_by_field_name("pattern"))
            for item in syntax.parameters(function)
            if self.names.message(syntax.annotation(item)) == self.message
        }
        loops = syntax.walk(function) if self.loops else ()
        return names | {
            text(item.child_by_field_name("left"))
            for item in loops
            if item.type == "for_in_statement"
        }

    def _destructured(self, function: Node, holders: set[str]) -> Iterator[str]:
        """Yields the variables that hold a field of the message, as in `const { event } = x`."""
        patterns = [
            item.child_by_field_name("pattern")
            for item in syntax.parameters(function)
            if self.names.message(syntax.annotation(item)) == self.message
        ]
        for item in syntax.walk(function):
            if item.type == "for_in_statement" and self.loops:
                patterns.append(item.child_by_field_name("left"))
            elif item.type == "variable_declarator":
                value = item.child_by_field_name("value")
                if value is not None and text(syntax.unwrapped(value)) in holders:
                    patterns.append(item.child_by_field_name("name"))
        for pattern in patterns:
            if pattern is not None and pattern.type == "object_pattern":
                for part in pattern.named_children:
                    yield text(part.child_by_field_name("value") or part)

    def _is_union(self, node: Node | None, holders: set[str], unions: set[str]) -> bool:
        inner = syntax.unwrapped(node) if node else None
        if inner is not None and inner.type == "identifier":
            return text(inner) in unions
        member = syntax.member(inner)
        return member is not None and text(syntax.unwrapped(member[0])) in holders

    def _is_case(self, node: Node, holders: set[str], unions: set[str]) -> bool:
        member = syntax.member(node)
        if node.type == "identifier" and text(node) in self._case_names:
            return node.parent is not None and node.parent.type != "pair_pattern"
        return (
            member is not None
            and member[1] == "case"
            and self._is_union(member[0], holders, unions)
        )

    def _cases(self, node: Node, function: Node) -> Iterator[Branch]:
        body = node.child_by_field_name("body")
        pending: list[Node] = []
        for case in body.named_children if body else ():
            statements = tuple(case.children_by_field_name("body"))
            if case.type == "switch_case":
                pending.append(case)
            if not statements:
                continue
            for item in pending:
                value = item.child_by_field_name("value")
                yield from self._branch(value, item, statements, function)
            pending = []

    def _tests(
        self, node: Node, holders: set[str], unions: set[str]
    ) -> Iterator[tuple[Node, Node, Node, Node]]:
        """Yields each comparison with an arm: operand, other operand, comparison, and body."""
        condition = node.child_by_field_name("condition")
        body = node.child_by_field_name("consequence")
        for test in syntax.walk(condition) if condition and body else ():
            if (
                test.type != "binary_expression"
                or text(test.child_by_field_name("operator")) not in _EQUAL
            ):
                continue
            left, right = test.child_by_field_name("left"), test.child_by_field_name("right")
            for one, other in ((left, right), (right, left)):
                operand = syntax.unwrapped(one) if one else None
                if body and other and operand and self._is_case(operand, holders, unions):
                    yield operand, other, test, body

    def _branch(
        self, value: Node | None, node: Node, body: tuple[Node, ...], function: Node
    ) -> Iterator[Branch]:
        arm = self.literals.constant(self.file, value) if value is not None else None
        if arm is None:
            self._fault(value or node, "an arm is compared with something that is not a constant")
        else:
            yield Branch(syntax.field_name(arm), node, body, function)

    def _fault(self, node: Node, message: str) -> None:
        self.faults.unreadable(self.modules.span(self.file, node), Rule.SDK_REQUEST, message)


def _members(pattern: Node | None) -> Iterator[tuple[str, str]]:
    """Yields the variables of `{ member: variable }`, each with its member."""
    for item in pattern.named_children if pattern and pattern.type == "object_pattern" else ():
        if item.type == "shorthand_property_identifier_pattern":
            yield text(item), text(item)
        elif item.type == "pair_pattern":
            yield text(item.child_by_field_name("value")), text(item.child_by_field_name("key"))
