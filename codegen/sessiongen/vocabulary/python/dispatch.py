"""Finds branches on the arm of a oneof: `if x.HasField("arm")`, `match x.WhichOneof(...)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.python.modules import Modules
from sessiongen.vocabulary.python.pairs import constant_pairs
from sessiongen.vocabulary.python.parsed_module import Module
from sessiongen.vocabulary.python.literals import (
    LiteralReader,
    alternatives,
    dotted,
    last,
    self_attribute,
)

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Oneof:
    """A message with a oneof of arms.

    carrier: the field of the envelope that contains the message; empty for the envelope
    itself, which code takes from a loop.
    """

    message: str
    carrier: str


@dataclass(frozen=True)
class Branch:
    """The statements that run for an arm. node: where the arm is named, in a function."""

    arm: str
    node: ast.AST
    body: list[ast.stmt]
    function: ast.AST

    def holds(self, node: ast.AST) -> bool:
        """Whether a node is inside."""
        return any(inner is node for statement in self.body for inner in ast.walk(statement))


def branches(
    modules: Modules,
    classes: Sequence[tuple[Module, ast.ClassDef]],
    oneof: Oneof,
    protobuf: str,
    faults: Faults,
) -> list[Branch]:
    """Returns the branches of classes on the arm of a oneof."""
    functions = [
        _Function(modules, module, node, function, oneof, protobuf, faults)
        for module, node in classes
        for function in ast.walk(node)
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    for function in functions:
        for method, index in function.arm_name_arguments():
            for other in functions:
                other.receive_arm_name(method, index)
    return [branch for function in functions for branch in function.branches()]


def is_arm_name(function: ast.AST, event: ast.expr) -> bool:
    """Whether an expression is the name of the arm that is set in a message."""
    if isinstance(event, ast.Call):
        return last_call(event) == "WhichOneof"
    if not isinstance(event, ast.Name):
        return False
    values = [value for name, value in _assignments(function) if name == event.id]
    return bool(values) and all(
        isinstance(value, ast.Call) and last_call(value) == "WhichOneof" for value in values
    )


def last_call(node: ast.Call) -> str:
    """Returns the name of the method that is called."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else ""


