"""Reads the session, the host and the driver of a TypeScript SDK."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tree_sitter import Node

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import (
    Answer,
    Driver,
    EventName,
    Forward,
    Host,
    Place,
    Reception,
    Sending,
)
from sessiongen.vocabulary.scope import Scope
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.answers import (
    error_beside_result,
    error_texts,
    unknown_request_answer,
)
from sessiongen.vocabulary.typescript.construction_builder import ConstructionBuilder
from sessiongen.vocabulary.typescript.classes import ClassView
from sessiongen.vocabulary.typescript.dispatch import Branch, Dispatch
from sessiongen.vocabulary.typescript.events import event_use
from sessiongen.vocabulary.typescript.proto_names import ProtoNames
from sessiongen.vocabulary.typescript.generated import GeneratedUse, generated_api
from sessiongen.vocabulary.typescript.modules import Modules
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.reads import read_fields
from sessiongen.vocabulary.typescript.subscriptions import handler_of, subscriptions
from sessiongen.vocabulary.typescript.syntax import CLASSES, FUNCTIONS, text
from sessiongen.vocabulary.typescript.literals import LiteralReader

_OBJECTS = {"object_type", "interface_body"}


class RoleReader:
    """Reads the classes with a role."""

    def __init__(self, modules: Modules, scope: Scope, faults: Faults) -> None:
        self.modules = modules
        self.scope = scope
        self.faults = faults
        self.literals = LiteralReader(modules, faults)

    def emitter_types(self, view: ClassView) -> Iterator[Node]:
        """Yields the type arguments of the class that a class extends, directly or by a constant."""
        for file, owner in view.classes:
            heritage = syntax.child(owner, "class_heritage")
            parts = [heritage] if heritage else []
            for node in syntax.walk(heritage) if heritage else ():
                if node.type == "identifier" and text(node) in file.definitions:
                    parts += [
                        item for item in file.definitions[text(node)] if item.type not in CLASSES
                    ]
            for part in parts:
                for node in syntax.walk(part):
                    if node.type == "type_arguments":
                        yield from node.named_children

    def declared(self, view: ClassView) -> tuple[EventName, ...]:
        """Returns the event names in the type that a class gives its event emitter."""
        for node in self.emitter_types(view):
            names = list(self._event_names(view.file_of(node), node, set()))
            if names:
                return tuple(names)
        message = f"the event names of {view.name} are not a set of constants in its base"
        self._fault(view.file_of(view.node), view.node, Rule.SDK_EVENT, message)
        return ()

    def _event_names(self, file: File, node: Node, seen: set[int]) -> Iterator[EventName]:
        """Yields the event names of a type: keys, literals, or those of another type."""
        if node.type in _OBJECTS:
            yield from self._keys(file, node)
        elif node.type == "intersection_type":
            for part in node.named_children:
                yield from self._event_names(file, part, seen)
        elif (target := self.modules.resolve(file, text(node))) and target.node.id not in seen:
            seen.add(target.node.id)
            if self.modules.is_generated(target.file):
                for name in generated_api(self.modules).names.values():
                    yield EventName(name, file.place(node))
                return
            literals = self.literals.of(target)
            for item in literals.literals if literals is not None and not literals.open else ():
                yield EventName(item.value, Place(target.file.path, item.line))
            for inner in map(target.node.child_by_field_name, ("value", "body")):
                if inner is not None and (literals is None or inner.type in _OBJECTS):
                    yield from self._event_names(target.file, inner, seen)

    def host(self, view: ClassView) -> Host:
        """Returns what the host forwards and answers."""
        forwards = list(self._subscribed_events(view))
        forwards += self._called_directly(view, {item.handler for item in forwards})
        names = ProtoNames(self.modules, view.file, self.scope.protobuf)
        answers = []
        cases = self.branches(view, self.scope.messages.request)
        for branch in cases:
            replies = self._arms(view, branch.body, self.scope.messages.response)
            answers.append(
                Answer(
                    branch.arm,
                    replies[0][0] if replies else None,
                    read_fields(
                        names, self.scope.messages.request, view.reachable_code(branch.body)
                    ),
                    error_texts(view, self.scope, branch.body),
                    view.place(branch.node),
                    error_beside_result(view, self.scope, branch.body),
                )
            )
        generated = GeneratedUse(self.modules, view, generated_api(self.modules))
        forwards += generated.forwards()
        answers += generated.answers()
        self._expect(view, bool(forwards), "forwards no event")
        self._expect(view, bool(answers), "answers no request")
        unknown_request = unknown_request_answer(view, self.scope, cases)
        unknown_request = unknown_request or generated.unknown_request()
        place = view.place(view.node)
        return Host(view.name, place, unknown_request, tuple(forwards), tuple(answers))

    def driver(self, view: ClassView) -> Driver:
        """Returns what the driver emits and sends."""
        receives, payload_only = [], None
        branches = self.branches(view, self.scope.messages.event)
        names = ProtoNames(self.modules, view.file, self.scope.protobuf)
        for call, arguments in _emissions(view):
            first, *payload = arguments
            emitted = {
                (branch.arm, event)
                for branch in branches
                if branch.holds(call) and (event := self._emitted(view, first, branch)) is not None
            }
            if not any(self._is_event(item, names) for item in payload):
                payload_only = payload_only or view.place(call)
            place = view.place(call)
            receives += [Reception(arm, event, place) for arm, event in sorted(emitted)]
            if not emitted:
                message = "the name or arm of an event of the driver is not a constant"
                self._fault(view.file_of(call), call, Rule.SDK_EVENT, message)
        generated = GeneratedUse(self.modules, view, generated_api(self.modules))
        receives += generated.receives()
        sends = [*self._sends(view), *generated.sends()]
        self._expect(view, bool(receives), "emits no event")
        self._expect(view, bool(sends), "sends no request")
        place = view.place(view.node)
        events = self.declared(view)
        return Driver(view.name, place, None, payload_only, events, tuple(receives), tuple(sends))

    def _emitted(self, view: ClassView, name: Node, branch: Branch) -> str | None:
        """Returns the name of an event that is emitted in a branch; it may be that of a table."""
        constant = self.constant(view, name, view.file_of(name))
        if constant is not None or branch.value is None:
            return constant
        return self.constant(view, branch.value, view.file_of(branch.value))

    def _is_event(self, node: Node, names: ProtoNames) -> bool:
        """Whether an expression is the whole event: `x.event`, or a parameter of its type."""
        inner = syntax.unwrapped(node)
        member = syntax.member(inner)
        if member is not None:
            return member[1] == self.scope.messages.event_arm
        return any(
            names.message(syntax.annotation(item)) == self.scope.messages.event
            for function in syntax.enclosing(node, *FUNCTIONS)
            for item in syntax.parameters(function)
            if text(item.child_by_field_name("pattern")) == text(inner)
        )

    def _keys(self, file: File, body: Node) -> Iterator[EventName]:
        """Yields the keys of an object type; keys may be members of an enum."""
        for item in body.named_children:
            name = item.child_by_field_name("name")
            if item.type not in {"property_signature", "method_signature"} or name is None:
                continue
            value = text(name)
            if name.type == "string":
                value = syntax.constant(name) or ""
            elif name.type == "computed_property_name":
                constant = self.literals.constant(file, name.named_children[0])
                if constant is None:
                    message = f"`{text(name)}` is not a constant"
                    self._fault(file, name, Rule.SDK_EVENT, message)
                    continue
                value = constant
            yield EventName(value, file.place(item))

    def _subscribed_events(self, view: ClassView) -> Iterator[Forward]:
        """Yields the arms sent by the handlers in `session.on(event, handler)`."""
        for item in subscriptions(self.modules, view):
            event = self.constant(view, item.event, item.file)
            handler = handler_of(self.modules, view, item.file, item.handler)
            if event is None:
                message = "the event name of a subscription of the host is not a constant"
                self._fault(item.file, item.event, Rule.SDK_EVENT, message)
            elif handler is None:
                message = f"the handler of '{event}' is not a function of the package"
                self._fault(item.file, item.handler, Rule.SDK_EVENT, message)
            else:
                via = view.place(item.call)
                yield from self._forwards(view, handler.node, event, handler.name or event, via)

    def _called_directly(self, view: ClassView, handled: set[str]) -> Iterator[Forward]:
        """Yields the arms sent by methods that other code of the SDK calls directly."""
        called = {name for method in view.methods.values() for name in view.called_methods(method)}
        for name, method in sorted(view.methods.items()):
            if name in handled or name in called:
                continue
            if self._arms(view, [method], self.scope.messages.event):
                yield from self._forwards(view, method, None, name, self._call_place(view, name))

    def _forwards(
        self, view: ClassView, node: Node, event: str | None, handler: str, via: Place | None
    ) -> Iterator[Forward]:
        use = event_use(view, node)
        reads = tuple(sorted(use.reads))
        for arm, construction in self._arms(view, [node], self.scope.messages.event):
            yield Forward(arm, event, handler, construction.place, via, use.type, reads, use.whole)

    def _call_place(self, view: ClassView, name: str) -> Place | None:
        """Returns where other code calls a method; a private one cannot be called."""
        if syntax.is_private(view.methods[name]):
            return None
        for file in self.modules.mentioning(name):
            for node in syntax.walk(file.root):
                function = node.child_by_field_name("function")
                method = syntax.member(function) if node.type == "call_expression" else None
                if method and method[1] == name and syntax.unwrapped(method[0]).type != "this":
                    return file.place(node)
        return None

    def branches(self, view: ClassView, message: str) -> list[Branch]:
        """Returns the branches of a class on the arms of a message."""
        branches: list[Branch] = []
        for method in view.methods.values():
            file = view.file_of(method)
            names = ProtoNames(self.modules, file, self.scope.protobuf)
            dispatch = Dispatch(self.modules, file, names, message, self.faults)
            branches += dispatch.branches(method)
        return branches

    def constant(self, view: ClassView, node: Node, file: File) -> str | None:
        """Returns the value of a constant; `this.NAME` is a constant of the class or a base."""
        name = syntax.this_property(node)
        if node.type == "property_identifier":
            return text(node)
        for _, owner in view.classes if name else ():
            value = syntax.class_constant(owner, name)
            if value is not None:
                return value
        return self.literals.constant(file, node)

    def _arms(
        self, view: ClassView, nodes: Iterable[Node], message: str
    ) -> list[tuple[str, ConstructionBuilder]]:
        """Returns the arms of a message that are filled in nodes, each with the first place."""
        arms: dict[str, ConstructionBuilder] = {}
        for construction in view.constructions(nodes, message):
            for name in sorted(construction.fields):
                if f"{message}.{name}" not in self.scope.not_arms:
                    arms.setdefault(name, construction)
        return list(arms.items())

    def _sends(self, view: ClassView) -> Iterator[Sending]:
        for name, method in view.methods.items():
            for arm, construction in self._arms(
                view.limited_to(method), [method], self.scope.messages.request
            ):
                yield Sending(arm, name, construction.place)

    def _expect(self, view: ClassView, met: bool, message: str) -> None:
        if not met:
            self._fault(
                view.file_of(view.node),
                view.node,
                Rule.SDK_REQUEST,
                f"{view.name} {message} that can be read",
            )

    def _fault(self, file: File, node: Node, rule: Rule, message: str) -> None:
        self.faults.unreadable(self.modules.span(file, node), rule, message)


def _emissions(view: ClassView) -> Iterator[tuple[Node, list[Node]]]:
    """Yields the calls of `this.emit(...)` in a class with their arguments.

    A method that emits what it is given stands for its calls.
    """
    for node in (item for _, owner in view.classes for item in syntax.walk(owner)):
        function = node.child_by_field_name("function") if node.type == "call_expression" else None
        inner = syntax.unwrapped(function) if function is not None else None
        arguments = syntax.arguments(node)
        if syntax.this_property(inner) != "emit" or not arguments:
            continue
        outer = [
            (call, [given.get(text(item), item) for item in arguments])
            for call, given in view.calls_with(node)
            if text(arguments[0]) in given
        ]
        yield from outer or [(node, arguments)]
