"""Roles: which messages of a schema are envelope, event, request and response.

In: a Schema and the roles that codegen.toml gives. Out: Roles, each given or found by
shape, or diagnostics. A message has a role's shape when it holds one oneof and its name
ends in the role's word; among several, those that one envelope carries win.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessiongen.config import Config, Given
from sessiongen.diagnostics import Diagnostic, Rule, Span
from sessiongen.paths import display
from sessiongen.schema import Field, Kind, Message, Oneof, Schema

TIMESTAMP = "google.protobuf.Timestamp"
_WORDS = {"event": "event", "request": "request", "response": "response"}


@dataclass(frozen=True)
class Roles:
    """The messages with a role and the fields with one.

    correlation: the field of request and response that pairs an answer with its question.
    error: the response's field for an error text.
    timestamp: the event's field for the time of its creation.
    """

    envelope: Message | None
    event: Message
    request: Message
    response: Message
    correlation: Field | None
    error: Field | None
    timestamp: Field | None

    def named(self) -> list[tuple[str, str]]:
        """Return each role and what plays it, for people; "-" where nothing does."""
        pairs = [
            (role, message.full_name if message else "-")
            for role, message in (
                ("envelope", self.envelope),
                ("event", self.event),
                ("request", self.request),
                ("response", self.response),
            )
        ]
        for role, field in (
            ("correlation", self.correlation),
            ("error", self.error),
            ("timestamp", self.timestamp),
        ):
            pairs.append((role, field.name if field else "-"))
        return pairs


def find(schema: Schema, config: Config, diagnostics: list[Diagnostic]) -> Roles | None:
    """Return the roles of a schema, or None with the reasons added to `diagnostics`."""
    finder = _Finder(schema, config, diagnostics)
    roles = finder.messages()
    if roles is None:
        return None
    envelope, event, request, response = roles
    fields = _Fields(config, diagnostics)
    found = Roles(
        envelope=envelope,
        event=event,
        request=request,
        response=response,
        correlation=fields.correlation(request, response),
        error=fields.error(request, response),
        timestamp=fields.timestamp(event),
    )
    return None if diagnostics else found


def union(message: Message) -> Oneof:
    """Return the oneof that makes a message with a role a union."""
    return message.oneofs[0]


class _Finder:
    """Finds the four messages; faults go to `diagnostics`."""

    def __init__(self, schema: Schema, config: Config, diagnostics: list[Diagnostic]) -> None:
        self.schema = schema
        self.config = config
        self.diagnostics = diagnostics
        self.candidates = [item for item in schema.own_messages() if item.oneofs]

    def messages(self) -> tuple[Message | None, Message, Message, Message] | None:
        carriers = self._carriers()
        found = {role: self._role(role, carriers) for role in _WORDS}
        event, request, response = found["event"], found["request"], found["response"]
        if event is None or request is None or response is None:
            return None
        envelope = self._envelope((event, request, response))
        return None if self.diagnostics else (envelope, event, request, response)

    def _role(self, role: str, carriers: list[Message]) -> Message | None:
        given = self.config.roles.get(role)
        if given is not None:
            return self._given(role, given)
        fitting = [item for item in self.candidates if _fits(item, role)]
        if len(fitting) > 1:
            carried = {name for item in carriers for name in _payloads(item)}
            fitting = [item for item in fitting if item.full_name in carried] or _outermost(fitting)
        if len(fitting) == 1:
            return fitting[0]
        self._unsure(role, fitting)
        return None

    def _carriers(self) -> list[Message]:
        """Return the messages that carry messages fit for at least two different roles."""
        fit = {
            role: {item.full_name for item in self.candidates if _fits(item, role)}
            for role in _WORDS
        }
        return [
            item
            for item in self.candidates
            if sum(not names.isdisjoint(_payloads(item)) for names in fit.values()) > 1
        ]

    def _envelope(self, carried: tuple[Message, Message, Message]) -> Message | None:
        given = self.config.roles.get("envelope")
        if given is not None:
            return self._given("envelope", given) if given.value is not None else None
        names = {item.full_name for item in carried}
        fitting = [item for item in self.candidates if names <= _payloads(item)]
        if len(fitting) > 1:
            self._unsure("envelope", fitting)
        return fitting[0] if len(fitting) == 1 else None

    def _given(self, role: str, given: Given) -> Message | None:
        span = self.config.span(given.at)
        wanted = given.value or ""
        named = [
            item
            for item in self.schema.own_messages()
            if item.full_name == wanted or item.full_name.endswith(f".{wanted}")
        ]
        exact = [item for item in named if item.full_name == wanted]
        named = exact or named
        if len(named) != 1:
            reason = "names no message" if not named else "names several messages"
            self._fault(
                span, Rule.ROLE_NOT_FOUND, f"roles.{role} {reason}: {wanted!r}", self._known()
            )
            return None
        if not named[0].oneofs:
            self._fault(
                span,
                Rule.ROLE_SHAPE,
                f"roles.{role} is {named[0].full_name}, which has no oneof",
                "a message with a role is a union: it holds the arms in a oneof",
            )
            return None
        return named[0]

    def _unsure(self, role: str, fitting: list[Message]) -> None:
        if not fitting:
            fault = f"no message has the role {role}"
            self._fault(self._source(), Rule.ROLE_NOT_FOUND, fault, self._known(role))
            return
        for item in fitting:
            others = ", ".join(other.full_name for other in fitting if other is not item)
            self._fault(
                item.span,
                Rule.ROLE_AMBIGUOUS,
                f"{item.full_name} may be the {role}, and so may {others}",
                f'name one in codegen.toml: [roles] {role} = "{item.full_name}"',
            )

    def _source(self) -> Span:
        """Return the beginning of the protocol's last file, or where it is configured."""
        spans = [
            item.span for item in self.schema.own_messages() if item.file == self.schema.own[-1]
        ]
        if spans:
            return Span(spans[0].file)
        protos = self.config.input.protos
        return Span(display(protos[-1])) if protos else self.config.span(("input",))

    def _known(self, role: str = "role") -> str:
        names = ", ".join(item.full_name for item in self.candidates[:8]) or "none"
        return f"name it in codegen.toml under [roles]; messages with a oneof: {names}"

    def _fault(self, span: Span, rule: Rule, message: str, help_: str) -> None:
        self.diagnostics.append(Diagnostic(span, rule, message, help_))