def _assignments(function: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.value
        elif isinstance(node, ast.NamedExpr):
            yield node.target.id, node.value


class _Function:
    """The branches of one function on the arm of a oneof."""

    def __init__(
        self,
        modules: Modules,
        module: Module,
        owner: ast.ClassDef,
        node: ast.FunctionDef | ast.AsyncFunctionDef,
        oneof: Oneof,
        protobuf: str,
        faults: Faults,
    ) -> None:
        self.modules = modules
        self.literals = LiteralReader(modules, faults)
        self.protobuf = protobuf
        self.module = module
        self.owner = owner
        self.node = node
        self.oneof = oneof
        self.faults = faults
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        self._holders = {item.arg for item in arguments if self._typed(item.annotation)}
        if not oneof.carrier:
            self._holders |= {
                loop.target.id
                for loop in ast.walk(node)
                if isinstance(loop, (ast.For, ast.AsyncFor)) and isinstance(loop.target, ast.Name)
            }
        self._arm_names = {
            name for name, value in _assignments(node) if self._is_which_oneof(value)
        }
        self._seen: set[int] = set()

    def branches(self) -> Iterator[Branch]:
        """Yields a branch for each arm that a test names."""
        for node in ast.walk(self.node):
            if isinstance(node, ast.If):
                for arm in self._tested(node.test):
                    yield Branch(arm, node, node.body, self.node)
            elif isinstance(node, ast.Match) and self._is_arm(node.subject):
                for case in node.cases:
                    yield from self._case_branches(case)
            elif (table := self._looked_up(node)) is not None:
                yield from self._handlers(table)
        for node in ast.walk(self.node):
            if self._tests_arm(node) and id(node) not in self._seen:
                message = "this test of an arm is not the condition of an `if`"
                self._fault(node, message)

    def _looked_up(self, node: ast.AST) -> ast.expr | None:
        """Returns the table in `TABLE[arm]` and `TABLE.get(arm)`."""
        if isinstance(node, ast.Subscript) and self._is_arm(node.slice):
            return node.value
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr == "get" and node.args and self._is_arm(node.args[0]):
                return node.func.value
        return None

    def _handlers(self, table: ast.expr) -> Iterator[Branch]:
        """Yields a branch for each entry of a table of methods."""
        methods = {it.name: it for it in self.owner.body if isinstance(it, _FUNCTIONS)}
        pairs = constant_pairs(table, self.owner, self.node)
        for key, value in pairs:
            inner = value.body if isinstance(value, ast.Lambda) else value
            called = inner.func if isinstance(inner, ast.Call) else inner
            method = methods.get(self_attribute(called))
            # What no code is seen to handle is reported where its response is filled.
            for arm in self._constant(key) if method is not None else ():
                yield Branch(arm, key, method.body if method is not None else [], self.node)

    def arm_name_arguments(self) -> Iterator[tuple[str, int]]:
        """Yields each method that receives the name of the arm, and the index of the argument."""
        for node in ast.walk(self.node):
            method = self_attribute(node.func) if isinstance(node, ast.Call) else ""
            for index, item in enumerate(
                node.args if isinstance(node, ast.Call) and method else ()
            ):
                if isinstance(item, ast.Name) and item.id in self._arm_names:
                    yield method, index

    def receive_arm_name(self, method: str, index: int) -> None:
        """Records that an argument of a method is the name of an arm, if this is the method."""
        arguments = [item.arg for item in self.node.args.args[1:]]
        if self.node.name == method and index < len(arguments):
            self._arm_names.add(arguments[index])

    def _typed(self, annotation: ast.expr | None) -> bool:
        parts = alternatives(annotation) if annotation else ()
        return any(
            last(part) == self.oneof.message
            or self.modules.proto_path(self.module, dotted(part) or "", self.protobuf)
            == (self.oneof.message,)
            for part in parts
        )

    def _is_message(self, node: ast.expr) -> bool:
        """Whether an expression is the message: a parameter of its type, or `x.carrier`."""
        if isinstance(node, ast.Name):
            return node.id in self._holders
        return bool(self.oneof.carrier) and last(node) == self.oneof.carrier

    def _is_which_oneof(self, node: ast.expr) -> bool:
        return (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "WhichOneof"
            and self._is_message(node.func.value)
        )

    def _is_arm(self, node: ast.expr) -> bool:
        return self._is_which_oneof(node) or (
            isinstance(node, ast.Name) and node.id in self._arm_names
        )

    def _tested(self, test: ast.expr) -> Iterator[str]:
        """Yields the arms that a condition tests for."""
        if isinstance(test, ast.BoolOp):
            for value in test.values:
                yield from self._tested(value)
        elif isinstance(test, ast.Call) and self._tests_arm(test):
            self._seen.add(id(test))
            yield from self._constant(test.args[0])
        elif isinstance(test, ast.Compare) and self._tests_arm(test):
            self._seen.add(id(test))
            for item in self._compared_values(test):
                yield from self._constant(item)

    def _tests_arm(self, node: ast.AST) -> bool:
        """Whether an expression tests for an arm: `x.HasField(...)`, or a comparison."""
        if isinstance(node, ast.Compare):
            return self._is_arm(node.left) or self._is_arm(node.comparators[0])
        return (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "HasField"
            and self._is_message(node.func.value)
            and bool(node.args)
        )

    def _compared_values(self, test: ast.Compare) -> list[ast.expr]:
        """Returns the expressions that an arm is compared with."""
        left, right = test.left, test.comparators[0]
        if isinstance(test.ops[0], ast.Eq):
            return [right] if self._is_arm(left) else [left]
        if isinstance(test.ops[0], ast.In):
            return right.elts if isinstance(right, (ast.Tuple, ast.List, ast.Set)) else [right]
        return []

    def _case_branches(self, case: ast.match_case) -> Iterator[Branch]:
        patterns = (
            case.pattern.patterns if isinstance(case.pattern, ast.MatchOr) else [case.pattern]
        )
        for pattern in patterns:
            if isinstance(pattern, ast.MatchValue):
                for arm in self._constant(pattern.value):
                    yield Branch(arm, pattern, case.body, self.node)

    def _constant(self, node: ast.expr) -> Iterator[str]:
        arm = self.literals.constant(self.module, node)
        if arm is not None:
            yield arm
        else:
            self._fault(node, "an arm is compared with something that is not a constant")

    def _fault(self, node: ast.AST, message: str) -> None:
        self.faults.unreadable(self.modules.span(self.module, node), Rule.SDK_REQUEST, message)
