"""Reads data classes and sets of literals that are reachable from given definitions.

References in fields and aliases are followed within the package. A class is a data class if
it has a public field.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import (
    ENUM,
    FIELD,
    LITERAL,
    Behaviour,
    EnumFact,
    FieldFact,
    UnionFact,
    Record,
)
from sessiongen.vocabulary.behaviours import DEFAULT_TIME, TIME_OF_DAY
from sessiongen.vocabulary.python.modules import Definition, Modules
from sessiongen.vocabulary.python.parsed_module import Module, inner_bodies
from sessiongen.vocabulary.python.literals import (
    ENUMS,
    LiteralReader,
    LiteralSet,
    aliased,
    alternatives,
    dotted,
    elements,
    is_none,
    last,
    unquoted,
)
from sessiongen.vocabulary.python.source_reader import default_clock
from sessiongen.vocabulary.required_definitions import CollectedDefinitions

_TAG = "type"
_MAX_STEPS = 20

# Annotations in a class that do not declare a field.
_NOT_FIELDS = {"ClassVar", "InitVar", "KW_ONLY"}


@dataclass(frozen=True)
class _Field:
    """A field and the class that declares it. partial: the class is a dict that may omit it."""

    owner: Definition
    node: ast.AnnAssign
    partial: bool


class RecordReader(CollectedDefinitions[Definition]):
    """Reads data types and sets of literals, each definition once.

    required: the names of fields whose literals are read, even if they are those of an enum.
    """

    def __init__(self, modules: Modules, faults: Faults, required: Collection[str]) -> None:
        super().__init__()
        self._required = required
        self.modules = modules
        self.faults = faults
        self.defaults: list[Behaviour] = []
        self._literals = LiteralReader(modules, faults)

    def definition(self, definition: Definition) -> Iterator[Definition]:
        """Reads one definition and yields those that it refers to."""
        is_class = isinstance(definition.node, ast.ClassDef)
        return self._class(definition) if is_class else self._alias(definition)

    def _class(self, definition: Definition) -> Iterator[Definition]:
        assert isinstance(definition.node, ast.ClassDef)
        literals = self._literals.of_class(definition)
        if literals is not None:
            self._enum(definition, ENUM, literals)
            return
        fields = self._fields(definition, _MAX_STEPS)
        if not fields:
            return
        self._report_duplicate(definition)
        facts, tag = [], None
        for name, field in fields.items():
            module = field.owner.module
            self_attribute = self._literals_of(f"{definition.name}.{name}", field)
            if self_attribute and name == _TAG and len(self_attribute.literals) == 1:
                tag = self_attribute.literals[0].value
            elif self_attribute:
                place = module.place(field.node)
                self.enums.append(
                    EnumFact(
                        f"{definition.name}.{name}",
                        FIELD,
                        self_attribute.open,
                        place,
                        tuple(self_attribute.literals),
                    )
                )
            facts.append(_fact(name, field))
            self._read_default(f"{definition.name}.{name}", field)
            self._read_union(
                f"{definition.name}.{name}", field.owner, field.node, field.node.annotation
            )
            yield from self._references(field.owner, field.node.annotation)
        self.records.append(
            Record(definition.name, tag, definition.module.place(definition.node), tuple(facts))
        )

    def _read_default(self, name: str, field: _Field) -> None:
        """Records the default of a time that is not the time of day."""
        module = field.owner.module
        value = default_clock(field.node.value)
        if value is not None and value != TIME_OF_DAY:
            place = module.place(field.node)
            self.defaults.append(Behaviour(DEFAULT_TIME, name, field.owner.name, value, place))

    def _literals_of(self, name: str, field: _Field) -> LiteralSet | None:
        """Returns the literals of a field; of its enum if the field is required."""
        module, annotation = field.owner.module, field.node.annotation
        literals = self._literals.of_field(module, annotation)
        if literals is not None or name not in self._required:
            return literals
        parts = [part for part in alternatives(annotation) if not is_none(part)]
        enum = self._resolve(field.owner, dotted(parts[0]) or "") if len(parts) == 1 else None
        if enum is None:
            return None
        is_class = isinstance(enum.node, ast.ClassDef)
        inner = self._literals.of_class(enum) if is_class else self._literals.of_alias(enum)
        return inner.named_on(field.node.lineno) if inner is not None else None

    def _alias(self, definition: Definition) -> Iterator[Definition]:
        value = aliased(definition)
        if value is not None and isinstance(definition.node, ast.AnnAssign):
            value = unquoted(value)
        if isinstance(value, ast.Call) and last(value.func) in ENUMS:
            message = f"the enum {definition.name} is created by a call"
            self._unreadable(definition.module, value, Rule.SDK_ENUM, message)
        if not isinstance(value, (ast.Subscript, ast.BinOp, ast.Name, ast.Attribute)):
            return
        literals = self._literals.of_alias(definition)
        if literals is not None:
            self._enum(definition, LITERAL, literals)
        self._read_union(definition.name, definition, definition.node, value)
        yield from self._references(definition, value)

    def _enum(self, definition: Definition, form: str, literals: LiteralSet) -> None:
        self._report_duplicate(definition)
        place = definition.module.place(definition.node)
        self.enums.append(
            EnumFact(definition.name, form, literals.open, place, tuple(literals.literals))
        )

    def _read_union(
        self, name: str, owner: Definition, node: ast.AST, annotation: ast.expr
    ) -> None:
        """Records the members of a union if one of them is a class with fields."""
        names, has_record = [], False
        for part in alternatives(annotation):
            if is_none(part):
                continue
            target = self._resolve(owner, dotted(_head(part)) or "")
            is_class = target is not None and isinstance(target.node, ast.ClassDef)
            has_record |= target is not None and is_class and bool(self._fields(target, _MAX_STEPS))
            names.append(target.name if target is not None and is_class else ast.unparse(part))
        if has_record and len(names) > 1:
            self.unions.append(UnionFact(name, owner.module.place(node), tuple(names)))

    def _resolve(self, owner: Definition, name: str) -> Definition | None:
        """Returns the definition of a name inside a class or in its module."""
        inner = self.modules.resolve(owner.module, f"{owner.name}.{name}")
        return inner or self.modules.resolve(owner.module, name)

    def _report_duplicate(self, definition: Definition) -> None:
        if len(definition.module.definitions.get(definition.name, ())) > 1:
            message = f"{definition.name} is defined more than once in its module"
            self._unreadable(definition.module, definition.node, Rule.SDK_ENUM, message)

    def _unreadable(self, module: Module, node: ast.AST, rule: Rule, message: str) -> None:
        self.faults.unreadable(self.modules.span(module, node), rule, message)

    def _fields(self, definition: Definition, steps: int) -> dict[str, _Field]:
        """Returns a class's fields by name, those of its bases included."""
        assert isinstance(definition.node, ast.ClassDef)
        fields: dict[str, _Field] = {}
        if steps == 0:
            return fields
        for base in reversed(definition.node.bases):
            target = self.modules.resolve(definition.module, dotted(_head(base)) or "")
            if target and isinstance(target.node, ast.ClassDef):
                fields.update(self._fields(target, steps - 1))
        partial = any(
            literal.arg == "total"
            and isinstance(literal.value, ast.Constant)
            and not literal.value.value
            for literal in definition.node.keywords
        )
        for node in definition.node.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                name = node.target.id
                if not name.startswith("_") and last(_head(node.annotation)) not in _NOT_FIELDS:
                    fields[name] = _Field(definition, node, partial)
            elif any(isinstance(item, ast.AnnAssign) for item in _nested_statements(node)):
                message = f"fields of {definition.name} depend on a condition"
                self._unreadable(definition.module, node, Rule.SDK_SOURCE, message)
        return fields

    def _references(self, owner: Definition, annotation: ast.expr) -> Iterator[Definition]:
        """Yields the definitions in the package to which a type refers."""
        stack = [annotation]
        while stack:
            node = unquoted(stack.pop())
            name = dotted(node)
            if name is not None:
                definition = self._resolve(owner, name)
                if definition is not None:
                    yield definition
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                message = "the type cannot be parsed"
                self._unreadable(owner.module, node, Rule.SDK_SOURCE, message)
            elif isinstance(node, ast.Subscript) and last(node.value) == "Annotated":
                stack += elements(node)[:1]
            elif not (isinstance(node, ast.Subscript) and last(node.value) == "Literal"):
                stack += [
                    child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)
                ]


def _head(annotation: ast.expr) -> ast.expr:
    node = unquoted(annotation)
    return node.value if isinstance(node, ast.Subscript) else node


def _nested_statements(node: ast.stmt) -> Iterator[ast.stmt]:
    """Yields the statements in a statement's blocks."""
    for body in inner_bodies(node):
        for inner in body:
            yield inner
            yield from _nested_statements(inner)


def _fact(name: str, field: _Field) -> FieldFact:
    kind = field.node.annotation
    wrapper = last(_head(kind))
    not_required = wrapper == "NotRequired" or (field.partial and wrapper != "Required")
    optional = not_required or any(is_none(part) for part in alternatives(kind))
    return FieldFact(name, _type(kind), optional, field.owner.module.place(field.node))


def _type(annotation: ast.expr) -> str:
    node = unquoted(annotation)
    while isinstance(node, ast.Subscript) and last(node.value) in {
        "Annotated",
        "Required",
        "NotRequired",
    }:
        node = unquoted(elements(node)[0])
    return ast.unparse(node)
