"""Reads data classes and sets of literals that are reachable from given definitions.

References in fields and aliases are followed within the package. A class is a data class if
it has a public field.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import (
    ENUM,
    FIELD,
    LITERAL,
    EnumFact,
    FieldFact,
    UnionFact,
    Record,
)
from sessiongen.vocabulary.python.modules import Definition, Module, Modules, inner_bodies
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
from sessiongen.vocabulary.required_definitions import Collected

_TAG = "type"
_HOPS = 20

# What stands among a class's fields and is none.
_NO_FIELDS = {"ClassVar", "InitVar", "KW_ONLY"}


@dataclass(frozen=True)
class _Field:
    """A field where its class writes it down. lax: its dict may leave it out."""

    owner: Definition
    node: ast.AnnAssign
    lax: bool


class RecordReader(Collected[Definition]):
    """Reads definitions of this language."""

    def __init__(self, modules: Modules, faults: Faults) -> None:
        super().__init__()
        self.modules = modules
        self.faults = faults
        self._literals = LiteralReader(modules, faults)

    def definition(self, definition: Definition) -> Iterator[Definition]:
        """Read one definition and yield those that it refers to."""
        is_class = isinstance(definition.node, ast.ClassDef)
        return self._class(definition) if is_class else self._alias(definition)

    def _class(self, definition: Definition) -> Iterator[Definition]:
        assert isinstance(definition.node, ast.ClassDef)
        literals = self._literals.of_class(definition)
        if literals is not None:
            self._enum(definition, ENUM, literals)
            return
        fields = self._fields(definition, _HOPS)
        if not fields:
            return
        self._once(definition)
        facts, tag = [], None
        for name, field in fields.items():
            module = field.owner.module
            own = self._literals.of_field(module, field.node.annotation)
            if own and name == _TAG and len(own.literals) == 1:
                tag = own.literals[0].value
            elif own:
                place = module.place(field.node)
                self.enums.append(
                    EnumFact(
                        f"{definition.name}.{name}", FIELD, own.open, place, tuple(own.literals)
                    )
                )
            facts.append(_fact(name, field))
            self._kinds(f"{definition.name}.{name}", field.owner, field.node, field.node.annotation)
            yield from self._referred(field.owner, field.node.annotation)
        self.records.append(
            Record(definition.name, tag, definition.module.place(definition.node), tuple(facts))
        )

    def _alias(self, definition: Definition) -> Iterator[Definition]:
        value = aliased(definition)
        if value is not None and isinstance(definition.node, ast.AnnAssign):
            value = unquoted(value)
        if isinstance(value, ast.Call) and last(value.func) in ENUMS:
            what = f"the enum {definition.name} is made by a call"
            self._unreadable(definition.module, value, Rule.SDK_ENUM, what)
        if not isinstance(value, (ast.Subscript, ast.BinOp, ast.Name, ast.Attribute)):
            return
        literals = self._literals.of_alias(definition)
        if literals is not None:
            self._enum(definition, LITERAL, literals)
        self._kinds(definition.name, definition, definition.node, value)
        yield from self._referred(definition, value)

    def _enum(self, definition: Definition, form: str, literals: LiteralSet) -> None:
        self._once(definition)
        place = definition.module.place(definition.node)
        self.enums.append(
            EnumFact(definition.name, form, literals.open, place, tuple(literals.literals))
        )

    def _kinds(self, name: str, owner: Definition, node: ast.AST, kind: ast.expr) -> None:
        """Keep the types of a union, if one of them is a class that holds data."""
        names, data = [], False
        for part in alternatives(kind):
            if is_none(part):
                continue
            target = self._named(owner, dotted(_head(part)) or "")
            is_class = target is not None and isinstance(target.node, ast.ClassDef)
            data |= target is not None and is_class and bool(self._fields(target, _HOPS))
            names.append(target.name if target is not None and is_class else ast.unparse(part))
        if data and len(names) > 1:
            self.unions.append(UnionFact(name, owner.module.place(node), tuple(names)))

    def _named(self, owner: Definition, name: str) -> Definition | None:
        """Return what a name means in a class or beside it."""
        inner = self.modules.resolve(owner.module, f"{owner.name}.{name}")
        return inner or self.modules.resolve(owner.module, name)

    def _once(self, definition: Definition) -> None:
        if len(definition.module.definitions.get(definition.name, ())) > 1:
            what = f"{definition.name} is defined more than once in its module"
            self._unreadable(definition.module, definition.node, Rule.SDK_ENUM, what)

    def _unreadable(self, module: Module, node: ast.AST, rule: Rule, what: str) -> None:
        self.faults.unreadable(self.modules.span(module, node), rule, what)

    def _fields(self, definition: Definition, hops: int) -> dict[str, _Field]:
        """Return a class's fields by name, those of its bases included."""
        assert isinstance(definition.node, ast.ClassDef)
        fields: dict[str, _Field] = {}
        if hops == 0:
            return fields
        for base in reversed(definition.node.bases):
            target = self.modules.resolve(definition.module, dotted(_head(base)) or "")
            if target and isinstance(target.node, ast.ClassDef):
                fields.update(self._fields(target, hops - 1))
        lax = any(
            literal.arg == "total"
            and isinstance(literal.value, ast.Constant)
            and not literal.value.value
            for literal in definition.node.keywords
        )
        for node in definition.node.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                name = node.target.id
                if not name.startswith("_") and last(_head(node.annotation)) not in _NO_FIELDS:
                    fields[name] = _Field(definition, node, lax)
            elif any(isinstance(item, ast.AnnAssign) for item in _inside(node)):
                what = f"fields of {definition.name} that depend on a condition"
                self._unreadable(definition.module, node, Rule.SDK_SOURCE, what)
        return fields

    def _referred(self, owner: Definition, annotation: ast.expr) -> Iterator[Definition]:
        """Yield what the names in a type stand for, inside the package."""
        stack = [annotation]
        while stack:
            node = unquoted(stack.pop())
            name = dotted(node)
            if name is not None:
                found = self._named(owner, name)
                if found is not None:
                    yield found
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                what = "a type that cannot be parsed"
                self._unreadable(owner.module, node, Rule.SDK_SOURCE, what)
            elif isinstance(node, ast.Subscript) and last(node.value) == "Annotated":
                stack += elements(node)[:1]
            elif not (isinstance(node, ast.Subscript) and last(node.value) == "Literal"):
                stack += [
                    child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)
                ]


def _head(annotation: ast.expr) -> ast.expr:
    node = unquoted(annotation)
    return node.value if isinstance(node, ast.Subscript) else node


def _inside(node: ast.stmt) -> Iterator[ast.stmt]:
    """Yield the statements in a statement's blocks."""
    for body in inner_bodies(node):
        for inner in body:
            yield inner
            yield from _inside(inner)


def _fact(name: str, field: _Field) -> FieldFact:
    kind = field.node.annotation
    wrapper = last(_head(kind))
    absent = wrapper == "NotRequired" or (field.lax and wrapper != "Required")
    optional = absent or any(is_none(part) for part in alternatives(kind))
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
