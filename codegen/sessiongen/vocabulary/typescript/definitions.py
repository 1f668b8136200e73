"""Reads the code of the definitions of a TypeScript SDK that fill, convert and pass on messages."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator

from tree_sitter import Node

from sessiongen.vocabulary.digests import digest
from sessiongen.vocabulary.model import DefinitionFact
from sessiongen.vocabulary.typescript.modules import Definition
from sessiongen.vocabulary.typescript.parsed_file import File, defined
from sessiongen.vocabulary.typescript.syntax import CLASSES, FUNCTIONS, text

_NOT_COMPARED = {"comment", "export_statement", "import_statement"}
_ACCESSORS = {"constructor", "get", "set"}
_CLOSING = {")", "]", "}"}


def file_facts(file: File, within: Container[str] | None = None) -> Iterator[DefinitionFact]:
    """Yields the facts of the definitions of a file, and that of its other statements.

    within: the methods to yield, as `Class.method`; None for all. Functions that are no methods
        and constants are always yielded.
    """
    for name, nodes in file.definitions.items():
        for node in nodes:
            for fact in _facts(file, name, node):
                if within is None or node.type not in CLASSES or fact.name in within:
                    yield fact
    unnamed = [
        item
        for item in file.root.named_children
        if item.type not in _NOT_COMPARED and not any(defined(item))
    ]
    code = " ".join(part for item in unnamed for part in code_of(item))
    place = file.place(unnamed[0] if unnamed else file.root)
    yield DefinitionFact(file.path, digest(code), place)


def definition_facts(definition: Definition) -> Iterator[DefinitionFact]:
    """Yields the facts of a definition, and those of the methods of a class."""
    for node in definition.nodes:
        yield from _facts(definition.file, definition.name, node)


def type_facts(definition: Definition) -> Iterator[DefinitionFact]:
    """Yields the facts of a data type: its fields, constructor, getters and setters."""
    for node in definition.nodes:
        yield from _facts(definition.file, definition.name, node, only_accessors=True)


def _facts(
    file: File, name: str, node: Node, only_accessors: bool = False
) -> Iterator[DefinitionFact]:
    members = [item for item in _members(node) if _is_function(item)]
    own_names = set() if only_accessors else {_name(item) for item in members}
    code = [*code_of(node, {item.id for item in members}), *sorted(own_names)]
    yield DefinitionFact(name, digest(" ".join(code)), file.place(node))
    for item in members:
        if not only_accessors or _is_accessor(item):
            member_code = " ".join(code_of(item))
            yield DefinitionFact(f"{name}.{_name(item)}", digest(member_code), file.place(item))


def _members(node: Node) -> list[Node]:
    body = node.child_by_field_name("body") if node.type in CLASSES else None
    return body.named_children if body else []


def _is_function(member: Node) -> bool:
    value = member.child_by_field_name("value")
    return member.type == "method_definition" or (value is not None and value.type in FUNCTIONS)


def _is_accessor(member: Node) -> bool:
    words = {item.type for item in member.children} | {_name(member)}
    return bool(words & _ACCESSORS)


def _name(member: Node) -> str:
    return text(member.child_by_field_name("name"))


def code_of(node: Node, without: Collection[int] = ()) -> Iterator[str]:
    """Yields the tokens of a node, without comments, the marks of formatting, and its name.

    without: the ids of nodes inside of it that are left out.
    """
    name = node.child_by_field_name("name")
    tokens = _tokens(node, {*without, name.id} if name else without)
    before = ""
    for token in tokens:
        if before == "," and token in _CLOSING:
            before = token
            continue
        if before:
            yield before
        before = token
    yield before


def _tokens(node: Node, without: Collection[int]) -> Iterator[str]:
    stack = [node]
    while stack:
        item = stack.pop()
        if item.id in without or item.type in {"comment", ";"}:
            continue
        children = item.children
        if children:
            stack += reversed(children)
        else:
            yield "'" if item.type == '"' else text(item)
