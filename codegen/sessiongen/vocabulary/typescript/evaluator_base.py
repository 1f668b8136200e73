"""What the evaluation of expressions, statements and calls shares: scopes, names and values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from tree_sitter import Node

from sessiongen.vocabulary.evaluation import (
    LiteralSet,
    ProtoValue,
    Table,
    Text,
    Trace,
    UnreadableError,
)
from sessiongen.vocabulary.expression_evaluator import ExpressionEvaluator, proto_value
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.assignments import bindings, is_changed
from sessiongen.vocabulary.typescript.literals import LiteralReader
from sessiongen.vocabulary.typescript.modules import Definition, Modules
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.syntax import FUNCTIONS, text


@dataclass(frozen=True)
class NameScope:
    """What names mean in an expression. methods: those of the class around it.

    names: values of parameters and variables.
    """

    file: File
    methods: dict[str, Node] = field(default_factory=dict)
    names: dict[str, Any] = field(default_factory=dict)

    def bind(self, names: dict[str, Any]) -> NameScope:
        """Returns the scope with more names."""
        return replace(self, names={**self.names, **names})


@dataclass(frozen=True)
class Function:
    """A function of the package, and the scope that it was defined in."""

    node: Node
    scope: NameScope
    name: str = ""


class BaseEvaluator(ExpressionEvaluator[Node, NameScope]):
    """Evaluates expressions for one literal. literal: the value of what cannot be resolved."""

    def __init__(
        self,
        modules: Modules,
        literals: LiteralReader,
        protobuf: tuple[str, str],
        literal: Text,
        trace: Trace,
    ) -> None:
        super().__init__(literal, trace)
        self.modules = modules
        self.literals = literals
        self.protobuf = protobuf

    def is_opaque(self, node: Node, scope: NameScope) -> bool:
        """Whether an expression is a path that begins with something unknown."""
        root = node
        while (member := syntax.member(root)) is not None:
            root = syntax.unwrapped(member[0])
        if root.type == "this":
            name = syntax.this_property(node)
            return not name or name not in scope.methods
        if root.type != "identifier":
            return False
        name = text(root)
        if name in scope.names or bindings(name, root):
            return False
        known = self.modules.proto_path(scope.file, text(node), self.protobuf) is not None
        return not known and self.modules.resolve(scope.file, name) is None

    def look_up(self, table: Table, key: Any) -> Any:
        """Returns the value of a key of a table, None for a missing key."""
        self.trace.table = self.trace.table or table.name
        self.trace.look_up(table)
        if key is not None and not isinstance(key, Text):
            raise UnreadableError(None, "the key of this lookup is not a literal")
        return table.entries.get(key.value) if key is not None else None

    def items(self, node: Node, scope: NameScope) -> list[Any]:
        """Returns what a loop over an expression yields."""
        return self.listed(self.value(node, scope), node)

    def listed(self, value: Any, node: Node) -> list[Any]:
        """Returns the items of a list or of a set of literals, and the entries of a table."""
        if isinstance(value, list):
            return value
        if isinstance(value, LiteralSet):
            return list(value.members)
        if isinstance(value, Table):
            return [[key, value.entries[name]] for name, key in value.keys.items()]
        raise UnreadableError(node, "this loop is not evaluated")

    def condition(self, node: Node | None, scope: NameScope) -> bool:
        """Returns whether a condition holds."""
        assert node is not None
        return super().condition(node, scope)

    def truth(self, value: Any) -> bool:
        """Returns whether a value counts as true; a proto value whose number is zero does not."""
        if isinstance(value, Text):
            return bool(value.value)
        if isinstance(value, ProtoValue):
            return value.name not in self.trace.zero_values
        return bool(value) if value is None or isinstance(value, bool) else True

    def defined(self, file: File, name: str) -> Any:
        """Returns the value of a name in a file, None if nothing in the package defines it."""
        path = self.modules.proto_path(file, name, self.protobuf)
        if path is not None:
            return proto_value(path, name)
        definition = self.modules.resolve(file, name)
        return self._definition(definition) if definition is not None else None

    def _definition(self, definition: Definition) -> Any:
        literals = self.literals.of(definition)
        if literals is not None:
            members = tuple(Text(item.value, item.member) for item in literals.literals)
            return LiteralSet(members)
        node, scope = definition.node, NameScope(definition.file)
        if node.type in FUNCTIONS:
            return Function(node, scope)
        initial = node.child_by_field_name("value") if node.type == "variable_declarator" else None
        if initial is None:
            return None
        value = self.value(initial, scope)
        if isinstance(value, Table):
            if is_changed(definition):
                raise UnreadableError(node, f"the table {definition.name} is changed elsewhere")
            value.name = value.name or definition.name
        return replace(value, name=definition.name) if isinstance(value, Function) else value

    def declare(self, function: Function, names: dict[str, Any]) -> None:
        """Records the literals of the type of a parameter that is given the literal."""
        for item in syntax.parameters(function.node):
            kind = syntax.annotation(item)
            name = text(item.child_by_field_name("pattern"))
            if kind is not None and names.get(name) is self.literal:
                self.declare_type(kind, function.scope.file)

    def declare_type(self, kind: Node, file: File) -> None:
        """Records the literals of a type."""
        for part in syntax.alternatives(kind):
            definition = self.modules.resolve(file, text(part))
            literals = self.literals.of(definition) if definition is not None else None
            literals = literals or self.literals.of_field(part)
            self.declare_literals(literals.literals if literals is not None else ())

    def source(self, node: Node) -> Text:
        """Returns the literal for an expression that the package does not define."""
        return self.read_source(node, text(node).replace("!", "").replace("?.", "."))


def unpacked(target: Node, value: Any) -> dict[str, Any]:
    """Returns the names that a pattern binds."""
    if target.type == "identifier":
        return {text(target): value}
    if target.type == "array_pattern" and isinstance(value, list):
        names: dict[str, Any] = {}
        for part, item in zip(target.named_children, value, strict=False):
            names.update(unpacked(part, item))
        return names
    raise UnreadableError(target, "this pattern is not evaluated")
