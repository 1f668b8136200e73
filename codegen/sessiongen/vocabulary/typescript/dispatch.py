"""Finds branches on the arm of a oneof.

They are the cases of `switch (x.oneof.case)`, the code under a condition such as
`x.oneof.case === 'arm'` and after a guard such as `if (x.oneof.case !== 'arm') return`, and the
functions of `TABLE[x.oneof.case]`.
"""

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
from sessiongen.vocabulary.typescript.syntax import CLASSES, FUNCTIONS, class_methods, text
from sessiongen.vocabulary.typescript.written_tables import entries

_EQUAL, _UNEQUAL = {"==", "==="}, {"!=", "!=="}
_LEAVING = {"return_statement", "throw_statement", "continue_statement", "break_statement"}
# What has a condition and the code that runs if it holds.
_CONDITIONALS = {"if_statement": "consequence", "ternary_expression": "consequence"}
_UNDEFINED = {"undefined", "null"}
_BINDING_NODES = {"pair_pattern", "variable_declarator"}
# Nodes in which the name of an arm is only reported, for example in a log message.
_REPORTING_NODES = {"arguments", "pair", "template_substitution"}


@dataclass(frozen=True)
class Branch:
    """The statements that run for an arm, in the proto's spelling.

    node: its `case`, in a function. value: what a table has for the arm.
    """

    arm: str
    node: Node
    body: tuple[Node, ...]
    function: Node
    value: Node | None = None

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
        known: list[Branch] = []
        for node in syntax.walk(function):
            if node.type == "switch_statement":
                value = node.child_by_field_name("value")
                inner = syntax.unwrapped(value) if value else None
                if inner is not None and self._is_case(inner, holders, unions):
                    seen.add(inner.id)
                    known += self._cases(node, function)
            elif node.type in _CONDITIONALS or node.type == "binary_expression":
                for operand, other, test, body in self._tests(node, holders, unions):
                    if operand.id not in seen:
                        seen.add(operand.id)
                        known += self._branch(other, test, body, function)
            elif (key := _looked_up(node)) is not None and self._is_case(key, holders, unions):
                seen.add(key.id)
                known += self._entries(node, key, function, known)
        yield from known
        for node in syntax.walk(function):
            used = node.parent is not None and (
                node.parent.type in _REPORTING_NODES or _tests_presence(node)
            )
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
            elif self._is_arm(value, holders, unions):
                cases |= {text(name)} if name.type == "identifier" else set()
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

    def _is_arm(self, node: Node, holders: set[str], unions: set[str]) -> bool:
        """Whether an expression is the name of the arm of a union."""
        member = syntax.member(syntax.unwrapped(node))
        return (
            member is not None
            and member[1] == "case"
            and self._is_union(member[0], holders, unions)
        )

    def _is_case(self, node: Node, holders: set[str], unions: set[str]) -> bool:
        parent = node.parent
        if node.type == "identifier" and text(node) in self._case_names:
            return parent is not None and parent.type not in _BINDING_NODES
        if parent is not None and parent.type == "variable_declarator":
            # The uses of the variable count.
            return False
        return node.type == "member_expression" and self._is_arm(node, holders, unions)

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
    ) -> Iterator[tuple[Node, Node, Node, tuple[Node, ...]]]:
        """Yields each comparison with an arm: operand, other operand, comparison, and body."""
        condition, body = _condition_and_body(node)
        for test in syntax.walk(condition) if condition and body else ():
            operator = text(test.child_by_field_name("operator"))
            if test.type != "binary_expression" or operator not in _EQUAL | _UNEQUAL:
                continue
            left, right = test.child_by_field_name("left"), test.child_by_field_name("right")
            for one, other in ((left, right), (right, left)):
                operand = syntax.unwrapped(one) if one else None
                if not body or not other or not operand or other.type in _UNDEFINED:
                    continue
                if not self._is_case(operand, holders, unions):
                    continue
                if operator in _EQUAL:
                    yield operand, other, test, (body,)
                elif node.type == "if_statement" and _leaves(body):
                    yield operand, other, test, tuple(_following(node))

    def _entries(
        self, node: Node, arm_node: Node, function: Node, known: list[Branch]
    ) -> Iterator[Branch]:
        """Yields a branch for each entry of the table in which an arm is looked up.

        In the branches of an arm, only its own entry is used.
        """
        owner = node.child_by_field_name("object") or node.child_by_field_name("function")
        member = syntax.member(owner) if node.type == "call_expression" else None
        table_node = member[0] if member is not None else owner
        table = entries(self.modules, self.file, table_node) if table_node is not None else None
        if table is None:
            self._fault(arm_node, "the table in which an arm is looked up cannot be read")
            return
        arms = {branch.arm for branch in known if branch.holds(node)}
        file, pairs = table
        for key, value in pairs:
            arm = self._key(file, key)
            if arm is None:
                self._fault(arm_node, "a key of the table of an arm is not a constant")
            elif not arms or syntax.field_name(arm) in arms:
                called, statement = self._function(value), _statement(node)
                # The rest of the block uses the name that a variable has from the table.
                uses = () if called.type in FUNCTIONS else _following(statement)
                body = (called, statement, *uses)
                yield Branch(syntax.field_name(arm), key, body, function, value)

    def _key(self, file: File, key: Node) -> str | None:
        if key.type in {"property_identifier", "shorthand_property_identifier"}:
            return text(key)
        return self.literals.constant(file, key)

    def _function(self, value: Node) -> Node:
        """Returns the method of the class that an entry of a table names, else the entry itself."""
        inner = syntax.unwrapped(value)
        bound = syntax.member(inner.child_by_field_name("function"))
        inner = bound[0] if bound is not None and bound[1] == "bind" else inner
        owner = next(iter(syntax.enclosing(inner, *CLASSES)), None)
        methods = class_methods(owner) if owner is not None else {}
        return methods.get(syntax.this_property(inner), value)

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


