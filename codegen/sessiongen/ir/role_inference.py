"""Finds the messages of a schema that have a role.

A message fits a role if its name ends in the name of the role, and it has exactly one oneof, or
one whose name ends in the name of the role. Among several that fit, those that one envelope
carries are taken. A role that codegen.toml gives is not searched for.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessiongen.config.model import ROLES, Config, ConfigValue
from sessiongen.diagnostics import Diagnostic, Rule, Span
from sessiongen.frontend.annotations import Annotated
from sessiongen.paths import display
from sessiongen.ir.role_arms import divide
from sessiongen.ir.role_fields import FieldFinder
from sessiongen.ir.roles import NO_MESSAGE, ErrorArm, RoleMessage, Roles, name_of, role_message
from sessiongen.ir.schema import Field, Message, Oneof, Schema

# The roles of messages that hold arms; the name of each message ends in that of its role.
_WORDS = ("event", "request", "response")


@dataclass(frozen=True)
class Search:
    """The result of the search.

    messages, fields: the message or field of each role, None if there is no envelope or field.
        A role that is ambiguous or missing has no entry.
    error_arms: the response arms that report errors.
    open: the candidates for each such role, most likely first.
    diagnostics: a fault for each such role, and for each role of codegen.toml that fits nothing.
    """

    messages: dict[str, RoleMessage | None]
    fields: dict[str, Field | None]
    error_arms: tuple[ErrorArm, ...]
    open: dict[str, tuple[str, ...]]
    diagnostics: list[Diagnostic]

    def roles(self) -> Roles | None:
        """Return the roles, or None where one is open or was given in vain."""
        known = self.messages
        event, request, response = (known.get(role) for role in _WORDS)
        if self.diagnostics or event is None or request is None or response is None:
            return None
        envelope = known["envelope"]
        return Roles(envelope, event, request, response, **self.fields, error_arms=self.error_arms)

    def named(self) -> list[tuple[str, str]]:
        """Return each known role with the name of its message or field; "-" for none."""
        known = {**self.messages, **self.fields}
        return [(role, name_of(known[role])) for role in ROLES if role in known]


def search(schema: Schema, config: Config, annotated: Annotated) -> Search:
    """Find every role of a schema that is given or has its shape."""
    finder = _Finder(schema, config)
    messages = finder.messages()
    divide(messages, config, annotated, finder.diagnostics)
    event, request, response = (messages.get(role) for role in _WORDS)
    chooser = FieldFinder(schema, config, finder.diagnostics, finder.open)
    fields: dict[str, Field | None] = {}
    if request is not None and response is not None:
        fields |= chooser.correlation(request, response)
        fields |= chooser.error(request, response)
    if event is not None:
        fields |= chooser.timestamp(event)
    arms = chooser.error_arms(response) if response is not None else ()
    return Search(messages, fields, arms, finder.open, finder.diagnostics)


class _Finder:
    """Finds the four messages; faults go to `diagnostics`, candidates to `open`."""

    def __init__(self, schema: Schema, config: Config) -> None:
        self.schema = schema
        self.config = config
        self.diagnostics: list[Diagnostic] = []
        self.open: dict[str, tuple[str, ...]] = {}
        self.candidates = [item for item in schema.own_messages() if item.oneofs]
        # A message that is given for one role is found for no other.
        self.given = {
            item.full_name
            for role in (*_WORDS, "envelope")
            for name in (config.roles[role].names if role in config.roles else ())
            for item in self.candidates
            if any(_is_named(full, name) for full in (item.full_name, *_oneof_names(item)))
        }

    def messages(self) -> dict[str, RoleMessage | None]:
        found: dict[str, RoleMessage | None] = {role: NO_MESSAGE for role in self._absent()}
        carriers = self._carriers()
        wanted = [role for role in _WORDS if role not in found]
        fitting = {role: self._fitting(role, carriers) for role in wanted}
        found |= {role: items[0] for role, items in fitting.items() if len(items) == 1}
        known = [item for item in found.values() if item is not None and item.present]
        for role, items in fitting.items():
            if role in found or role in self.config.roles:
                continue
            if items:
                self._unsure(role, items)
            else:
                self._missing(role, known)
        if len(found) == len(_WORDS):
            found |= self._envelope(known)
        return found

    def _absent(self) -> list[str]:
        """Return the roles that the protocol lacks, as the configuration says."""
        given = self.config.roles
        absent = [role for role in _WORDS if role in given and not given[role].names]
        if "request" in absent and "response" not in given:
            absent.append("response")
        if len(absent) == len(_WORDS):
            fault = "the protocol has neither events nor requests"
            help_ = "name the message of one: [roles] event or request"
            self._fault(self.config.span(("roles",)), Rule.ROLE_NOT_FOUND, fault, help_)
        elif "request" in absent and "response" not in absent:
            fault = "there are responses, but no requests"
            help_ = "name the message of the requests, or say response = false"
            span = self.config.span(given["response"].key_path)
            self._fault(span, Rule.ROLE_SHAPE, fault, help_)
        return absent

    def _fitting(self, role: str, carriers: list[Message]) -> list[RoleMessage]:
        """Return the messages that may play a role: the one that is given, or by shape."""
        given = self.config.roles.get(role)
        if given is not None:
            return self._given(role, given)
        fitting = [
            item
            for item in self.candidates
            if _fits(item, role) and item.full_name not in self.given
        ]
        if len(fitting) > 1:
            carried = {name for item in carriers for name in _payloads(item)}
            fitting = [item for item in fitting if item.full_name in carried] or _outermost(fitting)
        return [_with_arms(item, _holder(item, role)) for item in fitting]

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

    def _envelope(self, carried: list[RoleMessage]) -> dict[str, RoleMessage | None]:
        given = self.config.roles.get("envelope")
        names = {item.full_name for item in carried}
        if given is not None:
            if given.value is None:
                return {"envelope": None}
            named = self._given("envelope", given)
            if named and named[0].full_name in names:
                fault = f"roles.envelope is {named[0].full_name}, which has another role"
                help_ = "name the message that carries it, or say envelope = false"
                self._fault(self.config.span(given.key_path), Rule.ROLE_SHAPE, fault, help_)
            return {"envelope": item for item in named}
        fitting = [
            item
            for item in self.candidates
            if len(names) > 1 and names <= _payloads(item) and item.full_name not in names
        ]
        if len(fitting) > 1:
            self._unsure("envelope", [_with_arms(item, item.oneofs[0]) for item in fitting])
            return {}
        if not fitting:
            return {"envelope": None}
        return {"envelope": _with_arms(fitting[0], _carrying(fitting[0], names))}

    def _given(self, role: str, given: ConfigValue) -> list[RoleMessage]:
        """Return the message that codegen.toml names, or report why there is none."""
        span = self.config.span(given.key_path)
        wanted = given.value or ""
        messages = self.schema.own_messages()
        named = [item for item in messages if _is_named(item.full_name, wanted)]
        named = [item for item in named if item.full_name == wanted] or named
        pairs = [(item, _holder(item, role)) for item in named]
        # The name of a message may be followed by that of its oneof.
        pairs = pairs or [
            (item, oneof)
            for item in messages
            for oneof in item.oneofs
            if _is_named(f"{item.full_name}.{oneof.name}", wanted)
        ]
        if len(pairs) != 1:
            reason = "names several messages" if pairs else "names no message"
            fault = f"roles.{role} {reason}: {wanted!r}"
            known = _listed([it.full_name for it, _ in pairs] or _names(self.candidates)) or "none"
            help_ = f"{'write its full name' if pairs else 'messages with a oneof'}: {known}"
            self._fault(span, Rule.ROLE_NOT_FOUND, fault, help_)
            return []
        message, oneof = pairs[0]
        if oneof is None:
            fault = f"roles.{role} is {message.full_name}, which has no oneof"
            help_ = "a message with a role is a union: it holds the arms in a oneof"
            self._fault(span, Rule.ROLE_SHAPE, fault, help_)
            return []
        return [_with_arms(message, oneof)]

    def _unsure(self, role: str, fitting: list[RoleMessage]) -> None:
        self.open[role] = tuple(map(name_of, fitting))
        for item in fitting:
            others = ", ".join(other.full_name for other in fitting if other is not item)
            fault = f"{item.full_name} may be the {role}, and so may {others}"
            help_ = f'name one in codegen.toml: [roles] {role} = "{item.full_name}"'
            self._fault(item.span, Rule.ROLE_AMBIGUOUS, fault, help_)

    def _missing(self, role: str, known: list[RoleMessage]) -> None:
        """Say that no message has a role's shape, which come near, and which it may be."""
        near = [
            item
            for item in self.schema.own_messages()
            if _called(item, role) and item.full_name not in self.given
        ]
        others = self._others(role, known, near)
        names = [name_of(_with_arms(item, _largest(item))) for item in others]
        self.open[role] = tuple(names)
        reasons = [f"{item.full_name} has {_oneofs(item)}" for item in near]
        reasons = reasons or ([] if self.candidates else ["none has a oneof"])
        fault = f"no message has the role {role}{': ' if reasons else ''}{_listed(reasons)}"
        ways = []
        if names:
            more = f" (or {_listed(names[1:])})" if names[1:] else ""
            ways.append(f'name it in codegen.toml: [roles] {role} = "{names[0]}"{more}')
        if not near or others:
            ways.append(f"if the protocol has no {role}s: [roles] {role} = false")
        if near and not all(item.oneofs for item in near):
            ways.append(f"it is a message whose oneof has an arm for each kind of {role}")
        self._fault(self._source(), Rule.ROLE_NOT_FOUND, fault, "; ".join(ways))

    def _others(self, role: str, known: list[RoleMessage], near: list[Message]) -> list[Message]:
        """Return the messages that may play a role which their names do not tell."""
        taken = {item.full_name for item in known}
        free = [
            item
            for item in self.candidates
            if item.full_name not in taken | self.given
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
    if not _called(message, role):
        return False
    named = [item for item in message.oneofs if item.name.lower().endswith(role)]
    return len(message.oneofs) == 1 or len(named) == 1


def _holder(message: Message, role: str) -> Oneof | None:
    """Return the oneof of a message that holds the arms of a role, None if it has none."""
    named = [item for item in message.oneofs if item.name.lower().endswith(role)]
    return next(iter([*named, *message.oneofs]), None)


def _largest(message: Message) -> Oneof:
    return max(message.oneofs, key=lambda item: len(item.arms))


def _carrying(message: Message, names: set[str]) -> Oneof:
    """Return the oneof whose arms hold most of some messages."""

    def count(oneof: Oneof) -> int:
        return sum(arm.value.type_name in names for arm in oneof.arms)

    return max(message.oneofs, key=count)


def _with_arms(message: Message, oneof: Oneof | None) -> RoleMessage:
    assert oneof is not None, "a candidate has a oneof"
    return role_message(message, oneof, oneof.arms)


def _is_named(full_name: str, name: str) -> bool:
    return full_name == name or full_name.endswith(f".{name}")


def _oneof_names(message: Message) -> list[str]:
    return [f"{message.full_name}.{item.name}" for item in message.oneofs]


def _names(messages: list[Message]) -> list[str]:
    return [item.full_name for item in messages]


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
