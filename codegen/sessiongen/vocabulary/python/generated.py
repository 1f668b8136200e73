"""Reads hosts and drivers of a Python SDK that stand on generated code.

A generated module is recognized by its first line. What it does is known, so its own code is not
read as the SDK's: the facts are how the SDK's code uses it. A class that derives from the
generated handler answers requests, forwarders and calls with an arm's name send events, and
methods of the generated client send requests.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sessiongen.vocabulary.model import Answer, Forward, Place, Sending
from sessiongen.vocabulary.ordering import longest
from sessiongen.vocabulary.python.classes import Role
from sessiongen.vocabulary.python.literals import constant, dotted, is_none, last, self_attribute
from sessiongen.vocabulary.python.modules import Definition, Modules
from sessiongen.vocabulary.python.parsed_module import Module
from sessiongen.vocabulary.scope import MessageNames

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_FORWARDERS, _SDK_EVENTS, _ROUTES = "Forwarders", "SDK_EVENTS", "_ROUTES"
_ERROR = "RequestError"


@dataclass
class GeneratedApi:
    """What the generated modules of a package define.

    handlers, clients: the classes of requests. sinks: the classes with a method for each event.
    forwarders: the class with a callback for each arm.
    fillers, answering, emitting: functions that fill an event by the name of its arm, answer a
    request, and emit an event by the name of its arm.
    requests: the method and the response of each request. events: the SDK's event of each arm.
    event_types: the class of the SDK's event of each arm, where the generated code names it.
    """

    handlers: set[str] = field(default_factory=set)
    clients: dict[str, set[str]] = field(default_factory=dict)
    sinks: set[str] = field(default_factory=set)
    forwarders: set[str] = field(default_factory=set)
    fillers: set[str] = field(default_factory=set)
    answering: set[str] = field(default_factory=set)
    emitting: set[str] = field(default_factory=set)
    requests: dict[str, tuple[str, str]] = field(default_factory=dict)
    events: dict[str, str] = field(default_factory=dict)
    event_types: dict[str, str] = field(default_factory=dict)


def generated_api(modules: Modules, messages: MessageNames) -> GeneratedApi:
    """Returns what the generated modules of a package define."""
    api, event, request = GeneratedApi(), messages.event, messages.request
    for module in modules.generated():
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef):
                _add_class(api, node, request)
            elif isinstance(node, _Function):
                _add_function(api, node, event, request)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.value, (ast.Dict, ast.Call)):
                _add_table(api, node)
    return api


def _add_class(api: GeneratedApi, node: ast.ClassDef, request: str) -> None:
    methods = [item for item in node.body if isinstance(item, _Function)]
    names = {item.name for item in methods}
    taken = [last(arg.annotation) for it in methods for arg in it.args.args if arg.annotation]
    if node.name.endswith(_FORWARDERS):
        api.forwarders.add(node.name)
        for item in node.body:
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                api.event_types[item.target.id] = _callback_type(item.annotation)
    elif "send" in names and request in taken:
        api.clients[node.name] = {name for name in names if not name.startswith("_")}
    elif node.name.endswith("Sink"):
        api.sinks.add(node.name)
    elif node.name.endswith("Handler"):
        api.handlers.add(node.name)


def _add_function(api: GeneratedApi, node: _Function, event: str, request: str) -> None:
    types = [last(item.annotation) for item in node.args.args if item.annotation is not None]
    if types[:1] and types[0].endswith("Arm") and types[-1] == event:
        api.fillers.add(node.name)
    elif request in types and isinstance(node, ast.AsyncFunctionDef):
        api.answering.add(node.name)
    elif types[-1:] == [event] and any(
        isinstance(item, ast.Call) and last(item.func) == "emit" for item in ast.walk(node)
    ):
        api.emitting.add(node.name)


def _add_table(api: GeneratedApi, node: ast.AnnAssign) -> None:
    value = node.value
    table = value.args[0] if isinstance(value, ast.Call) and value.args else value
    if not isinstance(table, ast.Dict):
        return
    for key, item in zip(table.keys, table.values, strict=True):
        arm = constant(key)
        if arm is None:
            continue
        if last(node.target) == _SDK_EVENTS:
            api.events[arm] = constant(item) or arm
        elif last(node.target) == _ROUTES and isinstance(item, ast.Call):
            method, response = (constant(part) or arm for part in item.args[:2])
            api.requests[arm] = (method, response)


def filled_arms(
    modules: Modules, module: Module, api: GeneratedApi, event_arm: str
) -> Iterator[tuple[str, ast.Call]]:
    """Yields the arms of envelopes that generated functions fill, such as `x.response`."""
    for node in ast.walk(module.tree):
        definition = (
            modules.resolve(module, dotted(node.func) or "") if isinstance(node, ast.Call) else None
        )
        if not isinstance(node, ast.Call) or definition is None:
            continue
        if not modules.is_generated(definition.module):
            continue
        arguments = [*node.args[2:3], *(item.value for item in node.keywords)]
        for argument in arguments:
            arm = argument.attr if isinstance(argument, ast.Attribute) else ""
            fills_event = definition.name in api.fillers and arm == event_arm
            if arm and (fills_event or definition.name in api.answering):
                yield arm, node


def _callback_type(annotation: ast.expr) -> str:
    """Returns the class in `Callable[[Class], None] | None`, empty for any other type."""
    for node in ast.walk(annotation):
        if isinstance(node, ast.List) and node.elts:
            return last(node.elts[0])
    return ""


class GeneratedUse:
    """How the class with a role uses generated code."""

    def __init__(
        self,
        role: Role,
        api: GeneratedApi,
        subscribed: Mapping[str, tuple[str, Place]] | None = None,
    ) -> None:
        """subscribed: the event of the session that calls a method, and the subscription."""
        self._subscribed = subscribed or {}
        self._role = role
        self._modules = role.modules
        self._api = api

    def forwards(self) -> Iterator[Forward]:
        """Yields the events that are subscribed with forwarders or filled by an arm's name."""
        subscribed: set[int] = set()
        for call, within in self._calls():
            if self._names(call.func) & self._api.forwarders:
                subscribed |= {id(node) for node in ast.walk(call)}
                for keyword in call.keywords:
                    if keyword.arg in self._api.events and not is_none(keyword.value):
                        yield self._forward(keyword, call, within)
        for name, method in self._role.view.methods.items():
            for call, arm in self._filling_calls(method):
                if id(call) in subscribed:
                    continue
                event, via = self._subscribed.get(name, (None, None))
                kind = _parameter_type(method)
                via = via or self._called_from(name)
                yield Forward(arm, event, name, self._role.place(call), via, kind, (), True)

    def answers(self) -> Iterator[Answer]:
        """Yields the requests that the classes on the generated handler answer."""
        for definition in self._subclasses(self._api.handlers):
            methods = {
                item.name: (it.module, item)
                for it in reversed(self._modules.with_bases(definition))
                if not self._modules.is_generated(it.module) and isinstance(it.node, ast.ClassDef)
                for item in it.node.body
                if isinstance(item, _Function)
            }
            for arm, (method, response) in self._api.requests.items():
                if method in methods:
                    module, node = methods[method]
                    reads, errors = _reads(node), _errors(node)
                    yield Answer(arm, response, reads, errors, module.place(node))

    def unknown_request(self) -> Place | None:
        """Returns where the package calls the function that answers every request."""
        return self._first_call(self._api.answering)

    def emits_by_arm_name(self) -> Place | None:
        """Returns where the package calls the function that emits an event by its arm."""
        return self._first_call(self._api.emitting)

    def sends(self) -> Iterator[Sending]:
        """Yields the requests that the driver sends with methods of the generated client."""
        arms = {method: arm for arm, (method, _) in self._api.requests.items()}
        clients = {item for methods in self._api.clients.values() for item in methods}
        derived = self._subclasses(set(self._api.clients))
        if not derived:
            return
        names = {item.name for item in self._role.view.definitions}
        if any(item.name in names for item in derived):
            for method in sorted(clients & arms.keys()):
                yield Sending(arms[method], method, self._role.place(self._role.view.node))
        for name, node in self._role.view.methods.items():
            for call in ast.walk(node):
                if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
                    continue
                method = call.func.attr
                own = self_attribute(call.func) in self._role.view.methods
                if method in clients and method in arms and not own:
                    yield Sending(arms[method], name, self._role.place(call))

    def _forward(self, keyword: ast.keyword, call: ast.Call, within: str) -> Forward:
        arm = keyword.arg or ""
        place, via = self._role.place(keyword.value), self._role.place(call)
        kind = self._api.event_types.get(arm) or None
        return Forward(arm, self._api.events[arm], within, place, via, kind, (), True)

    def _calls(self) -> Iterator[tuple[ast.Call, str]]:
        for name, method in self._role.view.methods.items():
            for node in ast.walk(method):
                if isinstance(node, ast.Call):
                    yield node, name

    def _names(self, function: ast.expr) -> set[str]:
        """Returns the generated name that an expression means, if it means one."""
        name = dotted(function)
        module = self._role.view.module_of(function)
        definition = self._modules.resolve(module, name) if name else None
        generated = definition is not None and self._modules.is_generated(definition.module)
        return {definition.name} if definition is not None and generated else set()

    def _filling_calls(self, method: _Function) -> Iterator[tuple[ast.Call, str]]:
        """Yields the calls in a method with the name of an arm that they fill."""
        has_sink = bool(self._subclasses(self._api.sinks))
        for node in ast.walk(method):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if has_sink and name in self._api.events and not self_attribute(node.func):
                yield node, name
            if not node.args:
                continue
            arm = constant(node.args[0])
            if arm not in self._api.events:
                continue
            called = self._role.view.methods.get(self_attribute(node.func))
            fills = self._names(node.func) & self._api.fillers
            if called is not None and called is not method:
                fills |= {"method"} if self._fills_parameter(called) else set()
            if fills:
                yield node, arm

    def _fills_parameter(self, method: _Function) -> bool:
        """Whether a method passes its first parameter to a function that fills by arm."""
        parameters = [item.arg for item in method.args.args[1:2]]
        return any(
            isinstance(node, ast.Call)
            and bool(self._names(node.func) & self._api.fillers)
            and bool(node.args)
            and dotted(node.args[0]) in parameters
            for node in ast.walk(method)
        )

    def _subclasses(self, names: set[str]) -> list[Definition]:
        """Returns the classes of the SDK that derive from a generated class."""
        classes = []
        for module in self._modules.mentioning(*sorted(names)) if names else ():
            if self._modules.is_generated(module):
                continue
            for node in module.tree.body:
                if isinstance(node, ast.ClassDef):
                    definition = Definition(module, node.name, node)
                    bases = self._modules.with_bases(definition)[1:]
                    if any(
                        item.name in names and self._modules.is_generated(item.module)
                        for item in bases
                    ):
                        classes.append(definition)
        return classes

    def _first_call(self, names: set[str]) -> Place | None:
        for module in self._modules.mentioning(*sorted(names)) if names else ():
            for node in () if self._modules.is_generated(module) else ast.walk(module.tree):
                if isinstance(node, ast.Call) and self._is_generated_call(module, node, names):
                    return module.place(node)
        return None

    def _is_generated_call(self, module: Module, call: ast.Call, names: set[str]) -> bool:
        definition = self._modules.resolve(module, dotted(call.func) or "")
        if definition is None or definition.name not in names:
            return False
        return self._modules.is_generated(definition.module)

    def _called_from(self, name: str) -> Place | None:
        """Returns where other code of the package calls a method."""
        for module in self._modules.mentioning(f".{name}("):
            for node in ast.walk(module.tree):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    if node.func.attr == name and dotted(node.func.value) != "self":
                        return module.place(node)
        return None


