"""Collects what TypeScript code fills in a message that it constructs."""

from __future__ import annotations

from dataclasses import dataclass, field

from tree_sitter import Node

from sessiongen.vocabulary.model import Construction, Place
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.object_values import ObjectValue
from sessiongen.vocabulary.typescript.parsed_file import File


@dataclass
class ConstructionBuilder:
    """A construction that is being collected. node: the expression or parameter it comes from.

    values: the last value of each field. assigned: every value of every field.
    arms: the value of every arm of a oneof.
    origins: for the id of a value that is not in the construction itself, the object that has it.
    """

    message: str
    within: str
    place: Place
    node: Node
    fields: set[str] = field(default_factory=set)
    values: dict[str, Node] = field(default_factory=dict)
    assigned: list[tuple[str, Node]] = field(default_factory=list)
    arms: list[tuple[str, Node]] = field(default_factory=list)
    origins: dict[int, ObjectValue] = field(default_factory=dict)
    open: bool = False

    def fill(self, name: str, value: Node | None) -> None:
        """Adds a filled field; an empty constant does not fill it."""
        if value is None or not _is_empty(syntax.unwrapped(value)):
            self.fields.add(name)
        if value is not None:
            self.values[name] = value
            self.assigned.append((name, value))

    def file_of(self, value: Node, file: File) -> File:
        """Returns the file of a value. file: that of the construction."""
        origin = self.origins.get(value.id)
        return origin.file if origin is not None else file

    def build(self) -> Construction:
        """Returns the finished fact."""
        return Construction(self.message, self.within, self.open, self.place, tuple(self.fields))


def _is_empty(node: Node) -> bool:
    if node.type in {"array", "object"}:
        return not node.named_children
    return node.type in {"null", "undefined"} or syntax.constant(node) == ""