def _looked_up(node: Node) -> Node | None:
    """Returns the key of `table[key]` and `table.get(key)`, None for any other expression."""
    key = node.child_by_field_name("index") if node.type == "subscript_expression" else None
    if node.type == "call_expression":
        member = syntax.member(node.child_by_field_name("function"))
        arguments = syntax.arguments(node)
        key = arguments[0] if member is not None and member[1] == "get" and arguments else None
    inner = syntax.unwrapped(key) if key is not None else None
    if inner is not None and text(inner.child_by_field_name("operator")) in {"??", "||"}:
        inner = syntax.unwrapped(inner.named_children[0])
    return inner


def _tests_presence(node: Node) -> bool:
    """Whether an expression is only asked for a value: `!x`, or `x === undefined`."""
    parent = node.parent
    if parent is None or parent.type == "unary_expression":
        return parent is not None
    sides = {item.type for item in parent.named_children}
    return parent.type == "binary_expression" and bool(sides & _UNDEFINED)


def _condition_and_body(node: Node) -> tuple[Node | None, Node | None]:
    """Returns the condition of a node, and what runs if it holds."""
    if node.type in _CONDITIONALS:
        body = node.child_by_field_name(_CONDITIONALS[node.type])
        return node.child_by_field_name("condition"), body
    is_and = text(node.child_by_field_name("operator")) == "&&"
    names = ("left", "right") if is_and else ("operator", "operator")
    return node.child_by_field_name(names[0]), node.child_by_field_name(names[1])


def _leaves(body: Node) -> bool:
    """Whether a block ends with a statement that leaves the code around it."""
    parts = [item for item in body.named_children if item.type != "comment"]
    last = parts[-1] if body.type == "statement_block" and parts else body
    return last.type in _LEAVING


def _following(node: Node) -> Iterator[Node]:
    sibling = node.next_named_sibling
    while sibling is not None:
        yield sibling
        sibling = sibling.next_named_sibling


def _statement(node: Node) -> Node:
    """Returns the statement around an expression."""
    outer = node
    while outer.parent is not None and not outer.type.endswith(("statement", "declaration")):
        outer = outer.parent
    return outer


def _members(pattern: Node | None) -> Iterator[tuple[str, str]]:
    """Yields the variables of `{ member: variable }`, each with its member."""
    for item in pattern.named_children if pattern and pattern.type == "object_pattern" else ():
        if item.type == "shorthand_property_identifier_pattern":
            yield text(item), text(item)
        elif item.type == "pair_pattern":
            yield text(item.child_by_field_name("value")), text(item.child_by_field_name("key"))