def _parameter_type(method: _Function) -> str | None:
    """Returns the type of the first parameter of a method after `self`."""
    annotations = [item.annotation for item in method.args.args[1:2]]
    return last(annotations[0]) or None if annotations and annotations[0] is not None else None


def _reads(method: _Function) -> tuple[str, ...]:
    """Returns the paths that a handler reads of its request; "" if it passes it on as a whole."""
    parameters = [item.arg for item in method.args.args[1:2]]
    called = {id(node.func) for node in ast.walk(method) if isinstance(node, ast.Call)}
    paths = set()
    for node in ast.walk(method):
        if isinstance(node, ast.Attribute) and id(node) not in called:
            head, _, path = (dotted(node) or "").partition(".")
            if head in parameters:
                paths.add(path)
    passed = any(
        isinstance(argument, ast.Name) and argument.id in parameters
        for node in ast.walk(method)
        if isinstance(node, ast.Call)
        for argument in (*node.args, *(item.value for item in node.keywords))
    )
    return ("", *sorted(longest(paths))) if passed else tuple(sorted(longest(paths)))


def _errors(method: _Function) -> tuple[str, ...]:
    """Returns the constant error texts that a handler raises."""
    texts = {
        constant(node.args[0])
        for node in ast.walk(method)
        if isinstance(node, ast.Call) and last(node.func).endswith(_ERROR) and node.args
    }
    return tuple(sorted(text for text in texts if text is not None))
