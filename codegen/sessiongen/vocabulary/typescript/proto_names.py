"""Recognizes the messages and the proto values that a file names."""

from __future__ import annotations

from functools import cache

from tree_sitter import Node

from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.modules import Modules
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.syntax import text

_TYPES = {"identifier", "member_expression", "nested_type_identifier", "type_identifier"}
_SCHEMA = "Schema"


class ProtoNames:
    """The names of messages in a file."""

    def __init__(self, modules: Modules, file: File, protobuf: tuple[str, str]) -> None:
        self._modules = modules
        self._file = file
        self._protobuf = protobuf
        self._path = cache(self._uncached_path)

    def __bool__(self) -> bool:
        """Whether the file uses messages."""
        return self._modules.uses(self._file, self._protobuf)

    def message(self, node: Node | None) -> str | None:
        """Returns `A.B` for a type or class such as `pb.A_B`, None for any other."""
        if node is None or node.type not in _TYPES:
            return None
        path = self._path(text(node))
        return path[0].replace("_", ".") if path is not None and len(path) == 1 else None

    def schema(self, node: Node | None) -> str | None:
        """Returns `A.B` for a schema of protobuf-es 2 such as `pb.A_BSchema`."""
        message = self.message(node)
        if message is None or not message.endswith(_SCHEMA):
            return None
        return message.removesuffix(_SCHEMA)

    def value(self, node: Node | None) -> str | None:
        """Returns `VALUE` of `pb.Enum.VALUE`."""
        inner = syntax.unwrapped(node) if node is not None else None
        path = self._path(text(inner)) if inner is not None and inner.type in _TYPES else None
        return path[-1] if path is not None and len(path) == 2 and path[-1].isupper() else None

    def _uncached_path(self, name: str) -> tuple[str, ...] | None:
        return self._modules.proto_path(self._file, name, self._protobuf)
