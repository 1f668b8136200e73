"""The session, the host and the driver of a Python SDK.

In: the classes' definitions and what their modules make. Out: Session, Host and Driver.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary.faults import Faults
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
from sessiongen.vocabulary.python.builds import Made
from sessiongen.vocabulary.python.dispatch import Union, branches, named_by_union
from sessiongen.vocabulary.python.modules import Definition, Modules
from sessiongen.vocabulary.python.reads import read_fields
from sessiongen.vocabulary.python.words import (
    WordReader,
    constant,
    dotted,
    elements,
    is_literal,
    last,
)
from sessiongen.vocabulary.scope import Scope

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_SUBSCRIBE = {"on", "once"}


class ClassView:
    """A class with its methods and the messages made inside it."""

    def __init__(self, found: Definition, made: list[Made]) -> None:
        assert isinstance(found.node, ast.ClassDef)
        self.found = found
        self.node = found.node
        self.methods = {
            item.name: item
            for item in found.node.body
            if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))
        }
        self._made = {id(item.node): item for item in made}

    def made(self, node: ast.AST, message: str) -> list[Made]:
        """Return what is made of a message inside a node, calls of own methods followed."""
        return [
            self._made[id(inner)]
            for part in self._reached(node)
            for inner in ast.walk(part)
            if id(inner) in self._made and self._made[id(inner)].message == message
        ]

    def only(self, node: ast.AST) -> ClassView:
        """Return the same view with what is made in one method alone."""
        inside = {id(inner) for inner in ast.walk(node)}
        return ClassView(self.found, [item for key, item in self._made.items() if key in inside])

    def calls(self, node: ast.AST) -> set[str]:
        """Return the own methods that a node calls."""
        found = set()
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call):
                name = own(inner.func)
                if name in self.methods:
                    found.add(name)
        return found

    def _reached(self, node: ast.AST) -> Iterator[ast.AST]:
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


def emitter_argument(found: Definition) -> ast.expr | None:
    """Return `T` of `class X(EventEmitter[T])`."""
    assert isinstance(found.node, ast.ClassDef)
    for base in found.node.bases:
        if isinstance(base, ast.Subscript) and last(base.value) == "EventEmitter":
            return elements(base)[0]
    return None


def declared_events(modules: Modules, found: Definition, faults: Faults) -> tuple[EventName, ...]:
    """Return the event names that a class gives its event emitter."""
    words, module, read = WordReader(modules, faults), found.module, None
    argument = emitter_argument(found)
    if argument is not None and is_literal(argument):
        read = words.of_field(module, argument)
    elif argument is not None:
        target = modules.resolve(module, dotted(argument) or "")
        if target is not None:
            module = target.module
            read = words.of_alias(target) or words.of_class(target)
    if read is None or read.open:
        what = f"the event names of {found.name} are not a set of constants in its base"
        faults.unreadable(modules.span(found.module, found.node), Rule.SDK_EVENT, what)
        return ()
    return tuple(EventName(word.value, Place(module.path, word.line)) for word in read.words)


def read_host(modules: Modules, view: ClassView, scope: Scope, faults: Faults) -> Host:
    """Return what the host forwards and answers."""
    forwards = list(_subscribed(modules, view, scope, faults))
    handled = {item.handler for item in forwards}
    forwards += _called(modules, view, scope, handled)
    answers = []
    union = Union(scope.request, scope.request_arm)
    for branch in branches(modules, view.found.module, view.node, union, faults):
        replies = _arms(view, branch.body, scope.response, scope)
        answers.append(
            Answer(
                branch.arm,
                replies[0][0] if replies else None,
                read_fields(branch.arm, branch.body),
                view.found.module.place(branch.node),
            )
        )
    _expect(modules, view, bool(forwards), "forwards no event", faults)
    _expect(modules, view, bool(answers), "answers no request", faults)
    return Host(
        view.found.name, view.found.module.place(view.node), tuple(forwards), tuple(answers)
    )


def read_driver(modules: Modules, view: ClassView, scope: Scope, faults: Faults) -> Driver:
    """Return what the driver emits and sends."""
    module = view.found.module
    by_name, receives = None, []
    cases = branches(modules, module, view.node, Union(scope.event, scope.event_arm), faults)
    for call, function in _emit_calls(view):
        around = [branch for branch in cases if branch.holds(call)]
        event = call.args[0]
        given = constant(event)
        if around and given is not None:
            receives += [Reception(item.arm, given, module.place(call)) for item in around]
        elif named_by_union(function, event):
            by_name = by_name or module.place(call)
        else:
            what = "an event of the driver whose name or arm is not a constant"
            faults.unreadable(modules.span(module, call), Rule.SDK_EVENT, what)
    sends = list(_sends(modules, view, scope, faults))
    _expect(modules, view, bool(by_name or receives), "emits no event", faults)
    _expect(modules, view, bool(sends), "sends no request", faults)
    events = declared_events(modules, view.found, faults)
    return Driver(
        view.found.name, module.place(view.node), by_name, events, tuple(receives), tuple(sends)
    )


def _expect(modules: Modules, view: ClassView, met: bool, what: str, faults: Faults) -> None:
    if not met:
        span = modules.span(view.found.module, view.node)
        faults.unreadable(span, Rule.SDK_REQUEST, f"{view.found.name} {what} that can be read")


def _arms(
    view: ClassView, body: Sequence[ast.AST], message: str, scope: Scope
) -> list[tuple[str, Made]]:
    """Return the arms of a message that are filled in a body, each with the first place."""
    found: dict[str, Made] = {}
    for node in body:
        for made in view.made(node, message):
            for name in sorted(made.fields):
                if f"{message}.{name}" not in scope.plain:
                    found.setdefault(name, made)
    return list(found.items())


def _subscribed(
    modules: Modules, view: ClassView, scope: Scope, faults: Faults
) -> Iterator[Forward]:
    """Yield the arms sent by the handlers in `session.on(event, handler)`."""
    module = view.found.module
    for call, event, handler in _subscriptions(view.node):
        name = own(handler)
        inline = isinstance(handler, (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef))
        node = handler if inline else view.methods.get(name)
        given = constant(event)
        if given is None:
            what = "an event name in a subscription of the host is not a constant"
            faults.unreadable(modules.span(module, event), Rule.SDK_EVENT, what)
        elif node is None:
            what = f"the handler of {given!r} is neither a method nor a lambda"
            faults.unreadable(modules.span(module, handler), Rule.SDK_EVENT, what)
        else:
            _open(modules, view, node, scope.event, faults)
            for arm, made in _arms(view, [node], scope.event, scope):
                yield Forward(arm, given, name, made.place, module.place(call))


def _subscriptions(node: ast.ClassDef) -> Iterator[tuple[ast.Call, ast.expr, ast.AST]]:
    """Yield each call of `on` with its event and handler, a decorated function included."""
    decorated = {
        id(decorator): function
        for function in ast.walk(node)
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        for decorator in function.decorator_list
    }
    for call in ast.walk(node):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
            continue
        given = [*call.args, *(word.value for word in call.keywords)]
        if call.func.attr not in _SUBSCRIBE or not given:
            continue
        if len(given) > 1:
            yield call, given[0], given[1]
        else:
            yield call, given[0], decorated.get(id(call), call)


def _called(
    modules: Modules, view: ClassView, scope: Scope, handled: set[str]
) -> Iterator[Forward]:
    """Yield the arms sent by methods that other code of the SDK calls itself."""
    inner = {name for method in view.methods.values() for name in view.calls(method)}
    for name, method in sorted(view.methods.items()):
        if name in handled or name in inner:
            continue
        arms = _arms(view, [method], scope.event, scope)
        via = _call_place(modules, name) if arms else None
        for arm, made in arms:
            yield Forward(arm, None, name, made.place, via)


def _call_place(modules: Modules, name: str) -> Place | None:
    for module in modules.mentioning(f".{name}("):
        for node in ast.walk(module.tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            if node.func.attr == name and dotted(node.func.value) != "self":
                return module.place(node)
    return None


def _emit_calls(view: ClassView) -> Iterator[tuple[ast.Call, _Function]]:
    for method in view.methods.values():
        for node in ast.walk(method):
            if isinstance(node, ast.Call) and own(node.func) == "emit" and node.args:
                yield node, method


def _sends(modules: Modules, view: ClassView, scope: Scope, faults: Faults) -> Iterator[Sending]:
    for name, method in view.methods.items():
        _open(modules, view, method, scope.request, faults)
        for arm, made in _arms(view.only(method), [method], scope.request, scope):
            yield Sending(arm, name, made.place)


def _open(modules: Modules, view: ClassView, node: ast.AST, message: str, faults: Faults) -> None:
    for made in view.made(node, message):
        if made.open:
            what = f"the arm of a {message} is computed"
            faults.unreadable(modules.span(view.found.module, made.node), Rule.SDK_REQUEST, what)
