"""A class of an SDK: its methods, the messages constructed in it, and the arms they fill."""

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

    def __init__(self, definition: Definition, made: list[ConstructionBuilder]) -> None:
        assert isinstance(definition.node, ast.ClassDef)
        self.found = definition
        self.node = definition.node
        self.methods = {
            item.name: item
            for item in definition.node.body
            if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))
        }
        self._made = {id(item.node): item for item in made}

    def made(self, node: ast.AST, message: str) -> list[ConstructionBuilder]:
        """Return the constructions of a message in a node and in the methods it calls."""
        return [
            self._made[id(inner)]
            for part in self.reached(node)
            for inner in ast.walk(part)
            if id(inner) in self._made and self._made[id(inner)].message == message
        ]

    def only(self, node: ast.AST) -> ClassView:
        """Return a view that is limited to the constructions of one method."""
        inside = {id(inner) for inner in ast.walk(node)}
        return ClassView(self.found, [item for key, item in self._made.items() if key in inside])

    def calls(self, node: ast.AST) -> set[str]:
        """Return the methods of the class that a node calls."""
        found = set()
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call):
                name = own(inner.func)
                if name in self.methods:
                    found.add(name)
        return found

    def constructs(self, node: ast.AST, message: str) -> bool:
        """Whether a node constructs a message."""
        return id(node) in self._made and self._made[id(node)].message == message

    def reached(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield a node and the methods of the class that it calls, transitively."""
        yield node
        seen: set[str] = set()
        queue = self.calls(node)
        while queue:
            name = min(queue)
            queue.discard(name)
            if name not in seen:
                seen.add(name)
                yield self.methods[name]
                queue |= self.calls(self.methods[name])


def own(node: ast.AST) -> str:
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
        self.module = view.found.module

    def place(self, node: ast.AST) -> Place:
        """Return the line on which a node begins."""
        return self.module.place(node)

    def fault(self, node: ast.AST, rule: Rule, what: str) -> None:
        """Report what cannot be read."""
        self.faults.unreadable(self.modules.span(self.module, node), rule, what)

    def expect(self, met: bool, what: str) -> None:
        """Report a fault unless a condition is met."""
        if not met:
            name = self.view.found.name
            self.fault(self.view.node, Rule.SDK_REQUEST, f"{name} {what} that can be read")

    def arms(
        self, body: Iterable[ast.AST], message: str, view: ClassView | None = None
    ) -> list[tuple[str, ConstructionBuilder]]:
        """Return the arms of a message that are filled in a body, each with the first place."""
        found: dict[str, ConstructionBuilder] = {}
        for node in body:
            for made in (view or self.view).made(node, message):
                for name in sorted(made.fields):
                    if f"{message}.{name}" not in self.scope.plain:
                        found.setdefault(name, made)
        return list(found.items())

    def require_arms(self, node: ast.AST, message: str) -> None:
        """Report each construction of a message whose arm is computed."""
        for made in self.view.made(node, message):
            if made.open:
                self.fault(made.node, Rule.SDK_REQUEST, f"the arm of a {message} is computed")