def _fits(message: Message, role: str) -> bool:
    return len(message.oneofs) == 1 and message.path[-1].lower().endswith(_WORDS[role])


def _outermost(fitting: list[Message]) -> list[Message]:
    """Return the messages that no other of the list carries: a union may hold unions."""
    carried = {name for item in fitting for name in _payloads(item) - {item.full_name}}
    return [item for item in fitting if item.full_name not in carried] or fitting


def _payloads(message: Message) -> set[str]:
    return {arm.value.type_name for oneof in message.oneofs for arm in oneof.arms}


class _Fields:
    """Finds the three fields with a role; each is optional."""

    def __init__(self, config: Config, diagnostics: list[Diagnostic]) -> None:
        self.config = config
        self.diagnostics = diagnostics

    def correlation(self, request: Message, response: Message) -> Field | None:
        """A scalar outside the oneof that request and response both have."""
        theirs = {item.name: item for item in response.outside()}
        shared = [
            item
            for item in request.outside()
            if _scalar(item) and item.name in theirs and item.value == theirs[item.name].value
        ]
        return self._choose("correlation", request, shared)

    def error(self, request: Message, response: Message) -> Field | None:
        """A string outside the oneof that only the response has."""
        theirs = {item.name for item in request.outside()}
        fitting = [
            item
            for item in response.outside()
            if _scalar(item) and item.value.kind is Kind.STR and item.name not in theirs
        ]
        return self._choose("error", response, fitting)

    def timestamp(self, event: Message) -> Field | None:
        """A google.protobuf.Timestamp outside the event's oneof."""
        fitting = [
            item
            for item in event.outside()
            if item.value.type_name == TIMESTAMP and not item.repeated and item.key is None
        ]
        return self._choose("timestamp", event, fitting)

    def _choose(self, role: str, message: Message, fitting: list[Field]) -> Field | None:
        given = self.config.roles.get(role)
        if given is None:
            return self._only(role, message, fitting)
        if given.value is None:
            return None
        named = [item for item in fitting if item.name == given.value]
        if named:
            return named[0]
        names = ", ".join(item.name for item in fitting) or "none"
        fault = f"{message.full_name} has no field {given.value!r} fit to be the {role}"
        help_ = f"fields that fit: {names}"
        span = self.config.span(given.at)
        self.diagnostics.append(Diagnostic(span, Rule.ROLE_SHAPE, fault, help_))
        return None

    def _only(self, role: str, message: Message, fitting: list[Field]) -> Field | None:
        if len(fitting) < 2:
            return fitting[0] if fitting else None
        names = ", ".join(item.name for item in fitting)
        for item in fitting:
            fault = f"{message.full_name}.{item.name} may be the {role}; so may each of {names}"
            help_ = f'name one in codegen.toml: [roles] {role} = "{item.name}", or false for none'
            self.diagnostics.append(Diagnostic(item.span, Rule.ROLE_AMBIGUOUS, fault, help_))
        return None


def _scalar(field: Field) -> bool:
    return (
        not field.repeated
        and field.key is None
        and field.value.kind in (Kind.STR, Kind.INT, Kind.BYTES)
    )
