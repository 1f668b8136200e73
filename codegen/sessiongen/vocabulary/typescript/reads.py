"""Reads which fields of a request a TypeScript host uses.

Fields are paths below the arm in the proto's spelling, such as `input.audio_enabled`.
"""

from __future__ import annotations

from collections.abc import Iterable

from tree_sitter import Node

from sessiongen.vocabulary.ordering import longest
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.proto_names import ProtoNames
from sessiongen.vocabulary.typescript.syntax import field_name, text


def read_fields(names: ProtoNames, request: str, nodes: Iterable[Node]) -> tuple[str, ...]:
    """Returns the paths read of parameters whose type is a message inside the request."""
    paths: set[str] = set()
    for function in nodes:
        roots = {
            text(item.child_by_field_name("pattern"))
            for item in syntax.parameters(function)
            if (names.message(syntax.annotation(item)) or "").startswith(f"{request}.")
        }
        for node in syntax.walk(function):
            path = _path(node, roots)
            if path:
                paths.add(".".join(path))
    return tuple(sorted(longest(paths)))


def _path(node: Node, roots: set[str]) -> list[str]:
    parts: list[str] = []
    member = syntax.member(node)
    while member is not None:
        node = syntax.unwrapped(member[0])
        parts.insert(0, field_name(member[1]))
        member = syntax.member(node)
    return parts if node.type == "identifier" and text(node) in roots else []
