"""Reads sets of literals in TypeScript: enums, unions of strings and `as const` values.

Other definitions read as None. A member that is not a constant is reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tree_sitter import Node

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import CONST, ENUM, UNION, LiteralValue
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.modules import Definition, Modules
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.syntax import text

Key = tuple[str, str]


@dataclass
class LiteralSet:
    """A set of literals.

    open: other types are allowed too. numbers: how many values are not strings.
    """

    form: str
    literals: list[LiteralValue] = field(default_factory=list)
    open: bool = False
    numbers: int = 0

    def add(self, other: LiteralSet) -> None:
        """Adds the literals of another set."""
        self.literals += other.literals
        self.open |= other.open
        self.numbers += other.numbers

    def named_on(self, line: int) -> LiteralSet:
        """Returns the set with all literals at the line of a name that refers to it."""
        return replace(self, literals=[literal._replace(line=line) for literal in self.literals])


class LiteralReader:
    """Reads sets of literals, following names through the package."""

    def __init__(self, modules: Modules, faults: Faults) -> None:
        self.modules = modules
        self.faults = faults

    def of(
        self, definition: Definition, enclosing: frozenset[Key] = frozenset()
    ) -> LiteralSet | None:
        """Returns the literals of a definition; None if it is not a set of literals.

        enclosing: the types that contain it, which ends recursion.
        """
        enums = [node for node in definition.nodes if node.type == "enum_declaration"]
        if enums:
            return self._enum(definition.file, enums)
        alias = definition.of("type_alias_declaration")
        value = alias.child_by_field_name("value") if alias else None
        if value is not None:
            enclosing = enclosing | {definition.key}
            return self._union(definition.file, value, enclosing)
        declarator = definition.of("variable_declarator")
        return self._const(definition.file, declarator) if declarator else None

    def of_field(self, node: Node) -> LiteralSet | None:
        """Returns the literals in a type itself; None if it has none."""
        literals = LiteralSet(UNION)
        for part in syntax.alternatives(node):
            value = syntax.literal(part)
            if value is not None:
                literals.literals.append(LiteralValue(value, None, syntax.line(part)))
            elif not syntax.is_null(part):
                literals.open = True
        return literals if literals.literals else None

    def constant(self, file: File, node: Node) -> str | None:
        """Returns the value of a string constant or of an enum's member, None for others."""
        value = syntax.constant(syntax.unwrapped(node))
        member = syntax.member(node)
        if value is None and node.type == "identifier":
            definition = self.modules.resolve(file, text(node))
            declarator = definition.of("variable_declarator") if definition else None
            initial = declarator.child_by_field_name("value") if declarator else None
            if definition is None or initial is None or initial.type == "identifier":
                return None
            return self.constant(definition.file, syntax.unwrapped(initial))
        if value is not None or member is None:
            return value
        owner = self.modules.resolve(file, text(member[0]))
        declared = owner.of(*syntax.CLASSES) if owner is not None else None
        if declared is not None:
            return syntax.class_constant(declared, member[1])
        literals = self._member_literals(file, text(member[0]), member[1])
        return literals.literals[0].value if literals else None

    def _enum(self, file: File, nodes: Sequence[Node]) -> LiteralSet | None:
        """Returns the members of an enum, which may be declared in several parts."""
        literals = LiteralSet(ENUM)
        for node in nodes:
            body = node.child_by_field_name("body")
            for item in body.named_children if body else ():
                if item.type == "enum_assignment":
                    self._member(file, item, literals)
                elif item.type != "comment":
                    literals.numbers += 1
        if literals.literals and literals.numbers:
            self._fault(file, nodes[0], "the enum has values that are not strings")
        return literals if literals.literals else None

    def _member(self, file: File, node: Node, literals: LiteralSet) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        constant = syntax.constant(value)
        if constant is not None and name is not None:
            member = syntax.constant(name) or text(name)
            literals.literals.append(LiteralValue(constant, member, syntax.line(node)))
        elif value is not None and value.type in {"number", "unary_expression"}:
            literals.numbers += 1
        else:
            self._fault(file, value or node, f"the value of {text(name)} is computed")

    def _union(self, file: File, node: Node, enclosing: frozenset[Key]) -> LiteralSet | None:
        literals = LiteralSet(UNION)
        for part in syntax.alternatives(node):
            value = syntax.literal(part)
            inner = self._named_literals(file, part, enclosing)
            if value is not None:
                literals.literals.append(LiteralValue(value, None, syntax.line(part)))
            elif inner is not None:
                literals.add(inner.named_on(syntax.line(part)))
            elif part.type == "template_literal_type" or syntax.is_string_type(part):
                self._fault(file, part, f"`{text(part)}` is not a constant")
            elif not syntax.is_null(part):
                literals.open = True
        return literals if literals.literals else None

    def _named_literals(
        self, file: File, node: Node, enclosing: frozenset[Key]
    ) -> LiteralSet | None:
        """Returns the literals of a name in a union, of `Enum.MEMBER`, or of `(typeof X)[...]`."""
        if node.type == "lookup_type":
            query = next((item for item in syntax.walk(node) if item.type == "type_query"), None)
            name = text(query.named_children[0]) if query else ""
            definition = self.modules.resolve(file, name)
            declarator = definition.of("variable_declarator") if definition else None
            return self._const(definition.file, declarator) if definition and declarator else None
        if node.type == "index_type_query":
            return self._keys(file, node.named_children[0])
        if node.type == "generic_type":
            return self._selected(file, node, enclosing)
        if node.type not in {"type_identifier", "nested_type_identifier"}:
            return None
        definition = self.modules.resolve(file, text(node))
        if definition is None and node.type == "nested_type_identifier":
            return self._member_literals(file, *text(node).rpartition(".")[::2])
        if definition is not None and definition.key in enclosing:
            return LiteralSet(UNION)
        return self.of(definition, enclosing) if definition else None

    def _keys(self, file: File, node: Node) -> LiteralSet | None:
        """Returns the keys of `typeof TABLE` or of an interface, None if they are not constants."""
        query = node.type == "type_query"
        name = text(node.named_children[0] if query else node)
        definition = self.modules.resolve(file, name)
        value = definition.node.child_by_field_name("value") if definition is not None else None
        body = definition.node.child_by_field_name("body") if definition is not None else None
        inner = syntax.unwrapped(value) if value is not None and query else value or body
        literals = LiteralSet(UNION)
        for item in inner.named_children if inner is not None else ():
            key = item.child_by_field_name("key") or item.child_by_field_name("name")
            if key is None or key.type == "computed_property_name":
                literals.numbers += item.type != "comment"
            else:
                constant = syntax.constant(key) or text(key)
                literals.literals.append(LiteralValue(constant, None, syntax.line(node)))
        return literals if literals.literals and not literals.numbers else None

    def _selected(self, file: File, node: Node, enclosing: frozenset[Key]) -> LiteralSet | None:
        """Returns the literals of `Extract<A, B>` and `Exclude<A, B>`, None for other types."""
        name, arguments = text(node.child_by_field_name("name")), syntax.child(
            node, "type_arguments"
        )
        if name not in {"Extract", "Exclude"} or arguments is None:
            return None
        first, second = (self._union(file, it, enclosing) for it in arguments.named_children[:2])
        if first is None or second is None or first.open or second.open:
            return None
        others = {item.value for item in second.literals}
        kept = [it for it in first.literals if (it.value in others) == (name == "Extract")]
        return replace(first, literals=kept)

    def _member_literals(self, file: File, owner: str, member: str) -> LiteralSet | None:
        target = self.modules.resolve(file, owner)
        literals = self.of(target) if target else None
        matches = (
            [literal for literal in literals.literals if literal.member == member]
            if literals
            else []
        )
        return LiteralSet(UNION, matches) if matches else None

    def _const(self, file: File, node: Node) -> LiteralSet | None:
        """Returns the strings of `{...} as const` or `[...] as const`."""
        value = node.child_by_field_name("value")
        if value is not None and value.type == "satisfies_expression":
            value = value.named_children[0]
        if value is None or value.type != "as_expression" or value.children[-1].type != "const":
            return None
        literals = LiteralSet(CONST)
        for item in value.named_children[0].named_children:
            name, inner = item.child_by_field_name("key"), item.child_by_field_name("value")
            constant = syntax.constant(inner or item)
            if constant is not None:
                literals.literals.append(
                    LiteralValue(constant, text(name) or None, syntax.line(item))
                )
            elif item.type != "comment":
                literals.numbers += 1
        return literals if literals.literals and not literals.numbers else None

    def _fault(self, file: File, node: Node, message: str) -> None:
        self.faults.unreadable(self.modules.span(file, node), Rule.SDK_ENUM, message)
