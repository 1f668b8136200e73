"""Reads a class of a TypeScript SDK: its methods and the messages it constructs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tree_sitter import Node

from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.constructions import ConstructionBuilder, class_methods
from sessiongen.vocabulary.typescript.modules import Definition
from sessiongen.vocabulary.typescript.syntax import CLASSES


class ClassView:
    """A class with its methods and the messages constructed in it."""

    def __init__(self, definition: Definition, constructions: list[ConstructionBuilder]) -> None:
        node = definition.of(*CLASSES)
        assert node is not None
        self.definition = definition
        self.name = definition.name
        self.file = definition.file
        self.node = node
        self.methods = class_methods(node)
        self._constructions = {item.node.id: item for item in constructions}

    def constructions(self, nodes: Iterable[Node], message: str) -> list[ConstructionBuilder]:
        """Return the constructions of a message in nodes and in the methods they call."""
        return [
            self._constructions[inner.id]
            for part in self.reachable_code(nodes)
            for inner in syntax.walk(part)
            if inner.id in self._constructions and self._constructions[inner.id].message == message
        ]

    def constructs(self, node: Node, message: str) -> bool:
        """Whether a node constructs a message."""
        return node.id in self._constructions and self._constructions[node.id].message == message

    def limited_to(self, node: Node) -> ClassView:
        """Return a view that is limited to the constructions of one method."""
        inside = {inner.id for inner in syntax.walk(node)}
        return ClassView(
            self.definition, [item for key, item in self._constructions.items() if key in inside]
        )

    def called_methods(self, node: Node) -> set[str]:
        """Return the methods of the class that a node calls."""
        names = {
            syntax.this_property(item.child_by_field_name("function"))
            for item in syntax.walk(node)
            if item.type == "call_expression"
        }
        return names & set(self.methods)

    def reachable_code(self, nodes: Iterable[Node]) -> Iterator[Node]:
        """Yield nodes, and the methods of the class that they call directly or indirectly."""
        nodes = list(nodes)
        yield from nodes
        seen: set[str] = set()
        queue = {name for node in nodes for name in self.called_methods(node)}
        while queue:
            name = min(queue)
            queue.discard(name)
            if name not in seen:
                seen.add(name)
                yield self.methods[name]
                queue |= self.called_methods(self.methods[name])
