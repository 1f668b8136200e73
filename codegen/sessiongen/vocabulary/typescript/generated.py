"""Reads hosts and drivers of a TypeScript SDK that stand on generated code.

A generated file is recognized by its first line. What it does is known, so its own code is not read
as the SDK's: the facts are how the SDK's code uses it. A class that implements the generated
handler answers requests, forwarders and calls with an arm's name send events, and methods of
the generated client send requests.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tree_sitter import Node

from sessiongen.vocabulary.model import Answer, Forward, Place, Reception, Sending
from sessiongen.vocabulary.ordering import longest
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.classes import ClassView
from sessiongen.vocabulary.typescript.oneofs import case_of
from sessiongen.vocabulary.typescript.modules import Modules
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.syntax import CLASSES, class_methods, field_name, text

_FORWARDERS, _HANDLER, _CLIENT = "Forwarders", "RequestHandler", "Client"
_SDK_EVENTS, _EVENT_NAMES = "SDK_EVENTS", "EVENT_NAMES"
# The field of a node that has the name of what it declares or assigns.
_HOLDERS = ("name", "pattern", "left")
_EMIT, _ANSWER, _ERROR = "emitEvent", "answer", "RequestError"


@dataclass
class GeneratedApi:
    """What the generated files of a package define. Arms are spelled as in the proto.

    requests: the arm and the response of each method of the handler. clients: the classes of
    clients. sends: the arm of each of their methods. events: the session's event of each arm.
    names: the driver's event. encoding: functions whose first argument is the name of an arm.
    """

    requests: dict[str, tuple[str, str]] = field(default_factory=dict)
    clients: set[str] = field(default_factory=set)
    sends: dict[str, str] = field(default_factory=dict)
    events: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    encoding: set[str] = field(default_factory=set)


def generated_api(modules: Modules) -> GeneratedApi:
    """Returns what the generated files of a package define."""
    api = GeneratedApi()
    for file in modules.generated():
        for name, nodes in file.definitions.items():
            node = nodes[0]
            if node.type == "function_declaration":
                api.requests.update(_routes(node))
                first = syntax.parameters(node)[:1]
                if first and text(first[0].child_by_field_name("pattern")) == "arm":
                    api.encoding.add(name)
            elif node.type in CLASSES and name.endswith(_CLIENT):
                api.clients.add(name)
                api.sends.update(_client_methods(node))
            elif name in {_SDK_EVENTS, _EVENT_NAMES}:
                table = api.events if name == _SDK_EVENTS else api.names
                table.update(_constants(node))
    return api


def _routes(function: Node) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yields each method of the handler that a function calls, with its arm and response."""
    for case in syntax.walk(function):
        arm = syntax.constant(case.child_by_field_name("value"))
        if case.type != "switch_case" or arm is None:
            continue
        methods = [
            member[1]
            for node in syntax.walk(case)
            if node.type == "call_expression"
            and (member := syntax.member(node.child_by_field_name("function"))) is not None
            and text(member[0]) == "handler"
        ]
        responses = [
            response
            for node in syntax.walk(case)
            if (named := case_of(node)) is not None and (response := syntax.constant(named))
        ]
        if methods and responses:
            yield methods[0], (field_name(arm), field_name(responses[-1]))


def _client_methods(node: Node) -> Iterator[tuple[str, str]]:
    for name, method in class_methods(node).items():
        for item in syntax.walk(method):
            arm = syntax.constant(case_of(item))
            if arm is not None:
                yield name, field_name(arm)
                break


def _constants(declarator: Node) -> Iterator[tuple[str, str]]:
    for item in syntax.walk(declarator):
        value = syntax.constant(item.child_by_field_name("value")) if item.type == "pair" else None
        if value is not None:
            yield field_name(text(item.child_by_field_name("key"))), value


