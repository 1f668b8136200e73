"""explain: what an arm of the protocol became, everywhere.

In: the name of an arm and a Model. Out: an Entry for each arm of that name: where it is
declared, what it is, and the generated places that exist because of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from sessiongen.config.model import Config
from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span
from sessiongen.paths import display
from sessiongen.pipeline import Model
from sessiongen.ir.roles import Roles, absence, union
from sessiongen.ir.schema import Field, Oneof
from sessiongen.targets.python.client import client_model
from sessiongen.targets.python.dispatch import dispatch_model
from sessiongen.targets.python.events import events_model
from sessiongen.targets.python.message_names import MessageNames
from sessiongen.targets.python.context import Context, context
from sessiongen.targets.python.requests import requests_model
from sessiongen.targets.python.sources import given_by_hosts


@dataclass(frozen=True)
class Entry:
    """One arm: its declaration, facts as (label, text), and generated places.

    A place is (file:line or file, symbol); the line is missing before `generate` ran.
    """

    arm: str
    span: Span
    facts: list[tuple[str, str]]
    places: list[tuple[str, str]]
    docs: str

    def lines(self) -> list[str]:
        """Return the entry as people read it."""
        rows = [*self.facts, *(("generated", f"{where}  {what}") for where, what in self.places)]
        width = max(len(label) for label, _ in rows)
        shown, last = [f"{self.arm}  {self.span}"], ""
        shown += [f"    {line}".rstrip() for line in self.docs.split("\n") if self.docs]
        for label, text in rows:
            shown.append(f"  {'' if label == last else label:<{width}}  {text}")
            last = label
        return shown

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "arm": self.arm,
            "declared": str(self.span),
            "docs": self.docs,
            "facts": [{"label": label, "text": text} for label, text in self.facts],
            "generated": [{"place": where, "symbol": what} for where, what in self.places],
        }


def explain(name: str, model: Model, config: Config) -> list[Entry]:
    """Return an entry for each arm of a name: `ping`, or `package.Message.ping`.

    Raises:
        InputError: the protocol has no such arm.
    """
    arms = [(oneof, arm) for oneof in model.protocol.unions for arm in oneof.arms]
    found = [
        (oneof, arm)
        for oneof, arm in arms
        if arm.name == name or f".{oneof.message}.{arm.name}".endswith(f".{name}")
    ]
    if not found:
        close = get_close_matches(name, sorted({arm.name for _, arm in arms}), 3)
        help_ = f"did you mean {' or '.join(close)}?" if close else "name an arm of any oneof"
        fault = f"the protocol has no arm {name!r}"
        raise InputError([Diagnostic(Span(display(config.path)), Rule.UNKNOWN_ARM, fault, help_)])
    places = _Places(model, config)
    return [
        Entry(
            arm=f"{oneof.message}.{arm.name}",
            span=arm.span,
            facts=list(_facts(model, oneof, arm)),
            places=places.of(oneof, arm),
            docs=arm.docs,
        )
        for oneof, arm in found
    ]


def _facts(model: Model, oneof: Oneof, arm: Field) -> Iterator[tuple[str, str]]:
    yield "oneof", f"{oneof.message}.{oneof.name}, field {arm.number}"
    yield "payload", arm.value.type_name or arm.value.kind.value
    protocol = model.protocol
    for role in ("request", "response", "event", "envelope"):
        message = getattr(protocol.roles, role)
        if message is not None and union(message) == oneof:
            yield "role", role
            yield from _beside(protocol.roles, role)
    for call in protocol.calls:
        if arm is call.request:
            yield "answered by", f"{call.response.name}, field {call.response.number}"
        if arm is call.response:
            yield "answers", f"{call.request.name}, field {call.request.number}"
    for event in protocol.events:
        if arm is event.arm:
            yield "SDK event", event.sdk_event


# The fields with a role that stand beside the arms of a message with one.
_BESIDE = {
    "request": ("correlation",),
    "response": ("correlation", "error"),
    "event": ("timestamp",),
    "envelope": (),
}


def _beside(roles: Roles, role: str) -> Iterator[tuple[str, str]]:
    named = dict(roles.named())
    for beside in _BESIDE[role]:
        yield beside, f"{named[beside]}{absence(beside, named[beside])}"


class _Places:
    """Finds the generated symbols of an arm, and their lines where files exist."""

    def __init__(self, model: Model, config: Config) -> None:
        self._context: Context = context(
            model.protocol, model.compiled.modules, model.annotated, {}
        )
        self._dispatch = dispatch_model(self._context)
        self._requests = requests_model(self._context)
        self._events = events_model(self._context)
        self._client = client_model(self._context)
        self._names = MessageNames(self._context)
        self._folder = config.package_dir
        self._lines: dict[str, dict[str, int]] = {}
        self._roles = model.protocol.roles

    def of(self, oneof: Oneof, arm: Field) -> list[tuple[str, str]]:
        return [(self._place(file, symbol), symbol) for file, symbol in self._symbols(oneof, arm)]

    def _symbols(self, oneof: Oneof, arm: Field) -> Iterator[tuple[str, str]]:
        for found in self._dispatch.unions:
            if found.full_name == f"{oneof.message}.{oneof.name}":
                attribute = next(item.attribute for item in found.arms if item.name == arm.name)
                yield "dispatch.py", found.table
                yield "dispatch.py", f"{found.handlers}.{attribute}"
        if oneof == union(self._roles.request):
            handler = next(item for item in self._requests.methods if item.arm == arm.name)
            yield "requests.py", f"{self._requests.handler}.{handler.name}"
            method = next(item for item in self._client.methods if item.arm == arm.name)
            yield "client.py", f"{self._client.client}.{method.name}"
        if oneof == union(self._roles.event):
            event = next(item for item in self._events.events if item.arm == arm.name)
            yield "events.py", f"{self._events.base}Sink.{event.name}"
            yield "events.py", f"{self._events.base}Forwarders.{event.forwarder}"
            yield "events.py", f"{self._events.base}Listeners.{event.listener}"
        yield from self._coders(oneof, arm)

    def _coders(self, oneof: Oneof, arm: Field) -> Iterator[tuple[str, str]]:
        """Yield what encodes and decodes the payload of an arm that a host sends."""
        plans = self._context.plans
        sent = {union(self._roles.event).message, union(self._roles.response).message, *plans}
        if oneof.message in sent and arm.value.type_name in plans:
            message = plans[arm.value.type_name].message
            name = self._names.function(message)
            title = self._names.title(message)
            yield "encoders.py", f"encode_{name}"
            if any(item.message is message for item in given_by_hosts(self._context)):
                yield "sources.py", title
            yield "models.py", title
            yield "decoders.py", f"decode_{name}"

    def _place(self, file: str, symbol: str) -> str:
        if file not in self._lines:
            self._lines[file] = _symbol_lines(self._folder / file)
        line = self._lines[file].get(symbol)
        shown = display(self._folder / file)
        return shown if line is None else f"{shown}:{line}"


def _symbol_lines(path: Path) -> dict[str, int]:
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}
    lines: dict[str, int] = {}
    for node in tree.body:
        lines.update({name: node.lineno for name in _names(node)})
        if isinstance(node, ast.ClassDef):
            lines.update(
                {f"{node.name}.{n}": item.lineno for item in node.body for n in _names(item)}
            )
    return lines


def _names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return [node.name]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []
