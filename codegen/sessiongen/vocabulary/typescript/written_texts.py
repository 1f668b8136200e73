"""Reads what TypeScript code writes under a key of a document, such as a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tree_sitter import Node

from sessiongen.vocabulary.behaviour_scope import WrittenText
from sessiongen.vocabulary.behaviours import NAMES_OF, NOT_WRITTEN, OWN_VALUE, TEXT
from sessiongen.vocabulary.model import Behaviour
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.calls import called_function, function_of, returned
from sessiongen.vocabulary.typescript.modules import Definition, Modules
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.syntax import CLASSES, class_methods, text

_MAX_STEPS = 6


def text_behaviours(
    modules: Modules, texts: Iterable[WrittenText], protobuf: tuple[str, str]
) -> Iterator[Behaviour]:
    """Yields what each text is: names of the proto enum, the SDK's own value, or not written."""
    for item in texts:
        name, _, method = item.definition.partition(".")
        definitions = modules.locate(name) or _functions(modules, name)
        function = _function(definitions[0], method) if len(definitions) == 1 else None
        if function is None:
            yield Behaviour(TEXT, item.name, item.definition, "", None)
            continue
        file = definitions[0].file
        value = _TextReader(modules, protobuf, item.enum).read(file, function, item.key)
        yield Behaviour(TEXT, item.name, item.definition, value, file.place(function))


def _functions(modules: Modules, name: str) -> list[Definition]:
    return [
        Definition(file, name, tuple(file.definitions[name]))
        for file in modules.mentioning(f"function {name}")
        if name in file.definitions
    ]


def _function(definition: Definition, method: str) -> Node | None:
    node = definition.of(*CLASSES)
    if method:
        return class_methods(node).get(method) if node is not None else None
    return function_of(definition)


class _TextReader:
    def __init__(self, modules: Modules, protobuf: tuple[str, str], enum: str) -> None:
        self._modules = modules
        self._protobuf = protobuf
        self._enum = enum

    def read(self, file: File, function: Node, key: str) -> str:
        """Returns what a document has under a key."""
        values = list(_values(function, key))
        if not values:
            return "" if _has_unknown_keys(function) else NOT_WRITTEN
        named = any(self._names_enum(file, value, _MAX_STEPS) for value in values)
        return f"{NAMES_OF}{self._enum}" if named else OWN_VALUE

    def _names_enum(self, file: File, node: Node, steps: int) -> bool:
        """Whether code, or a function that it calls, refers to the proto enum."""
        for inner in syntax.walk(node):
            named = inner.type in {"identifier", "member_expression"}
            path = self._modules.proto_path(file, text(inner), self._protobuf) if named else None
            if path is not None and path[:1] == (self._enum,):
                return True
            if inner.type == "call_expression" and steps:
                function, target = called_function(self._modules, file, inner)
                if function is not None and self._names_enum(target, function, steps - 1):
                    return True
        return False


def _values(function: Node, key: str) -> Iterator[Node]:
    """Yields what a function puts under a key of an object."""
    for node in syntax.walk(function):
        if node.type == "pair":
            name, value = (node.child_by_field_name(field) for field in ("key", "value"))
            if value is not None and (syntax.constant(name) or text(name)) == key:
                yield value
        elif node.type == "shorthand_property_identifier" and text(node) == key:
            yield node
        elif node.type == "assignment_expression":
            left, value = (node.child_by_field_name(field) for field in ("left", "right"))
            member = syntax.member(left)
            index = left.child_by_field_name("index") if left is not None else None
            if value is not None and key in {member[1] if member else "", syntax.constant(index)}:
                yield value


def _has_unknown_keys(function: Node) -> bool:
    """Whether an object that a function returns has keys that are not constants."""
    tables = [
        value
        for value in (syntax.unwrapped(item) for item in returned(function))
        if value.type == "object"
    ]
    return not tables or any(_is_unknown(item) for table in tables for item in table.named_children)


def _is_unknown(item: Node) -> bool:
    key = item.child_by_field_name("key")
    computed = key is not None and key.type == "computed_property_name"
    return computed or item.type == "spread_element"