class GeneratedUse:
    """How the class with a role uses generated code."""

    def __init__(self, modules: Modules, view: ClassView, api: GeneratedApi) -> None:
        self._modules = modules
        self._view = view
        self._api = api

    def forwards(self) -> Iterator[Forward]:
        """Yields the events that are subscribed with forwarders or encoded by an arm's name."""
        inside: set[int] = set()
        for table in self._forwarders():
            inside |= {node.id for node in syntax.walk(table)}
            place = self._view.place(table)
            for item in table.named_children:
                arm = field_name(text(item.child_by_field_name("key")))
                value = item.child_by_field_name("value")
                if arm in self._api.events and value is not None and value.type != "null":
                    event, at = self._api.events[arm], self._view.place(item)
                    yield Forward(arm, event, "", at, place, None, (), True)
        for name, method in self._view.methods.items():
            for call in syntax.walk(method):
                encoded = self._encoded_arm(call, method)
                if encoded is not None and call.id not in inside:
                    at, via = self._view.place(call), self._called_from(name)
                    yield Forward(encoded, None, name, at, via, _parameter_type(method), (), True)

    def answers(self) -> Iterator[Answer]:
        """Yields the requests that classes on the generated handler answer."""
        for file, node in self._classes(_HANDLER):
            for name, method in class_methods(node).items():
                if name in self._api.requests:
                    arm, response = self._api.requests[name]
                    reads, errors = _reads(method), _errors(method)
                    yield Answer(arm, response, reads, errors, file.place(method))

    def unknown_request(self) -> Place | None:
        """Returns where the package calls the function that answers every request."""
        return next(self._calls(_ANSWER), None)

    def receives(self) -> list[Reception]:
        """Returns the events of the function that emits each arm, if the package calls it."""
        place = next(self._calls(_EMIT), None)
        names = self._api.names.items() if place is not None else ()
        return [Reception(arm, name, place) for arm, name in names if place is not None]

    def sends(self) -> Iterator[Sending]:
        """Yields the requests that the driver sends with methods of the generated client."""
        holders = self._client_holders()
        for name, method in self._view.methods.items():
            for call in syntax.walk(method):
                function = call.child_by_field_name("function")
                member = syntax.member(function) if call.type == "call_expression" else None
                if member is not None and member[1] in self._api.sends:
                    if _last_name(member[0]) in holders:
                        yield Sending(self._api.sends[member[1]], name, self._view.place(call))

    def _forwarders(self) -> Iterator[Node]:
        """Yields the objects of the class whose type is that of the forwarders."""
        for node in (item for _, owner in self._view.classes for item in syntax.walk(owner)):
            if node.type not in {"public_field_definition", "variable_declarator"}:
                continue
            value = node.child_by_field_name("value")
            if value is not None and text(syntax.annotation(node)).endswith(_FORWARDERS):
                table = syntax.unwrapped(value)
                if table.type == "object":
                    yield table

    def _encoded_arm(self, call: Node, method: Node) -> str | None:
        """Returns the arm whose name a call passes on to be encoded, None for any other call."""
        arguments = syntax.arguments(call) if call.type == "call_expression" else []
        arm = syntax.constant(arguments[0]) if arguments else None
        arm = field_name(arm) if arm is not None else None
        if arm not in self._api.events:
            return None
        function = call.child_by_field_name("function")
        if text(function) in self._api.encoding:
            return arm
        called = self._view.methods.get(syntax.this_property(function))
        if called is None or called.id == method.id:
            return None
        names = {text(it.child_by_field_name("function")) for it in syntax.walk(called)}
        return arm if names & self._api.encoding else None

    def _classes(self, ending: str) -> Iterator[tuple[File, Node]]:
        """Yields the classes of the SDK that implement or extend a generated type."""
        for file in self._modules.mentioning(ending):
            if self._modules.is_generated(file):
                continue
            for nodes in file.definitions.values():
                for node in nodes:
                    heritage = (
                        syntax.child(node, "class_heritage") if node.type in CLASSES else None
                    )
                    if heritage is not None and ending in text(heritage):
                        yield file, node

    def _client_holders(self) -> set[str]:
        """Returns the names of fields, variables and parameters that hold a generated client."""
        names = set(self._api.clients)
        for client in self._api.clients:
            for file in self._modules.mentioning(client):
                for node in syntax.walk(file.root):
                    holder = next(filter(None, map(node.child_by_field_name, _HOLDERS)), None)
                    if holder is not None and client in _types(node):
                        names.add(_last_name(holder))
        return names

    def _calls(self, name: str) -> Iterator[Place]:
        for file in self._modules.mentioning(f"{name}("):
            definition = self._modules.resolve(file, name)
            if definition is None or not self._modules.is_generated(definition.file):
                continue
            for node in syntax.walk(file.root) if file is not definition.file else ():
                if node.type == "call_expression":
                    if text(node.child_by_field_name("function")) == name:
                        yield file.place(node)

    def _called_from(self, name: str) -> Place | None:
        """Returns where other code of the package calls a method."""
        for file in self._modules.mentioning(name):
            for node in syntax.walk(file.root):
                member = syntax.member(node.child_by_field_name("function"))
                if node.type != "call_expression" or member is None or member[1] != name:
                    continue
                if syntax.unwrapped(member[0]).type != "this":
                    return file.place(node)
        return None


