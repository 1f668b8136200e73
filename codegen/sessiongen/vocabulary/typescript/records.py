"""Reads data types and sets of literals that are reachable from given definitions.

References in fields are followed within the package. A class is a data type if it has a tag
or no private field.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import FIELD, EnumFact, FieldFact, UnionFact, Record
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.modules import Definition, Modules
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.syntax import CLASSES, text
from sessiongen.vocabulary.typescript.literals import LiteralReader
from sessiongen.vocabulary.required_definitions import CollectedDefinitions

_TAG = "type"
_MAX_STEPS = 20
# Utility types that have fields of another type; these two select some of them.
_SELECTING_TYPES = {"Omit", "Pick"}
_UTILITY_TYPES = {"Partial", "Readonly", "Required", *_SELECTING_TYPES}
_CLASS_NAMES = {"identifier", "member_expression"}
_TYPE_NAMES = {"type_identifier", "nested_type_identifier", "generic_type"}

_Field = tuple[File, Node]


class RecordReader(CollectedDefinitions[Definition]):
    """Reads data types and sets of literals, each definition once."""

    def __init__(self, modules: Modules, faults: Faults) -> None:
        super().__init__()
        self.modules = modules
        self._faults = faults
        self._literals = LiteralReader(modules, faults)

    def definition(self, definition: Definition) -> Iterator[Definition]:
        """Reads one definition and yields those that it refers to."""
        literals = self._literals.of(definition)
        if literals is not None:
            place = definition.file.place(definition.node)
            self.enums.append(
                EnumFact(
                    definition.name, literals.form, literals.open, place, tuple(literals.literals)
                )
            )
        alias = definition.of("type_alias_declaration")
        if alias is not None:
            value = alias.child_by_field_name("value")
            self._read_union(definition.name, definition.file, alias, value)
            yield from self._references(definition.file, value)
        fields = self._fields(definition, _MAX_STEPS)
        if literals is None and fields:
            self._record(definition, fields)
            for file, node in fields.values():
                yield from self._references(file, syntax.annotation(node))

    def fields_of(self, file: File, kind: Node) -> list[str]:
        """Returns the names of the fields of a type, none if they are not all known."""
        return list(self._inherited_fields(file, kind, _MAX_STEPS))

    def _record(self, definition: Definition, fields: dict[str, _Field]) -> None:
        facts, tag = [], None
        for name, (file, node) in fields.items():
            place = file.place(node)
            kind = syntax.annotation(node)
            this_property = self._literals.of_field(kind) if kind else None
            if name == _TAG and (initial := _initial(node)) is not None:
                tag = initial
            elif this_property and name == _TAG and len(this_property.literals) == 1:
                tag = this_property.literals[0].value
            elif this_property:
                self.enums.append(
                    EnumFact(
                        f"{definition.name}.{name}",
                        FIELD,
                        this_property.open,
                        place,
                        tuple(this_property.literals),
                    )
                )
            facts.append(FieldFact(name, _type(node), _optional(node), place))
            self._read_union(f"{definition.name}.{name}", file, node, kind)
        place = definition.file.place(definition.node)
        self.records.append(Record(definition.name, tag, place, tuple(facts)))

    def _read_union(self, name: str, file: File, node: Node, annotation: Node | None) -> None:
        """Records the members of a union if one of them is a type with fields."""
        names, has_record = [], False
        for part in syntax.alternatives(annotation) if annotation else ():
            if syntax.is_null(part):
                continue
            target = self.modules.resolve(file, text(_head(part)))
            holds = target is not None and bool(self._fields(target, _MAX_STEPS))
            has_record |= holds
            names.append(target.name if target is not None and holds else syntax.type_text(part))
        if has_record and len(names) > 1:
            self.unions.append(UnionFact(name, file.place(node), tuple(names)))

    def _fields(self, definition: Definition, steps: int) -> dict[str, _Field]:
        """Returns a type's fields by name, those of its bases included."""
        fields: dict[str, _Field] = {}
        if steps == 0:
            return fields
        for node in definition.nodes:
            for base in _bases(node):
                fields.update(self._inherited_fields(definition.file, base, steps - 1))
            for item in _own_fields(node):
                fields[_name(item)] = (definition.file, item)
        return fields

    def _inherited_fields(self, file: File, base: Node, steps: int) -> dict[str, _Field]:
        """Returns the fields of a base such as `A`, `A<T>`, or `Omit<A, 'x'>`."""
        name, arguments = text(_head(base)), syntax.child(base, "type_arguments")
        if name not in _UTILITY_TYPES or arguments is None:
            target = self.modules.resolve(file, name)
            return self._fields(target, steps) if target else {}
        fields = self._inherited_fields(file, arguments.named_children[0], steps)
        if name not in _SELECTING_TYPES:
            return fields
        selected = {
            syntax.literal(item) for item in syntax.alternatives(arguments.named_children[-1])
        }
        if None in selected:
            message = f"`{text(base)}` selects fields by names that are not constants"
            self._faults.unreadable(self.modules.span(file, base), Rule.SDK_SOURCE, message)
        return {key: item for key, item in fields.items() if (key in selected) == (name == "Pick")}

    def _references(self, file: File, node: Node | None) -> Iterator[Definition]:
        """Yields the definitions in the package to which a type refers."""
        for item in syntax.walk(node) if node else ():
            if item.type in {"type_identifier", "nested_type_identifier"}:
                definition = self.modules.resolve(file, text(item))
                if definition is not None:
                    yield definition


