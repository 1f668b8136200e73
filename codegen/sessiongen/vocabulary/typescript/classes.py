"""Reads a class of a TypeScript SDK: its methods and the messages it constructs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tree_sitter import Node

from sessiongen.vocabulary.model import Place
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.construction_builder import ConstructionBuilder
from sessiongen.vocabulary.typescript.modules import Definition, Modules
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.syntax import CLASSES, FUNCTIONS, class_methods, text


class ClassView:
    """A class with its methods and the messages constructed in it, those of its bases included.

    classes: the class and its bases in the package. methods: by name; a method of a base that is
    overridden is named `super.NAME`.
    """

    def __init__(
        self,
        modules: Modules,
        classes: list[Definition],
        constructions: list[ConstructionBuilder],
    ) -> None:
        self._modules = modules
        self.definition = classes[0]
        self.name = self.definition.name
        self.file = self.definition.file
        self.classes = [(item.file, node) for item in classes if (node := item.of(*CLASSES))]
        self.node = self.classes[0][1]
        self._definitions = classes
        self.methods: dict[str, Node] = {}
        for _, node in self.classes:
            for name, method in class_methods(node).items():
                self.methods.setdefault(f"super.{name}" if name in self.methods else name, method)
        self._files = {item.file.root.id: item.file for item in classes}
        self._constructions = {item.node.id: item for item in constructions}

    def file_of(self, node: Node) -> File:
        """Returns the file of a node of the class, of its bases, or of what they call."""
        root = node
        while root.parent is not None:
            root = root.parent
        return self._files.get(root.id, self.file)

    def place(self, node: Node) -> Place:
        """Returns the line on which a node begins."""
        return self.file_of(node).place(node)

    def constructions(self, nodes: Iterable[Node], message: str) -> list[ConstructionBuilder]:
        """Returns the constructions of a message in nodes and in what they call."""
        return [
            self._constructions[inner.id]
            for part in self.reachable_code(nodes)
            for inner in syntax.walk(part)
            if inner.id in self._constructions and self._constructions[inner.id].message == message
        ]

    def constructs(self, node: Node, message: str) -> bool:
        """Whether a node constructs a message."""
        return node.id in self._constructions and self._constructions[node.id].message == message

    def constructs_any(self, node: Node) -> bool:
        """Whether a node constructs a message."""
        return node.id in self._constructions

    def construction(self, node: Node) -> ConstructionBuilder | None:
        """Returns the construction that a node is."""
        return self._constructions.get(node.id)

    def limited_to(self, node: Node) -> ClassView:
        """Returns a view that is limited to the constructions of one method."""
        inside = {inner.id for inner in syntax.walk(node)}
        constructions = [item for key, item in self._constructions.items() if key in inside]
        return ClassView(self._modules, self._definitions, constructions)

    def calls_with(self, node: Node) -> list[tuple[Node, dict[str, Node]]]:
        """Returns the calls of the method around a node, each with its arguments by parameter."""
        methods = {method.id: name for name, method in self.methods.items()}
        function = next((it for it in syntax.enclosing(node, *FUNCTIONS) if it.id in methods), None)
        if function is None:
            return []
        names = syntax.parameter_names(function)
        return [
            (call, dict(zip(names, syntax.arguments(call))))
            for _, owner in self.classes
            for call in syntax.walk(owner)
            if call.type == "call_expression" and self._method_name(call) == methods[function.id]
        ]

    def called_methods(self, node: Node) -> set[str]:
        """Returns the methods of the class that a node calls."""
        names = {self._method_name(item) for item in syntax.walk(node)}
        return {name for name in names if name}

    def reachable_code(self, nodes: Iterable[Node]) -> Iterator[Node]:
        """Yields nodes, and the methods and functions that they call directly or indirectly."""
        queue = list(nodes)
        seen = {node.id for node in queue}
        while queue:
            part = queue.pop(0)
            yield part
            for inner in syntax.walk(part):
                called = self.called(inner) if inner.type == "call_expression" else None
                if called is not None and called.id not in seen:
                    seen.add(called.id)
                    queue.append(called)

    def _method_name(self, node: Node) -> str:
        """Returns the name of the method of the class that a call calls, empty for others."""
        is_call = node.type == "call_expression"
        name = syntax.this_property(node.child_by_field_name("function")) if is_call else ""
        # What is not overridden is the method of the base.
        name = name if name in self.methods else name.removeprefix("super.")
        return name if name in self.methods else ""

    def called(self, call: Node) -> Node | None:
        """Returns the method or the function of the package that a call calls."""
        name = self._method_name(call)
        if name:
            return self.methods[name]
        function = call.child_by_field_name("function")
        if function is None or function.type != "identifier":
            return None
        definition = self._modules.resolve(self.file_of(call), text(function))
        if definition is None:
            return None
        value = definition.node.child_by_field_name("value")
        node = definition.of("function_declaration") or value
        if node is None or node.type not in FUNCTIONS:
            return None
        self._files.setdefault(definition.file.root.id, definition.file)
        return node
