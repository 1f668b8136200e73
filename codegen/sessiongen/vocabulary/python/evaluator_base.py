"""What the evaluation of expressions, statements and calls shares: scopes, names and values."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import Any

from sessiongen.vocabulary.evaluation import (
    LiteralSet,
    ProtoPath,
    ProtoValue,
    Table,
    Text,
    Trace,
    UnreadableError,
)
from sessiongen.vocabulary.expression_evaluator import ExpressionEvaluator, proto_value
from sessiongen.vocabulary.python.assignments import assignments_to, is_changed
from sessiongen.vocabulary.python.literals import (
    LiteralReader,
    alternatives,
    dotted,
    is_literal,
)
from sessiongen.vocabulary.python.modules import Definition, Modules
from sessiongen.vocabulary.python.parsed_module import Module


@dataclass(frozen=True)
class NameScope:
    """What names mean in an expression. owner: the class around it. function: the one around it.

    names: values of parameters and variables.
    """

    module: Module
    owner: ast.ClassDef | None = None
    function: ast.AST | None = None
    names: dict[str, Any] = field(default_factory=dict)

    def bind(self, names: dict[str, Any]) -> NameScope:
        """Returns the scope with more names."""
        return replace(self, names={**self.names, **names})


@dataclass(frozen=True)
class Function:
    """A function of the package, and the scope that it was defined in."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: NameScope


class BaseEvaluator(ExpressionEvaluator[ast.expr, NameScope]):
    """Evaluates expressions for one literal. literal: the value of what cannot be resolved."""

    def __init__(
        self, modules: Modules, literals: LiteralReader, protobuf: str, literal: Text, trace: Trace
    ) -> None:
        super().__init__(literal, trace)
        self.modules = modules
        self.literals = literals
        self.protobuf = protobuf

    def items(self, node: ast.expr, scope: NameScope) -> list[Any]:
        """Returns what a loop over an expression yields."""
        value = self.value(node, scope)
        if isinstance(value, list):
            return value
        if isinstance(value, Table):
            return list(value.keys.values())
        if isinstance(value, LiteralSet):
            return list(value.members)
        raise UnreadableError(node, "this loop is not evaluated")

    def unpacked(self, target: ast.expr, value: Any) -> dict[str, Any]:
        """Returns the names that an assignment to a target binds."""
        if isinstance(target, ast.Name):
            return {target.id: value}
        if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, list):
            if len(value) == len(target.elts):
                names = {}
                for part, item in zip(target.elts, value, strict=True):
                    names.update(self.unpacked(part, item))
                return names
        raise UnreadableError(target, "this assignment is not evaluated")

    def truth(self, value: Any) -> bool:
        """Returns whether a value counts as true; a proto value whose number is zero does not."""
        if isinstance(value, Text):
            return bool(value.value)
        if isinstance(value, Table):
            return bool(value.entries)
        if isinstance(value, ProtoValue):
            return value.name not in self.trace.zero_values
        if isinstance(value, (ProtoPath, LiteralSet, Function)):
            return True
        return bool(value)

    def defined(self, module: Module, name: str) -> Any:
        """Returns the value of a name in a module, None if nothing in the package defines it."""
        path = self.modules.proto_path(module, name, self.protobuf)
        if path is not None:
            return proto_value(path, name)
        owner, _, member = name.rpartition(".")
        enum = self.modules.resolve(module, owner) if owner else None
        if enum is not None and (literals := self._enum(enum)) is not None:
            return next((item for item in literals.members if item.member == member), None)
        definition = self.modules.resolve(module, name)
        return self._definition(definition) if definition is not None else None

    def _definition(self, definition: Definition) -> Any:
        node, scope = definition.node, NameScope(definition.module)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return Function(node, scope)
        if isinstance(node, ast.ClassDef):
            return self._enum(definition)
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or definition.value is None:
            return None
        # A bare name of a Literal is read where its values are asked for.
        literals = self.literals.of_alias(definition)
        if literals is not None:
            members = tuple(Text(item.value, item.member) for item in literals.literals)
            return LiteralSet(members)
        value = self.value(definition.value, scope)
        if isinstance(value, Table):
            if is_changed(definition):
                raise UnreadableError(node, f"the table {definition.name} is changed elsewhere")
            value.name = value.name or definition.name.rpartition(".")[2]
        return value

    def _enum(self, definition: Definition) -> LiteralSet | None:
        literals = self.literals.of_class(definition)
        if literals is None:
            return None
        members = tuple(Text(item.value, item.member) for item in literals.literals)
        return LiteralSet(members)

    def defined_name(self, scope: NameScope, node: ast.expr) -> bool:
        """Whether the package defines what an expression names."""
        name = dotted(node)
        head, _, rest = (name or "").partition(".")
        if head in {"self", "cls"} and scope.owner is not None:
            path = f"{scope.owner.name}.{rest}"
            return self.modules.resolve(scope.module, path) is not None
        if scope.function is not None and assignments_to(head, scope.function) is not None:
            return True
        path_in_messages = self.modules.proto_path(scope.module, name or "", self.protobuf)
        return (
            path_in_messages is not None
            or self.modules.resolve(scope.module, name or "") is not None
        )

    def is_readable(self, node: ast.expr, scope: NameScope) -> bool:
        """Whether an expression is more than a module or class: something with methods."""
        name = dotted(node)
        if name is None or name.partition(".")[0] in scope.names:
            return True
        if name in {"self", "cls"}:
            return False
        head = name.partition(".")[0]
        if head not in scope.module.imports or self.defined_name(scope, node):
            return True
        return False

    def declare(self, function: Function, names: dict[str, Any]) -> None:
        """Records the literals of the type of a parameter that is given the literal."""
        arguments = function.node.args
        for item in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            if names.get(item.arg) is self.literal and item.annotation is not None:
                self.declare_type(item.annotation, function.scope.module)

    def declare_type(self, annotation: ast.expr, module: Module) -> None:
        """Records the literals of a type: those of its enums and Literals."""
        for part in alternatives(annotation):
            name = dotted(part)
            definition = self.modules.resolve(module, name) if name else None
            literals = None
            if definition is not None:
                literals = self.literals.of_class(definition) or self.literals.of_alias(definition)
            elif is_literal(part):
                literals = self.literals.of_field(module, part)
            self.declare_literals(literals.literals if literals is not None else ())

    def class_member(self, scope: NameScope, name: str) -> Any:
        """Returns a method or constant of the class around an expression, None for any other."""
        assert scope.owner is not None
        definition = self.modules.resolve(scope.module, f"{scope.owner.name}.{name}")
        if definition is None:
            return None
        if isinstance(definition.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return Function(definition.node, NameScope(scope.module, scope.owner))
        return self._definition(definition)

    def source(self, node: ast.expr) -> Text:
        """Returns the literal for an expression that the package does not define."""
        return self.read_source(node, ast.unparse(node))
