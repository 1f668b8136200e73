"""Finds the messages and fields of a schema that have a role.

A message fits a role if it has exactly one oneof and its name ends in the name of the role.
Among several that fit, those that one envelope carries are taken. A role that codegen.toml
gives is not searched for.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessiongen.config.model import ROLES, Config, ConfigValue
from sessiongen.diagnostics import Diagnostic, Rule, Span
from sessiongen.paths import display
from sessiongen.ir.roles import TIMESTAMP, Roles, name_of
from sessiongen.ir.schema import Field, Kind, Message, Schema

# The messages that a protocol must have; the name of each ends in its word.
_WORDS = ("event", "request", "response")


@dataclass(frozen=True)
class Search:
    """The result of the search.

    messages, fields: the message or field of each role, None if there is none. A role that is
        ambiguous or missing has no entry.
    open: the candidates for each such role, most likely first.
    diagnostics: a fault for each such role, and for each role of codegen.toml that fits nothing.
    """

    messages: dict[str, Message | None]
    fields: dict[str, Field | None]
    open: dict[str, tuple[str, ...]]
    diagnostics: list[Diagnostic]

    def roles(self) -> Roles | None:
        """Return the roles, or None where one is open or was given in vain."""
        known = self.messages
        event, request, response = (known.get(role) for role in ("event", "request", "response"))
        if self.diagnostics or event is None or request is None or response is None:
            return None
        return Roles(known["envelope"], event, request, response, **self.fields)

    def named(self) -> list[tuple[str, str]]:
        """Return each known role with the name of its message or field; "-" for none."""
        known = {**self.messages, **self.fields}
        return [(role, name_of(known[role])) for role in ROLES if role in known]


def search(schema: Schema, config: Config) -> Search:
    """Find every role of a schema that is given or has its shape."""
    finder = _Finder(schema, config)
    messages = finder.messages()
    event, request, response = (messages.get(role) for role in ("event", "request", "response"))
    chooser = _Fields(config, finder.diagnostics, finder.open)
    fields: dict[str, Field | None] = {}
    if request is not None and response is not None:
        fields |= chooser.correlation(request, response)
        fields |= chooser.error(request, response)
    if event is not None:
        fields |= chooser.timestamp(event)
    return Search(messages, fields, finder.open, finder.diagnostics)


class _Finder:
    """Finds the four messages; faults go to `diagnostics`, candidates to `open`."""

    def __init__(self, schema: Schema, config: Config) -> None:
        self.schema = schema
        self.config = config
        self.diagnostics: list[Diagnostic] = []
        self.open: dict[str, tuple[str, ...]] = {}
        self.candidates = [item for item in schema.own_messages() if item.oneofs]

    def messages(self) -> dict[str, Message | None]:
        found: dict[str, Message | None] = {}
        carriers = self._carriers()
        fitting = {role: self._fitting(role, carriers) for role in _WORDS}
        found |= {role: items[0] for role, items in fitting.items() if len(items) == 1}
        known = [item for item in found.values() if item is not None]
        for role, items in fitting.items():
            if role in found or role in self.config.roles:
                continue
            if items:
                self._unsure(role, items)
            else:
                self._missing(role, known)
        if len(known) == len(_WORDS):
            found |= self._envelope(known)
        return found

    def _fitting(self, role: str, carriers: list[Message]) -> list[Message]:
        """Return the messages that may play a role: the one that is given, or by shape."""
        given = self.config.roles.get(role)
        if given is not None:
            return self._given(role, given)
        fitting = [item for item in self.candidates if _fits(item, role)]
        if len(fitting) > 1:
            carried = {name for item in carriers for name in _payloads(item)}
            fitting = [item for item in fitting if item.full_name in carried] or _outermost(fitting)
        return fitting

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

    def _envelope(self, carried: list[Message]) -> dict[str, Message | None]:
        given = self.config.roles.get("envelope")
        if given is not None:
            if given.value is None:
                return {"envelope": None}
            return {"envelope": item for item in self._given("envelope", given)}
        names = {item.full_name for item in carried}
        fitting = [item for item in self.candidates if names <= _payloads(item)]
        if len(fitting) > 1:
            self._unsure("envelope", fitting)
            return {}
        return {"envelope": fitting[0] if fitting else None}

    def _given(self, role: str, given: ConfigValue) -> list[Message]:
        """Return the message that codegen.toml names, or report why there is none."""
        span = self.config.span(given.key_path)
        wanted = given.value or ""
        named = [
            item
            for item in self.schema.own_messages()
            if item.full_name == wanted or item.full_name.endswith(f".{wanted}")
        ]
        exact = [item for item in named if item.full_name == wanted]
        named = exact or named
        if len(named) != 1:
            reason = "names several messages" if named else "names no message"
            fault = f"roles.{role} {reason}: {wanted!r}"
            known = _listed([item.full_name for item in named or self.candidates]) or "none"
            help_ = f"{'write its full name' if named else 'messages with a oneof'}: {known}"
            self._fault(span, Rule.ROLE_NOT_FOUND, fault, help_)
            return []
        if not named[0].oneofs:
            fault = f"roles.{role} is {named[0].full_name}, which has no oneof"
            help_ = "a message with a role is a union: it holds the arms in a oneof"
            self._fault(span, Rule.ROLE_SHAPE, fault, help_)
            return []
        return named

    def _unsure(self, role: str, fitting: list[Message]) -> None:
        self.open[role] = tuple(item.full_name for item in fitting)
        for item in fitting:
            others = ", ".join(other.full_name for other in fitting if other is not item)
            fault = f"{item.full_name} may be the {role}, and so may {others}"
            help_ = f'name one in codegen.toml: [roles] {role} = "{item.full_name}"'
            self._fault(item.span, Rule.ROLE_AMBIGUOUS, fault, help_)

    def _missing(self, role: str, known: list[Message]) -> None:
        """Say that no message has a role's shape, which come near, and which it may be."""
        near = [item for item in self.schema.own_messages() if _called(item, role)]
        others = self._others(role, known, near)
        names = [item.full_name for item in others]
        self.open[role] = tuple(names)
        reasons = [f"{item.full_name} has {_oneofs(item)}" for item in near]
        reasons = reasons or ([] if self.candidates else ["none has a oneof"])
        fault = f"no message has the role {role}{': ' if reasons else ''}{_listed(reasons)}"
        ways = []
        if names:
            more = f" (or {_listed(names[1:])})" if names[1:] else ""
            ways.append(f'name it in codegen.toml: [roles] {role} = "{names[0]}"{more}')
        if any(item in near for item in others):
            ways.append("the first of its oneofs then holds the arms")
        if not near:
            arms = f"message {role.title()} {{ oneof {role} {{ bool unused = 1; }} }}"
            ways.append(f"if the protocol has no {role}s, add one that is never used: {arms}")
        elif not ways or not all(item.oneofs for item in near):
            ways.append(f"it is a message whose oneof has an arm for each kind of {role}")
        self._fault(self._source(), Rule.ROLE_NOT_FOUND, fault, "; ".join(ways))

    def _others(self, role: str, known: list[Message], near: list[Message]) -> list[Message]:
        """Return the messages that may play a role which their names do not tell."""
        taken = {item.full_name for item in known}
        free = [
            item
            for item in self.candidates
            if item.full_name not in taken
            and (item in near or taken.isdisjoint(_payloads(item)))
            and not any(_fits(item, word) for word in _WORDS)
        ]
        names = {item.full_name for item in free}

        def likely(item: Message) -> tuple[bool, bool, bool]:
            # What carries several unions is an envelope more often than it is a payload, and
            # requests share the names of their arms with responses.
            others = (other for other in self.candidates if other is not item)
            paired = any(_arms(item) & _arms(other) for other in others)
            carries = len(names & _payloads(item)) > 1
            return item not in near, carries, paired is (role == "event")

        return sorted(free, key=likely)

    def _source(self) -> Span:
        """Return the beginning of the protocol's last file, or where it is configured."""
        spans = [
            item.span for item in self.schema.own_messages() if item.file == self.schema.own[-1]
        ]
        if spans:
            return Span(spans[0].file)
        protos = self.config.input.protos
        return Span(display(protos[-1])) if protos else self.config.span(("input",))

    def _fault(self, span: Span, rule: Rule, message: str, help_: str) -> None:
        self.diagnostics.append(Diagnostic(span, rule, message, help_))