def _bases(node: Node) -> Iterator[Node]:
    if node.type == "interface_declaration":
        clause = syntax.child(node, "extends_type_clause")
        yield from clause.named_children if clause else ()
    elif node.type in CLASSES:
        value = syntax.extended(node)
        if value is not None and value.type in _CLASS_NAMES:
            yield value
    elif node.type == "type_alias_declaration":
        value = node.child_by_field_name("value")
        if value is not None and value.type == "intersection_type":
            yield from (item for item in value.named_children if item.type in _TYPE_NAMES)
        elif value is not None and value.type == "generic_type":
            yield from [value] if text(_head(value)) in _UTILITY_TYPES else []


def _head(node: Node) -> Node:
    return (node.child_by_field_name("name") or node) if node.type == "generic_type" else node


def _own_fields(node: Node) -> list[Node]:
    if node.type == "interface_declaration":
        return _signatures(node.child_by_field_name("body"))
    if node.type == "type_alias_declaration":
        value = node.child_by_field_name("value")
        if value is not None and value.type == "intersection_type":
            return [item for part in value.named_children for item in _signatures(part)]
        return _signatures(value)
    if node.type in CLASSES:
        return _class_fields(node)
    return []


def _signatures(body: Node | None) -> list[Node]:
    if body is None or body.type not in {"object_type", "interface_body"}:
        return []
    return [
        item
        for item in body.named_children
        if item.type == "property_signature"
        and _is_data_property(item)
        and not _name(item).startswith("_")
    ]


def _is_data_property(node: Node) -> bool:
    """Whether a property has a constant name, and its value is not a function."""
    name, kind = node.child_by_field_name("name"), syntax.annotation(node)
    computed = name is None or name.type == "computed_property_name"
    return not computed and (kind is None or kind.type != "function_type")


def _class_fields(node: Node) -> list[Node]:
    base = syntax.extended(node)
    if base is not None and base.type not in _CLASS_NAMES:
        return []
    body = node.child_by_field_name("body")
    fields = [
        item
        for item in (body.named_children if body else ())
        if item.type == "public_field_definition" and syntax.child(item, "static") is None
    ]
    fields += [
        item
        for method in (body.named_children if body else ())
        if method.type == "method_definition"
        and text(method.child_by_field_name("name")) == "constructor"
        for item in syntax.parameters(method)
        if syntax.child(item, "accessibility_modifier", "readonly") is not None
    ]
    hidden = [item for item in fields if syntax.is_private(item)]
    public = [item for item in fields if _is_data(item)]
    tagged = any(_name(item) == _TAG and _initial(item) is not None for item in public)
    return public if tagged or not hidden else []


def _is_data(node: Node) -> bool:
    value = node.child_by_field_name("value")
    name = node.child_by_field_name("name") or node.child_by_field_name("pattern")
    computed = name is None or name.type == "computed_property_name"
    function = value is not None and value.type in syntax.FUNCTIONS
    return not (computed or function or syntax.is_private(node) or _name(node).startswith("_"))


def _name(node: Node) -> str:
    name = node.child_by_field_name("name") or node.child_by_field_name("pattern")
    return syntax.constant(name) or text(name)


def _initial(node: Node) -> str | None:
    """Returns the constant initial value of a class's field."""
    value = node.child_by_field_name("value")
    return syntax.constant(syntax.unwrapped(value)) if value else None


def _type(node: Node) -> str:
    kind = syntax.annotation(node)
    if kind is not None:
        return syntax.type_text(kind)
    value = node.child_by_field_name("value")
    constant = value is not None and (
        value.type == "as_expression" or syntax.child(node, "readonly")
    )
    inner = syntax.unwrapped(value) if value else None
    if inner is None or constant:
        return text(inner)
    return {"string": "string", "number": "number", "true": "boolean", "false": "boolean"}.get(
        inner.type, ""
    )


def _optional(node: Node) -> bool:
    kind = syntax.annotation(node)
    absent = any(syntax.is_null(part) for part in syntax.alternatives(kind)) if kind else False
    return absent or node.type == "optional_parameter" or syntax.child(node, "?") is not None
