"""Finds where Python code constructs protobuf messages, and which fields it fills.

Three forms are followed: calls of message classes, assignments to fields of a variable that
holds a message, and message classes that are passed as values.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

from sessiongen.vocabulary.python.construction_builder import (
    CallSite,
    ConstructionBuilder,
    ForwardedFields,
    Function,
    is_kwargs,
    is_parameter,
)
from sessiongen.vocabulary.python.dict_entries import dict_entries
from sessiongen.vocabulary.python.forwarded_fields import forwarding_calls
from sessiongen.vocabulary.python.modules import Modules
from sessiongen.vocabulary.python.parsed_module import Module
from sessiongen.vocabulary.python.literals import (
    alternatives,
    constant,
    dotted,
    last,
    self_attribute,
)
from sessiongen.vocabulary.python.rows import loop_rows

_COPYING_METHODS = {"CopyFrom", "MergeFrom"}
# Functions of `json_format` that fill the message which is their second argument.
_PARSERS = {"Parse", "ParseDict"}
_FILLING_METHODS = {
    "CopyFrom",
    "MergeFrom",
    "SetInParent",
    "GetCurrentTime",
    "add",
    "append",
    "extend",
}


@dataclass
class Names:
    """The message types and messages that names refer to.

    imported: returns the path in the messages of a dotted name that the module imports.
    types: variables that hold a message class. values: those that hold a message.
    hidden: parameters and variables that have the name of an import.
    """

    imported: Callable[[str], str | None]
    types: dict[str, str] = field(default_factory=dict)
    values: dict[str, ConstructionBuilder] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)

    def copy(self) -> Names:
        """Returns a copy for an inner block."""
        return Names(self.imported, dict(self.types), dict(self.values), set(self.hidden))

    def hide(self, name: str) -> None:
        """Records that a name no longer means what it meant."""
        self.types.pop(name, None)
        self.values.pop(name, None)
        self.hidden.add(name)

    def path(self, name: str) -> str | None:
        """Returns the path in the messages of a dotted name, None for any other name."""
        head, _, rest = name.partition(".")
        if head in self.types:
            return ".".join(part for part in (self.types[head], rest) if part)
        return None if head in self.hidden else self.imported(name)


def constructions_of(modules: Modules, module: Module, protobuf: str) -> list[ConstructionBuilder]:
    """Returns the constructions of a module, in source order."""
    if not modules.uses(module, protobuf):
        return []

    @cache
    def imported(name: str) -> str | None:
        path = modules.proto_path(module, name, protobuf)
        return None if path is None else ".".join(path)

    walker = _Walker(modules, module, Names(imported))
    walker.visit(module.tree)
    calls = forwarding_calls(module, walker.forwarded, walker.calls)
    return [
        construction
        for construction in (*walker.constructions, *calls)
        if construction.fields or not isinstance(construction.node, ast.arg)
    ]


def message_type(names: Names, node: ast.expr) -> str | None:
    """Returns `A.B` for an expression that names a message class, None for any other."""
    path = dotted(node)
    if path is None:
        return None
    message = names.path(path)
    if message is None:
        return None
    # Enum values are upper case, and methods begin with a lower-case letter.
    parts = message.split(".")
    named = all(part[:1].isupper() for part in parts) and not parts[-1].isupper()
    return message if named and "_" not in parts[-1] else None


def _filling_value(node: ast.Call) -> ast.expr | None:
    """Returns the value that a call such as `x.field.CopyFrom(value)` fills a field with."""
    name = getattr(node.func, "attr", "")
    if name in _COPYING_METHODS and len(node.args) == 1:
        return node.args[0]
    return node if name.startswith("From") or name == "GetCurrentTime" else None


class _Walker(ast.NodeVisitor):
    def __init__(self, modules: Modules, module: Module, names: Names) -> None:
        self.module = module
        self._modules = modules
        # The values that each variable of a loop over a table has.
        self._rows: dict[str, list[ast.expr]] = {}
        self.names = names
        self.constructions: list[ConstructionBuilder] = []
        self.forwarded: list[ForwardedFields] = []
        self.calls: list[CallSite] = []
        self._within: list[str] = []
        self._owner: ast.ClassDef | None = None
        self._function: ast.AST | None = None

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        outer, self._owner = self._owner, node
        self._within.append(node.name)
        for statement in node.body:
            self.visit(statement)
        self._within.pop()
        self._owner = outer

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        outer, self.names = self.names, self.names.copy()
        enclosing, self._function = self._function, node
        self._within.append(node.name)
        arguments = node.args
        for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
            self._parameter(argument)
        for statement in node.body:
            self.visit(statement)
        self._within.pop()
        self.names, self._function = outer, enclosing

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_For(self, node: ast.For) -> None:
        outer = self._rows
        self._rows = {**outer, **loop_rows(self._modules, self.module, self._function, node)}
        self.generic_visit(node)
        self._rows = outer

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._assign([node.target], node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._assign(node.targets, node.value)

    def visit_Call(self, node: ast.Call) -> None:
        message = message_type(self.names, node.func)
        if message is not None:
            # Messages take keywords only; `pb.Enum.Name(value)` is a method of an enum.
            if not node.args:
                self._construct(message, node, node.keywords)
        elif last(node.func) in {"isinstance", "issubclass"}:
            return
        elif last(node.func) == "cast":
            for argument in node.args[1:]:
                self.visit(argument)
            return
        else:
            if isinstance(node.func, ast.Name) or self_attribute(node.func):
                within = ".".join(self._within)
                self.calls.append(CallSite(node, within, self._owner, self._function))
            self._filling_call(node)
            self.visit(node.func)
        for argument in node.args:
            self._argument(argument, node)
        for keyword in node.keywords:
            self.visit(keyword.value)
        if (last(node.func) or getattr(node.func, "attr", "")) in _PARSERS:
            self._parse(node)

    def _parse(self, call: ast.Call) -> None:
        """Records that a call fills a message from text or a dict, whose fields are not known."""
        for argument in call.args[1:]:
            named = self.names.values.get(argument.id) if isinstance(argument, ast.Name) else None
            built = (it for it in reversed(self.constructions) if it.node is argument)
            construction = named or next(built, None)
            if construction is not None:
                construction.open = True

    def visit_Subscript(self, node: ast.Subscript) -> None:
        # A message class in brackets is the argument of a generic type.
        self.visit(node.value)
        if message_type(self.names, node.slice) is None:
            self.visit(node.slice)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._reference(node, [])

    def visit_Name(self, node: ast.Name) -> None:
        self._reference(node, [])

    def _parameter(self, argument: ast.arg) -> None:
        self.names.hide(argument.arg)
        for part in alternatives(argument.annotation) if argument.annotation else ():
            message = message_type(self.names, part)
            if message is not None:
                construction = self._add(message, argument)
                self.names.values[argument.arg] = construction

    def _assign(self, targets: list[ast.expr], value: ast.expr) -> None:
        before = len(self.constructions)
        message = message_type(self.names, value)
        if message is None:
            self.visit(value)
        construction = self.constructions[before] if len(self.constructions) > before else None
        for target in targets:
            if isinstance(target, ast.Name):
                if self._function is not None:
                    self.names.hide(target.id)
                if message is not None:
                    self.names.types[target.id] = message
                elif construction is not None and construction.node is value:
                    self.names.values[target.id] = construction
            else:
                self._fill(target, value)

    def _fill(self, target: ast.expr, value: ast.expr | None = None) -> None:
        """Records the field that an assignment to a part of a message fills."""
        path: list[str] = []
        while isinstance(target, (ast.Attribute, ast.Subscript)):
            if isinstance(target, ast.Attribute):
                path.append(target.attr)
            target = target.value
        if isinstance(target, ast.Name) and path and target.id in self.names.values:
            construction = self.names.values[target.id]
            construction.fill(path[-1], value if len(path) == 1 else None)
            if len(path) > 1:
                construction.fill(".".join(reversed(path)), value)

    def _filling_call(self, node: ast.Call) -> None:
        """Records the field that a call such as `x.field.CopyFrom(...)` fills."""
        if last(node.func) == "setattr":
            self._fill_by_name(node.args)
        if not isinstance(node.func, ast.Attribute):
            return
        inner = node.func.value
        if node.func.attr in _FILLING_METHODS or node.func.attr.startswith("From"):
            if isinstance(inner, ast.Call) and last(inner.func) == "getattr":
                self._fill_by_name([*inner.args[:2], *node.args[:1]])
            self._fill(inner, _filling_value(node))

    def _fill_by_name(self, arguments: list[ast.expr]) -> None:
        """Records the field that `setattr(x, name, ...)` or `getattr(x, name).CopyFrom(...)` fills.

        The name may be a variable of a loop over a table, whose rows are then all filled.
        """
        owner = arguments[0] if len(arguments) > 1 else None
        if not isinstance(owner, ast.Name) or owner.id not in self.names.values:
            return
        construction, name = self.names.values[owner.id], arguments[1]
        value = arguments[2] if len(arguments) > 2 else None
        if self._forwards(construction, name, value):
            return
        values = self._rows.get(name.id, []) if isinstance(name, ast.Name) else [name]
        fields = [constant(item) for item in values]
        construction.open |= not fields or None in fields
        for field_name in fields:
            if field_name is not None:
                construction.fill(field_name, value)

    def _argument(self, argument: ast.expr, call: ast.Call) -> None:
        message = message_type(self.names, argument)
        if message is not None:
            self._reference(argument, call.keywords)
        else:
            self.visit(argument.value if isinstance(argument, ast.Starred) else argument)

    def _reference(self, node: ast.expr, keywords: list[ast.keyword]) -> None:
        """Adds a message class that is passed as a value; its fields cannot be read here."""
        message = message_type(self.names, node)
        if message is not None:
            self._construct(message, node, keywords).open = True
        elif isinstance(node, ast.Attribute) and dotted(node) is None:
            self.visit(node.value)

    def _construct(
        self, message: str, node: ast.AST, keywords: list[ast.keyword]
    ) -> ConstructionBuilder:
        construction = self._add(message, node)
        for keyword in keywords:
            if keyword.arg is not None:
                construction.fill(keyword.arg, keyword.value)
                continue
            if self._forwards_all(construction, keyword.value):
                continue
            entries = dict_entries(keyword.value, self._function)
            construction.open |= entries is None
            for name, value in entries or ():
                construction.fill(name, value)
        return construction

    def _forwards_all(self, construction: ConstructionBuilder, fields: ast.expr) -> bool:
        """Whether a message takes `**fields` or `{name: value}` from the callers of the function."""
        if isinstance(fields, ast.Dict) and len(fields.keys) == 1 and fields.keys[0] is not None:
            return self._forwards(construction, fields.keys[0], fields.values[0])
        is_all = is_kwargs(fields, self._function)
        if is_all and isinstance(self._function, Function):
            self.forwarded.append(ForwardedFields(construction, self._function))
        return is_all

    def _forwards(
        self, construction: ConstructionBuilder, name: ast.expr, value: ast.expr | None
    ) -> bool:
        """Whether the name of a field is a parameter of the function."""
        if not (isinstance(name, ast.Name) and is_parameter(name.id, self._function)):
            return False
        if isinstance(self._function, Function):
            parameter = value.id if isinstance(value, ast.Name) else ""
            item = ForwardedFields(construction, self._function, name.id, parameter)
            self.forwarded.append(item)
        return True

    def _add(self, message: str, node: ast.AST) -> ConstructionBuilder:
        construction = ConstructionBuilder(
            message,
            ".".join(self._within),
            self.module.place(node),
            node,
            owner=self._owner,
            function=self._function,
        )
        self.constructions.append(construction)
        return construction
