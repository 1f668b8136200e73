"""A class of a TypeScript SDK: its methods and the messages constructed in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tree_sitter import Node

from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.constructions import ConstructionBuilder, class_methods
from sessiongen.vocabulary.typescript.modules import Definition
from sessiongen.vocabulary.typescript.syntax import CLASSES


class ClassView:
    """A class with its methods and the messages constructed in it."""

    def __init__(self, definition: Definition, made: list[ConstructionBuilder]) -> None:
        node = definition.of(*CLASSES)
        assert node is not None
        self.found = definition
        self.name = definition.name
        self.file = definition.file
        self.node = node
        self.methods = class_methods(node)
        self._made = {item.node.id: item for item in made}

    def made(self, nodes: Iterable[Node], message: str) -> list[ConstructionBuilder]:
        """Return the constructions of a message in nodes and in the methods they call."""
        return [
            self._made[inner.id]
            for part in self.reached(nodes)
            for inner in syntax.walk(part)
            if inner.id in self._made and self._made[inner.id].message == message
        ]

    def constructs(self, node: Node, message: str) -> bool:
        """Whether a node constructs a message."""
        return node.id in self._made and self._made[node.id].message == message

    def only(self, node: Node) -> ClassView:
        """Return a view that is limited to the constructions of one method."""
        inside = {inner.id for inner in syntax.walk(node)}
        return ClassView(self.found, [item for key, item in self._made.items() if key in inside])

    def calls(self, node: Node) -> set[str]:
        """Return the methods of the class that a node calls."""
        names = {
            syntax.own(item.child_by_field_name("function"))
            for item in syntax.walk(node)
            if item.type == "call_expression"
        }
        return names & set(self.methods)

    def reached(self, nodes: Iterable[Node]) -> Iterator[Node]:
        """Yield nodes and the methods of the class that they call, transitively."""
        nodes = list(nodes)
        yield from nodes
        seen: set[str] = set()
        queue = {name for node in nodes for name in self.calls(node)}
        while queue:
            name = min(queue)
            queue.discard(name)
            if name not in seen:
                seen.add(name)
                yield self.methods[name]
                queue |= self.calls(self.methods[name])