def _called(message: Message, role: str) -> bool:
    return message.path[-1].lower().endswith(role)


def _fits(message: Message, role: str) -> bool:
    return len(message.oneofs) == 1 and _called(message, role)


def _oneofs(message: Message) -> str:
    return f"{len(message.oneofs)} oneofs" if message.oneofs else "no oneof"


def _listed(names: list[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _outermost(fitting: list[Message]) -> list[Message]:
    """Return the messages that no other of the list carries: a union may hold unions."""
    carried = {name for item in fitting for name in _payloads(item) - {item.full_name}}
    return [item for item in fitting if item.full_name not in carried] or fitting


def _arms(message: Message) -> set[str]:
    return {arm.name for oneof in message.oneofs for arm in oneof.arms}


def _payloads(message: Message) -> set[str]:
    return {arm.value.type_name for oneof in message.oneofs for arm in oneof.arms}


class _Fields:
    """Finds the three fields with a role; each is optional. One that is open is left out."""

    def __init__(
        self, config: Config, diagnostics: list[Diagnostic], open_: dict[str, tuple[str, ...]]
    ) -> None:
        self.config = config
        self.diagnostics = diagnostics
        self.open = open_

    def correlation(self, request: Message, response: Message) -> dict[str, Field | None]:
        """A scalar outside the oneof that request and response both have."""
        theirs = {item.name: item for item in response.outside()}
        shared = [
            item
            for item in request.outside()
            if _scalar(item) and item.name in theirs and item.value == theirs[item.name].value
        ]
        return self._choose("correlation", request, shared)

    def error(self, request: Message, response: Message) -> dict[str, Field | None]:
        """A string outside the oneof that only the response has."""
        theirs = {item.name for item in request.outside()}
        fitting = [
            item
            for item in response.outside()
            if _scalar(item) and item.value.kind is Kind.STRING and item.name not in theirs
        ]
        return self._choose("error", response, fitting)

    def timestamp(self, event: Message) -> dict[str, Field | None]:
        """A google.protobuf.Timestamp outside the event's oneof."""
        fitting = [
            item
            for item in event.outside()
            if item.value.type_name == TIMESTAMP and not item.repeated and item.key is None
        ]
        return self._choose("timestamp", event, fitting)

    def _choose(self, role: str, message: Message, fitting: list[Field]) -> dict[str, Field | None]:
        given = self.config.roles.get(role)
        if given is None:
            return self._only(role, message, fitting)
        if given.value is None:
            return {role: None}
        named = [item for item in fitting if item.name == given.value]
        if not named:
            names = ", ".join(item.name for item in fitting) or "none"
            fault = f"{message.full_name} has no field {given.value!r} fit to be the {role}"
            help_ = f"fields that fit: {names}"
            span = self.config.span(given.key_path)
            self.diagnostics.append(Diagnostic(span, Rule.ROLE_SHAPE, fault, help_))
        return {role: item for item in named}

    def _only(self, role: str, message: Message, fitting: list[Field]) -> dict[str, Field | None]:
        if len(fitting) < 2:
            return {role: fitting[0] if fitting else None}
        self.open[role] = tuple(item.name for item in fitting)
        names = ", ".join(self.open[role])
        for item in fitting:
            fault = f"{message.full_name}.{item.name} may be the {role}; so may each of {names}"
            help_ = f'name one in codegen.toml: [roles] {role} = "{item.name}", or false for none'
            self.diagnostics.append(Diagnostic(item.span, Rule.ROLE_AMBIGUOUS, fault, help_))
        return {}


def _scalar(field: Field) -> bool:
    return (
        not field.repeated
        and field.key is None
        and field.value.kind in (Kind.STRING, Kind.INT, Kind.BYTES)
    )
