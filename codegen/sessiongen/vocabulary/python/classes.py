"""Reads a class of an SDK: its methods, the messages it constructs, and the arms it fills."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import Place
from sessiongen.vocabulary.python.construction_builder import ConstructionBuilder
from sessiongen.vocabulary.python.dispatch import Branch, Oneof, branches
from sessiongen.vocabulary.python.modules import Definition, Modules
from sessiongen.vocabulary.python.parsed_module import Module
from sessiongen.vocabulary.python.literals import LiteralReader, dotted, self_attribute
from sessiongen.vocabulary.scope import Scope

Function = ast.FunctionDef | ast.AsyncFunctionDef


class ClassView:
    """A class with its methods and the messages constructed in it, those of its bases included.

    classes: the class and its bases in the package. methods: by name; a method of a base that is
    overridden is named `super().NAME`.
    """

    def __init__(
        self,
        modules: Modules,
        classes: list[Definition],
        constructions: list[ConstructionBuilder],
    ) -> None:
        self._modules = modules
        self.definition = classes[0]
        self.classes = [
            (item.module, item.node) for item in classes if isinstance(item.node, ast.ClassDef)
        ]
        self.node = self.classes[0][1]
        self.definitions = classes
        self.methods: dict[str, Function] = {}
        for _, node in self.classes:
            for item in node.body:
                if isinstance(item, Function):
                    overridden = item.name in self.methods
                    name = f"super().{item.name}" if overridden else item.name
                    self.methods.setdefault(name, item)
        self._other_modules = {
            id(inner): module for module, node in self.classes[1:] for inner in ast.walk(node)
        }
        self._constructions = {id(item.node): item for item in constructions}

    def module_of(self, node: ast.AST) -> Module:
        """Returns the module of a node of the class, of its bases, or of what they call."""
        return self._other_modules.get(id(node), self.definition.module)

    def constructions(self, node: ast.AST, message: str) -> list[ConstructionBuilder]:
        """Returns the constructions of a message in a node and in the methods it calls."""
        return [
            self._constructions[id(inner)]
            for part in self.reachable_code(node)
            for inner in ast.walk(part)
            if id(inner) in self._constructions
            and self._constructions[id(inner)].message == message
        ]

    def limited_to(self, node: ast.AST) -> ClassView:
        """Returns a view that is limited to the constructions of one method."""
        inside = {id(inner) for inner in ast.walk(node)}
        return ClassView(
            self._modules,
            self.definitions,
            [item for key, item in self._constructions.items() if key in inside],
        )

    def called_methods(self, node: ast.AST) -> set[str]:
        """Returns the methods of the class that a node calls."""
        names = {self._method_name(inner) for inner in ast.walk(node)}
        return {name for name in names if name}

    def constructs(self, node: ast.AST, message: str) -> bool:
        """Whether a node constructs a message."""
        return id(node) in self._constructions and self._constructions[id(node)].message == message

    def construction(self, node: ast.AST) -> ConstructionBuilder | None:
        """Returns the construction of a message at a node, None if it constructs none."""
        return self._constructions.get(id(node))

    def reachable_code(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yields a node, and the methods and functions that it calls directly or indirectly."""
        seen, queue = {id(node)}, [node]
        while queue:
            part = queue.pop(0)
            yield part
            for inner in ast.walk(part):
                called = self.called(inner) if isinstance(inner, ast.Call) else None
                if called is not None and id(called) not in seen:
                    seen.add(id(called))
                    queue.append(called)

    def _method_name(self, node: ast.AST) -> str:
        """Returns the name of the method of the class that a call calls, empty for others."""
        name = self_attribute(node.func) if isinstance(node, ast.Call) else ""
        # What is not overridden is the method of the base.
        name = name if name in self.methods else name.removeprefix("super().")
        return name if name in self.methods else ""

    def called(self, call: ast.Call) -> Function | None:
        """Returns the method or the function of the package that a call calls."""
        name = self._method_name(call)
        if name:
            return self.methods[name]
        path = dotted(call.func)
        definition = self._modules.resolve(self.module_of(call), path) if path else None
        if definition is None or not isinstance(definition.node, Function):
            return None
        if definition.module is not self.definition.module:
            for inner in ast.walk(definition.node):
                self._other_modules.setdefault(id(inner), definition.module)
        return definition.node


class Role:
    """A class with a role in the protocol."""

    def __init__(self, modules: Modules, view: ClassView, scope: Scope, faults: Faults) -> None:
        self.modules = modules
        self.view = view
        self.scope = scope
        self.faults = faults
        self._literals = LiteralReader(modules, faults)
        self._branches: dict[Oneof, list[Branch]] = {}

    def place(self, node: ast.AST) -> Place:
        """Returns the line on which a node begins."""
        return self.view.module_of(node).place(node)

    def constant(self, node: ast.expr) -> str | None:
        """Returns the value of a constant; `self.NAME` is a constant of the class or a base."""
        name = self_attribute(node)
        for definition in self.view.definitions if name else ():
            text = self._literals.constant(definition.module, _attribute(definition.name, name))
            if text is not None:
                return text
        return self._literals.constant(self.view.module_of(node), node)

    def fault(self, node: ast.AST, rule: Rule, message: str) -> None:
        """Reports that a node cannot be read."""
        span = self.modules.span(self.view.module_of(node), node)
        self.faults.unreadable(span, rule, message)

    def expect(self, met: bool, message: str) -> None:
        """Reports that the class does nothing of a kind, unless a condition is met."""
        if not met:
            name = self.view.definition.name
            self.fault(self.view.node, Rule.SDK_REQUEST, f"{name} {message} that can be read")

    def arms(
        self, body: Iterable[ast.AST], message: str, view: ClassView | None = None
    ) -> list[tuple[str, ConstructionBuilder]]:
        """Returns the arms of a message that are filled in a body, each with the first place."""
        arms: dict[str, ConstructionBuilder] = {}
        for node in body:
            for construction in (view or self.view).constructions(node, message):
                for name in sorted(construction.fields):
                    # A path of assignments also has the arm itself.
                    if "." not in name and f"{message}.{name}" not in self.scope.not_arms:
                        arms.setdefault(name, construction)
        return list(arms.items())

    def branches(self, oneof: Oneof) -> list[Branch]:
        """Returns the branches of the class on the arm of a oneof."""
        if oneof not in self._branches:
            protobuf, classes = ".".join(self.scope.protobuf), self.view.classes
            known = branches(self.modules, classes, oneof, protobuf, self.faults)
            self._branches[oneof] = known
        return self._branches[oneof]

    def require_arms(self, node: ast.AST, message: str) -> None:
        """Reports each construction of a message whose arm is computed."""
        for construction in self.view.constructions(node, message):
            if construction.open:
                self.fault(
                    construction.node, Rule.SDK_REQUEST, f"the arm of a {message} is computed"
                )


def _attribute(owner: str, name: str) -> ast.Attribute:
    return ast.Attribute(ast.Name(owner, ast.Load()), name, ast.Load())
