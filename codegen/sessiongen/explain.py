"""The command `explain`: where an arm is declared, what it is, and what was generated for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from sessiongen.config.model import Config, Output
from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span
from sessiongen.paths import display
from sessiongen.ir.model import Model
from sessiongen.ir.roles import Roles, absence, union
from sessiongen.ir.schema import Field, Oneof
from sessiongen.targets.base import Symbol
from sessiongen.targets.registry import get


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
    finders = [(output, get(output.language).symbols(model, output)) for output in config.outputs]
    return [
        Entry(
            arm=f"{oneof.message}.{arm.name}",
            span=arm.span,
            facts=list(_facts(model, oneof, arm)),
            places=[
                (_place(output, symbol), symbol.name)
                for output, find in finders
                for symbol in find(oneof, arm)
            ],
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


def _place(output: Output, symbol: Symbol) -> str:
    shown = display(output.folder / symbol.file)
    return shown if symbol.line is None else f"{shown}:{symbol.line}"
