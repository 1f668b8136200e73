"""Reads which fields of a request a TypeScript host uses.

Fields are paths below the arm in the proto's spelling, such as `input.audio_enabled`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tree_sitter import Node

from sessiongen.vocabulary.ordering import longest
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.proto_names import ProtoNames
from sessiongen.vocabulary.typescript.syntax import field_name, text

Path = tuple[str, ...]


def read_fields(names: ProtoNames, request: str, nodes: Iterable[Node]) -> tuple[str, ...]:
    """Returns the paths read of parameters whose type is a message inside the request."""
    paths: set[str] = set()
    for function in nodes:
        roots = {
            text(item.child_by_field_name("pattern"))
            for item in syntax.parameters(function)
            if (names.message(syntax.annotation(item)) or "").startswith(f"{request}.")
        }
        aliases: dict[str, Path] = dict.fromkeys(roots, ())
        for node in syntax.walk(function):
            if node.type == "variable_declarator":
                aliases.update(_bound(node, aliases))
        for node in syntax.walk(function):
            path = _path(node, aliases)
            if path:
                paths.add(".".join(path))
    return tuple(sorted(longest(paths)))


def _bound(declarator: Node, aliases: Mapping[str, Path]) -> Iterator[tuple[str, Path]]:
    """Yields the variables that hold a part of a request, each with its path."""
    name, value = (declarator.child_by_field_name(field) for field in ("name", "value"))
    inner = syntax.unwrapped(value) if value is not None else None
    if name is None or inner is None:
        return
    path = aliases.get(text(inner)) if inner.type == "identifier" else tuple(_path(inner, aliases))
    if path is None or (not path and inner.type != "identifier"):
        return
    if name.type == "identifier":
        yield text(name), path
    for variable, member in syntax.bindings(name):
        if member:
            yield variable, (*path, field_name(member))


def _path(node: Node, aliases: Mapping[str, Path]) -> list[str]:
    """Returns the path of an expression that begins with a request or a part of it."""
    parts: list[str] = []
    member = syntax.member(node)
    called = node.parent is not None and node.parent.child_by_field_name("function") == node
    if called and member is not None:
        # The method of a field reads the field.
        member = syntax.member(syntax.unwrapped(member[0]))
        node = syntax.unwrapped(node.named_children[0])
    while member is not None:
        node = syntax.unwrapped(member[0])
        parts.insert(0, field_name(member[1]))
        member = syntax.member(node)
    known = node.type == "identifier" and text(node) in aliases
    return [*aliases[text(node)], *parts] if known else []