def _last_name(node: Node) -> str:
    """Returns `c` for `a.b.c`, a name as it is, and the class for `new` of one."""
    inner = syntax.unwrapped(node)
    member = syntax.member(inner)
    if member is not None:
        return member[1]
    return text(inner.child_by_field_name("constructor") or inner)


def _types(holder: Node) -> set[str]:
    """Returns the type that a field, variable or parameter declares, and the class of its value."""
    values = [holder.child_by_field_name(name) for name in ("value", "right")]
    parts = [syntax.annotation(holder), *(_created(value) for value in values)]
    return {text(part) for part in parts if part is not None}


def _created(value: Node | None) -> Node | None:
    inner = syntax.unwrapped(value) if value is not None else None
    return inner.child_by_field_name("constructor") if inner is not None else None


def _parameter_type(method: Node) -> str | None:
    kinds = [syntax.annotation(item) for item in syntax.parameters(method)[:1]]
    return text(kinds[0]).rpartition(".")[2] if kinds and kinds[0] is not None else None


def _reads(method: Node) -> tuple[str, ...]:
    """Returns the paths that a handler reads of its request, also by destructuring."""
    parameters = syntax.parameters(method)[:1]
    pattern = parameters[0].child_by_field_name("pattern") if parameters else None
    if pattern is None:
        return ()
    prefixes = {text(pattern): ""}
    if pattern.type == "object_pattern":
        parts = [(it.child_by_field_name("key") or it, it) for it in pattern.named_children]
        prefixes = {
            text(it.child_by_field_name("value") or it): field_name(text(key)) for key, it in parts
        }
    paths = {prefix for prefix in prefixes.values() if prefix}
    for node in syntax.walk(method):
        names: list[str] = []
        inner: Node = node
        while (member := syntax.member(inner)) is not None:
            names.insert(0, field_name(member[1]))
            inner = syntax.unwrapped(member[0])
        if names and text(inner) in prefixes:
            paths.add(".".join(filter(None, (prefixes[text(inner)], *names))))
    return tuple(sorted(longest(paths)))


def _errors(method: Node) -> tuple[str, ...]:
    """Returns the constant error texts that a handler throws."""
    texts = set()
    for node in syntax.walk(method):
        if node.type == "new_expression":
            if text(node.child_by_field_name("constructor")).endswith(_ERROR):
                texts |= {syntax.constant(item) for item in syntax.arguments(node)[:1]}
    return tuple(sorted(item for item in texts if item is not None))
