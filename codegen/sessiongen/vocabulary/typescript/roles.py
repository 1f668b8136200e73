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
from sessiongen.vocabulary.typescript.answers import error_texts, unknown_request_answer
from sessiongen.vocabulary.typescript.constructions import (
    ConstructionBuilder,
    message_type,
    protobuf_names,
)
from sessiongen.vocabulary.typescript.classes import ClassView
from sessiongen.vocabulary.typescript.dispatch import Branch, Dispatch
from sessiongen.vocabulary.typescript.events import taken
from sessiongen.vocabulary.typescript.modules import Definition, File, Modules
from sessiongen.vocabulary.typescript.reads import read_fields
from sessiongen.vocabulary.typescript.syntax import FUNCTIONS, text
from sessiongen.vocabulary.typescript.literals import LiteralReader

_SUBSCRIBE = {"on", "once", "addListener"}


class RoleReader:
    """Reads roles; faults go to one list."""

    def __init__(self, modules: Modules, scope: Scope, faults: Faults) -> None:
        self.modules = modules
        self.scope = scope
        self.faults = faults
        self.literals = LiteralReader(modules, faults)

    def emitter_types(self, view: ClassView) -> Iterator[Node]:
        """Yield the type arguments in what a class extends, through a constant if need be."""
        heritage = syntax.child(view.node, "class_heritage")
        parts = [heritage] if heritage else []
        for node in syntax.walk(heritage) if heritage else ():
            if node.type == "identifier" and text(node) in view.file.definitions:
                parts += view.file.definitions[text(node)]
        for part in parts:
            for node in syntax.walk(part):
                if node.type == "type_arguments":
                    yield from node.named_children

    def declared(self, view: ClassView) -> tuple[EventName, ...]:
        """Return the event names in the type that a class gives its event emitter."""
        for node in self.emitter_types(view):
            target = self.modules.resolve(view.file, text(node))
            names = list(self._keys(target)) if target else []
            literals = self.literals.of(target) if target and not names else None
            if literals is not None and target is not None and not literals.open:
                names = [
                    EventName(item.value, Place(target.file.path, item.line))
                    for item in literals.literals
                ]
            if names:
                return tuple(names)
        what = f"the event names of {view.name} are not a set of constants in its base"
        self._fault(view.file, view.node, Rule.SDK_EVENT, what)
        return ()

    def host(self, view: ClassView) -> Host:
        """Return what the host forwards and answers."""
        forwards = list(self._subscribed(view))
        forwards += self._called(view, {item.handler for item in forwards})
        names = protobuf_names(view.file, self.scope.protobuf)
        answers = []
        cases = self._branches(view, self.scope.messages.request)
        for branch in cases:
            replies = self._arms(view, branch.body, self.scope.messages.response)
            answers.append(
                Answer(
                    branch.arm,
                    replies[0][0] if replies else None,
                    read_fields(names, self.scope.messages.request, view.reached(branch.body)),
                    error_texts(view, self.scope, branch.body),
                    view.file.place(branch.node),
                )
            )
        self._expect(view, bool(forwards), "forwards no event")
        self._expect(view, bool(answers), "answers no request")
        rest = unknown_request_answer(view, self.scope, cases)
        place = view.file.place(view.node)
        return Host(view.name, place, rest, tuple(forwards), tuple(answers))

    def driver(self, view: ClassView) -> Driver:
        """Return what the driver emits and sends."""
        receives, bare = [], None
        branches = self._branches(view, self.scope.messages.event)
        names = protobuf_names(view.file, self.scope.protobuf)
        for call in _calls_of(view, "emit"):
            around = [branch for branch in branches if branch.holds(call)]
            first, *given = syntax.arguments(call) or [call]
            event = self.literals.constant(view.file, first)
            if not any(self._is_event(item, names) for item in given):
                bare = bare or view.file.place(call)
            if around and event is not None:
                place = view.file.place(call)
                receives += [Reception(branch.arm, event, place) for branch in around]
            else:
                what = "an event of the driver whose name or arm is not a constant"
                self._fault(view.file, call, Rule.SDK_EVENT, what)
        sends = list(self._sends(view))
        self._expect(view, bool(receives), "emits no event")
        self._expect(view, bool(sends), "sends no request")
        place = view.file.place(view.node)
        events = self.declared(view)
        return Driver(view.name, place, None, bare, events, tuple(receives), tuple(sends))

    def _is_event(self, node: Node, names: set[str]) -> bool:
        """Whether an expression is the whole event: `x.event`, or a parameter of its type."""
        inner = syntax.bare(node)
        found = syntax.member(inner)
        if found is not None:
            return found[1] == self.scope.messages.event_arm
        return any(
            message_type(names, syntax.annotation(item)) == self.scope.messages.event
            for function in syntax.around(node, *FUNCTIONS)
            for item in syntax.parameters(function)
            if text(item.child_by_field_name("pattern")) == text(inner)
        )

    def _keys(self, definition: Definition) -> Iterator[EventName]:
        """Yield the keys of an object type, computed from an enum's members or not."""
        alias = definition.of("type_alias_declaration", "interface_declaration")
        body = (
            (alias.child_by_field_name("value") or alias.child_by_field_name("body"))
            if alias
            else None
        )
        for item in (
            body.named_children if body and body.type in {"object_type", "interface_body"} else ()
        ):
            name = item.child_by_field_name("name")
            if item.type not in {"property_signature", "method_signature"} or name is None:
                continue
            value = text(name)
            if name.type == "string":
                value = syntax.constant(name) or ""
            elif name.type == "computed_property_name":
                constant = self.literals.constant(definition.file, name.named_children[0])
                if constant is None:
                    self._fault(
                        definition.file, name, Rule.SDK_EVENT, f"`{text(name)}` is not a constant"
                    )
                    continue
                value = constant
            yield EventName(value, definition.file.place(item))

    def _subscribed(self, view: ClassView) -> Iterator[Forward]:
        """Yield the arms sent by the handlers in `session.on(event, handler)`."""
        for call in syntax.walk(view.node):
            found = syntax.member(call.child_by_field_name("function"))
            given = syntax.arguments(call) if call.type == "call_expression" else []
            if found is None or found[1] not in _SUBSCRIBE or len(given) < 2:
                continue
            event = self.literals.constant(view.file, given[0])
            handler = syntax.bare(given[1])
            name = syntax.own(handler)
            node = handler if handler.type in FUNCTIONS else view.methods.get(name)
            if event is None:
                what = "an event name in a subscription of the host is not a constant"
                self._fault(view.file, given[0], Rule.SDK_EVENT, what)
            elif node is None:
                what = f"the handler of '{event}' is neither a method nor a function written there"
                self._fault(view.file, given[1], Rule.SDK_EVENT, what)
            else:
                self._open(view, node, self.scope.messages.event)
                yield from self._forwards(view, node, event, name, view.file.place(call))

    def _called(self, view: ClassView, handled: set[str]) -> Iterator[Forward]:
        """Yield the arms sent by methods that other code of the SDK calls itself."""
        inner = {name for method in view.methods.values() for name in view.calls(method)}
        for name, method in sorted(view.methods.items()):
            if name in handled or name in inner:
                continue
            if self._arms(view, [method], self.scope.messages.event):
                yield from self._forwards(view, method, None, name, self._call_place(view, name))

    def _forwards(
        self, view: ClassView, node: Node, event: str | None, handler: str, via: Place | None
    ) -> Iterator[Forward]:
        use = taken(view, node)
        reads = tuple(sorted(use.reads))
        for arm, made in self._arms(view, [node], self.scope.messages.event):
            yield Forward(arm, event, handler, made.place, via, use.type, reads, use.whole)

    def _call_place(self, view: ClassView, name: str) -> Place | None:
        for file in self.modules.mentioning(name):
            for node in syntax.walk(file.root):
                function = node.child_by_field_name("function")
                found = syntax.member(function) if node.type == "call_expression" else None
                if found and found[1] == name and syntax.bare(found[0]).type != "this":
                    return file.place(node)
        return None

    def _branches(self, view: ClassView, message: str) -> list[Branch]:
        names = protobuf_names(view.file, self.scope.protobuf)
        dispatch = Dispatch(self.modules, view.file, names, message, self.faults)
        return [item for method in view.methods.values() for item in dispatch.branches(method)]

    def _arms(
        self, view: ClassView, nodes: Iterable[Node], message: str
    ) -> list[tuple[str, ConstructionBuilder]]:
        """Return the arms of a message that are filled in nodes, each with the first place."""
        found: dict[str, ConstructionBuilder] = {}
        for made in view.made(nodes, message):
            for name in sorted(made.fields):
                if f"{message}.{name}" not in self.scope.plain:
                    found.setdefault(name, made)
        return list(found.items())

    def _sends(self, view: ClassView) -> Iterator[Sending]:
        for name, method in view.methods.items():
            self._open(view, method, self.scope.messages.request)
            for arm, made in self._arms(view.only(method), [method], self.scope.messages.request):
                yield Sending(arm, name, made.place)

    def _open(self, view: ClassView, node: Node, message: str) -> None:
        for made in view.made([node], message):
            if made.open:
                what = f"the arm of a {message} is computed"
                self._fault(view.file, made.node, Rule.SDK_REQUEST, what)

    def _expect(self, view: ClassView, met: bool, what: str) -> None:
        if not met:
            self._fault(
                view.file, view.node, Rule.SDK_REQUEST, f"{view.name} {what} that can be read"
            )

    def _fault(self, file: File, node: Node, rule: Rule, message: str) -> None:
        self.faults.unreadable(self.modules.span(file, node), rule, message)


def _calls_of(view: ClassView, name: str) -> Iterator[Node]:
    """Yield the calls of `this.name(...)` in a class."""
    for node in syntax.walk(view.node):
        if node.type == "call_expression":
            if syntax.own(node.child_by_field_name("function")) == name:
                yield node
