"""The command `explain`: where an arm is declared, what it is, and what was generated for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from sessiongen.config.model import Config, Output
from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span
from sessiongen.paths import display
from sessiongen.ir.model import Model
from sessiongen.ir.roles import Roles, absence
from sessiongen.ir.schema import Field, Oneof
from sessiongen.targets.base import Symbol
from sessiongen.targets.registry import get


@dataclass(frozen=True)
class Entry:
    """An arm: its declaration, facts as (label, text), and the symbols generated for it.

    places: pairs of `file:line` and symbol, of the file alone before `generate` has run.
    """

    arm: str
    span: Span
    facts: list[tuple[str, str]]
    places: list[tuple[str, str]]
    docs: str

    def lines(self) -> list[str]:
        """Returns the lines of the text form."""
        rows = [
            *self.facts,
            *(("generated", f"{place}  {symbol}") for place, symbol in self.places),
        ]
        width = max(len(label) for label, _ in rows)
        result, previous = [f"{self.arm}  {self.span}"], ""
        result += [f"    {line}".rstrip() for line in self.docs.split("\n") if self.docs]
        for label, text in rows:
            result.append(f"  {'' if label == previous else label:<{width}}  {text}")
            previous = label
        return result

    def record(self) -> dict[str, object]:
        """Returns the JSON form."""
        return {
            "arm": self.arm,
            "declared": str(self.span),
            "docs": self.docs,
            "facts": [{"label": label, "text": text} for label, text in self.facts],
            "generated": [{"place": place, "symbol": symbol} for place, symbol in self.places],
        }


def explain(name: str, model: Model, config: Config) -> list[Entry]:
    """Returns an entry for each arm with a name such as `ping` or `package.Message.ping`.

    Raises:
        InputError: the protocol has no such arm.
    """
    arms = [(oneof, arm) for oneof in model.protocol.unions for arm in oneof.arms]
    matches = [
        (oneof, arm)
        for oneof, arm in arms
        if arm.name == name or f".{oneof.message}.{arm.name}".endswith(f".{name}")
    ]
    if not matches:
        close = get_close_matches(name, sorted({arm.name for _, arm in arms}), 3)
        help_ = f"did you mean {' or '.join(close)}?" if close else "name an arm of any oneof"
        fault = f"the protocol has no arm {name!r}"
        raise InputError([Diagnostic(Span(display(config.path)), Rule.UNKNOWN_ARM, fault, help_)])
    symbol_finders = [
        (output, get(output.language).symbols(model, output)) for output in config.outputs
    ]
    return [
        Entry(
            arm=f"{oneof.message}.{arm.name}",
            span=arm.span,
            facts=list(_facts(model, oneof, arm)),
            places=[
                (_place(output, symbol), symbol.name)
                for output, find in symbol_finders
                for symbol in find(oneof, arm)
            ],
            docs=arm.docs,
        )
        for oneof, arm in matches
    ]


def _facts(model: Model, oneof: Oneof, arm: Field) -> Iterator[tuple[str, str]]:
    yield "oneof", f"{oneof.message}.{oneof.name}, field {arm.number}"
    yield "payload", arm.value.type_name or arm.value.kind.value
    protocol = model.protocol
    for role in ("request", "response", "event", "envelope"):
        message = getattr(protocol.roles, role)
        if message is not None and message.oneof == oneof and arm in message.arms:
            yield "role", role
            yield from _fields_beside_arm(protocol.roles, role)
    for call in protocol.calls:
        if arm is call.request:
            answer = call.response
            text = f"{answer.name}, field {answer.number}" if answer else "no response"
            yield "answered by", text
        if arm is call.response:
            yield "answers", f"{call.request.name}, field {call.request.number}"
    if any(arm is item.arm for item in protocol.roles.error_arms):
        yield "reports", "an error"
    for event in protocol.events:
        if arm is event.arm:
            yield "SDK event", event.sdk_event


# The roles of fields outside the oneof, by the role of their message.
_FIELDS_BESIDE_ARM = {
    "request": ("correlation",),
    "response": ("correlation", "error"),
    "event": ("timestamp",),
    "envelope": (),
}


def _fields_beside_arm(roles: Roles, role: str) -> Iterator[tuple[str, str]]:
    names = dict(roles.named())
    for field in _FIELDS_BESIDE_ARM[role]:
        yield field, f"{names[field]}{absence(field, names[field])}"


def _place(output: Output, symbol: Symbol) -> str:
    path = display(output.folder / symbol.file)
    return path if symbol.line is None else f"{path}:{symbol.line}"
