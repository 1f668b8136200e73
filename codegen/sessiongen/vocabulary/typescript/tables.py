"""Reads tables in TypeScript code: value maps, keys of map fields, and ignored variants.

A value map is an object whose values are all proto values. A key of it that is not a constant
is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tree_sitter import Node

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import Default, MapKeys, IgnoredVariant, ValueMap
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.construction_builder import ConstructionBuilder
from sessiongen.vocabulary.typescript.constructions import within
from sessiongen.vocabulary.typescript.oneofs import case_of
from sessiongen.vocabulary.typescript.proto_names import ProtoNames
from sessiongen.vocabulary.typescript.modules import Modules
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.syntax import text
from sessiongen.vocabulary.typescript.literals import LiteralReader

_TAG = "type"
_EQUALITY_OPERATORS, _INEQUALITY_OPERATORS = {"==", "==="}, {"!=", "!=="}
_FALLBACK_OPERATORS = {"??", "||"}

_Key = tuple[str, str]

# The functions that write a value, and the form of the result.
_FORMS = {"String": "text", "JSON.stringify": "JSON"}


class Tables:
    """Collects the tables of several files; a map may be used in another one."""

    def __init__(self, modules: Modules, protobuf: tuple[str, str], faults: Faults) -> None:
        self.map_keys: list[MapKeys] = []
        self.ignored_variants: list[IgnoredVariant] = []
        self._modules = modules
        self._protobuf = protobuf
        self._faults = faults
        self._literals = LiteralReader(modules, faults)
        self._maps: dict[_Key, ValueMap] = {}
        self._spread: set[_Key] = set()
        self._looked_up: set[_Key] = set()
        self._defaults: list[tuple[_Key, Default]] = []

    def read(self, file: File, constructions: Iterable[ConstructionBuilder]) -> None:
        """Reads the tables of a file."""
        names = ProtoNames(self._modules, file, self._protobuf)
        for node in syntax.walk(file.root):
            if node.type == "variable_declarator":
                self._read_map(file, node, names)
            elif node.type == "spread_element":
                self._spread.add((file.path, text(node.named_children[0])))
            elif node.type == "subscript_expression":
                self._looked_up.add((file.path, text(node.child_by_field_name("object"))))
            elif node.type == "binary_expression":
                self._read_default(file, node, names)
                self._read_ignored_variant(file, node)
        for item in constructions:
            for name, value in item.values.items():
                self._read_map_keys(item.file_of(value, file), item, name, value)

    def maps(self) -> Iterator[ValueMap]:
        """Yields the maps, each with its defaults."""
        for key, value_map in self._maps.items():
            if key in self._spread and key not in self._looked_up:
                # It is only a part of another table.
                continue
            yield value_map._replace(
                defaults=tuple(default for owner, default in self._defaults if owner == key)
            )

    def _read_map(self, file: File, node: Node, names: ProtoNames) -> None:
        value = node.child_by_field_name("value")
        table = syntax.unwrapped(value) if value else None
        if table is None or table.type != "object":
            return
        items = [item for item in table.named_children if item.type != "comment"]
        values = [names.value(item.child_by_field_name("value")) for item in items]
        if not values or not all(values):
            return
        pairs = []
        for item, proto_value in zip(items, values, strict=True):
            key = item.child_by_field_name("key")
            literal = self._literal_of(file, key)
            if literal is None or proto_value is None:
                span = self._modules.span(file, key or item)
                message = (
                    f"a key of the map {text(node.child_by_field_name('name'))} is not a constant"
                )
                self._faults.unreadable(span, Rule.SDK_ENUM, message)
            else:
                pairs.append((literal, proto_value))
        name = text(node.child_by_field_name("name"))
        self._maps[file.path, name] = ValueMap(name, file.place(node), tuple(pairs), ())

    def _literal_of(self, file: File, key: Node | None) -> str | None:
        if key is not None and key.type == "computed_property_name":
            return self._literals.constant(file, key.named_children[0])
        return syntax.constant(key) or text(key) or None

    def _read_default(self, file: File, node: Node, names: ProtoNames) -> None:
        """Records `pb.E.VALUE` of `MAP[x] ?? pb.E.VALUE`."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        value = names.value(right)
        lookup = syntax.unwrapped(left) if left else None
        if text(node.child_by_field_name("operator")) not in _FALLBACK_OPERATORS or value is None:
            return
        if lookup is not None and lookup.type == "subscript_expression":
            name = text(lookup.child_by_field_name("object"))
            definition = self._modules.resolve(file, name)
            key = definition.key if definition else (file.path, name)
            self._defaults.append((key, Default(value, within(node), file.place(node))))

    def _read_ignored_variant(self, file: File, test: Node) -> None:
        operator = text(test.child_by_field_name("operator"))
        if operator not in _INEQUALITY_OPERATORS and not (
            operator in _EQUALITY_OPERATORS and _leaves_out(test)
        ):
            return
        left = test.child_by_field_name("left")
        member = syntax.member(syntax.unwrapped(left)) if left else None
        tag = syntax.constant(test.child_by_field_name("right"))
        if member is not None and member[1] == _TAG and tag is not None:
            self.ignored_variants.append(IgnoredVariant(tag, within(test), file.place(test)))

    def _read_map_keys(
        self, file: File, construction: ConstructionBuilder, name: str, value: Node
    ) -> None:
        """Records the keys of an object that fills a field, or that a function returns for it."""
        node = syntax.unwrapped(value)
        tables = [node] if node.type == "object" and case_of(node) is None else []
        called = node.child_by_field_name("function") if node.type == "call_expression" else None
        function = self._modules.resolve(file, text(called)) if called is not None else None
        if function is not None:
            file = function.file
            tables = [
                item.named_children[0]
                for item in syntax.walk(function.node)
                if item.type == "return_statement"
                and item.named_children
                and item.named_children[0].type == "object"
            ]
        for table in tables:
            keys = [_key(item) for item in table.named_children if item.type != "comment"]
            constants = tuple(key for key in keys if key is not None)
            if constants:
                place = file.place(table)
                open_ = len(constants) < len(keys)
                self.map_keys.append(
                    MapKeys(
                        construction.message,
                        name,
                        construction.within,
                        open_,
                        place,
                        constants,
                        tuple(_forms(table)),
                    )
                )


def _leaves_out(test: Node) -> bool:
    """Whether a condition is one under which a loop goes on, or a list is empty."""
    outer = test.parent
    while outer is not None and outer.type in {"parenthesized_expression", "binary_expression"}:
        outer = outer.parent
    body = outer.child_by_field_name("consequence") if outer is not None else None
    if body is not None and body.type == "statement_block" and len(body.named_children) == 1:
        body = body.named_children[0]
    if body is None:
        return False
    return body.type == "continue_statement" or text(body) == "[]"


def _forms(table: Node) -> Iterator[tuple[str, str]]:
    """Yields the keys of an object whose values `String` or `JSON.stringify` makes, with the form."""
    for item in table.named_children:
        key = _key(item) if item.type == "pair" else None
        value = item.child_by_field_name("value")
        call = syntax.unwrapped(value) if value is not None else None
        if key is not None and call is not None and call.type == "call_expression":
            form = _FORMS.get(text(call.child_by_field_name("function")))
            if form is not None:
                yield key, form


def _key(item: Node) -> str | None:
    if item.type == "shorthand_property_identifier":
        return text(item)
    key = item.child_by_field_name("key") if item.type == "pair" else None
    if key is None or key.type == "computed_property_name":
        return None
    return syntax.constant(key) or text(key)
