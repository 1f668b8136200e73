"""Reads a class of an SDK: its methods, the messages it constructs, and the arms it fills."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import Place
from sessiongen.vocabulary.python.constructions import ConstructionBuilder
from sessiongen.vocabulary.python.modules import Definition, Modules
from sessiongen.vocabulary.python.literals import dotted
from sessiongen.vocabulary.scope import Scope


class ClassView:
    """A class with its methods and the messages constructed in it."""

    def __init__(self, definition: Definition, constructions: list[ConstructionBuilder]) -> None:
        assert isinstance(definition.node, ast.ClassDef)
        self.definition = definition
        self.node = definition.node
        self.methods = {
            item.name: item
            for item in definition.node.body
            if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))
        }
        self._constructions = {id(item.node): item for item in constructions}

    def constructions(self, node: ast.AST, message: str) -> list[ConstructionBuilder]:
        """Return the constructions of a message in a node and in the methods it calls."""
        return [
            self._constructions[id(inner)]
            for part in self.reachable_code(node)
            for inner in ast.walk(part)
            if id(inner) in self._constructions
            and self._constructions[id(inner)].message == message
        ]

    def limited_to(self, node: ast.AST) -> ClassView:
        """Return a view that is limited to the constructions of one method."""
        inside = {id(inner) for inner in ast.walk(node)}
        return ClassView(
            self.definition, [item for key, item in self._constructions.items() if key in inside]
        )

    def called_methods(self, node: ast.AST) -> set[str]:
        """Return the methods of the class that a node calls."""
        methods = set()
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call):
                name = self_attribute(inner.func)
                if name in self.methods:
                    methods.add(name)
        return methods

    def constructs(self, node: ast.AST, message: str) -> bool:
        """Whether a node constructs a message."""
        return id(node) in self._constructions and self._constructions[id(node)].message == message

    def reachable_code(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield a node, and the methods of the class that it calls directly or indirectly."""
        yield node
        seen: set[str] = set()
        queue = self.called_methods(node)
        while queue:
            name = min(queue)
            queue.discard(name)
            if name not in seen:
                seen.add(name)
                yield self.methods[name]
                queue |= self.called_methods(self.methods[name])


def self_attribute(node: ast.AST) -> str:
    """Return `x` for `self.x`, empty for any other expression."""
    head, _, name = (dotted(node) or "").rpartition(".")
    return name if head == "self" else ""


class Role:
    """A class with a role in the protocol."""

    def __init__(self, modules: Modules, view: ClassView, scope: Scope, faults: Faults) -> None:
        self.modules = modules
        self.view = view
        self.scope = scope
        self.faults = faults
        self.module = view.definition.module

    def place(self, node: ast.AST) -> Place:
        """Return the line on which a node begins."""
        return self.module.place(node)

    def fault(self, node: ast.AST, rule: Rule, message: str) -> None:
        """Report that a node cannot be read."""
        self.faults.unreadable(self.modules.span(self.module, node), rule, message)

    def expect(self, met: bool, message: str) -> None:
        """Report that the class does nothing of a kind, unless a condition is met."""
        if not met:
            name = self.view.definition.name
            self.fault(self.view.node, Rule.SDK_REQUEST, f"{name} {message} that can be read")

    def arms(
        self, body: Iterable[ast.AST], message: str, view: ClassView | None = None
    ) -> list[tuple[str, ConstructionBuilder]]:
        """Return the arms of a message that are filled in a body, each with the first place."""
        arms: dict[str, ConstructionBuilder] = {}
        for node in body:
            for construction in (view or self.view).constructions(node, message):
                for name in sorted(construction.fields):
                    if f"{message}.{name}" not in self.scope.not_arms:
                        arms.setdefault(name, construction)
        return list(arms.items())

    def require_arms(self, node: ast.AST, message: str) -> None:
        """Report each construction of a message whose arm is computed."""
        for construction in self.view.constructions(node, message):
            if construction.open:
                self.fault(
                    construction.node, Rule.SDK_REQUEST, f"the arm of a {message} is computed"
                )
