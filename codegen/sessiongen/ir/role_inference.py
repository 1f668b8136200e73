"""Finds the messages of a schema that have a role.

A message is a candidate for a role if its name ends in the name of the role, and it has exactly
one oneof, or one whose name ends in the name of the role. If there are several candidates, those
that an envelope carries are chosen. Roles that codegen.toml sets are not searched for.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessiongen.config.model import ROLES, Config, ConfigValue
from sessiongen.diagnostics import Diagnostic, Rule, Span
from sessiongen.frontend.annotations import Annotated
from sessiongen.paths import display
from sessiongen.ir.role_arms import divide
from sessiongen.ir.role_fields import FieldFinder
from sessiongen.ir.roles import (
    NO_MESSAGE,
    ErrorArm,
    RoleMessage,
    Roles,
    error_names,
    name_of,
    role_message,
)
from sessiongen.ir.schema import Field, Message, Oneof, Schema
from sessiongen.ir.unions import plain_payloads, unions

# The roles of messages with arms; the name of each message ends in the name of its role.
_ARM_ROLES = ("event", "request", "response")


@dataclass(frozen=True)
class Search:
    """The result of the search.

    messages, fields: the message or field of each role, None if there is no envelope or field.
        A role that is ambiguous or missing has no entry.
    error_arms: the response arms that report errors.
    open: the candidates for each role that is ambiguous or missing, most likely first.
    diagnostics: a fault for each such role, and for each wrong role in codegen.toml.
    message_fields: the fields of the schema's messages, as `Message.field`.
    repeated: the repeated ones among them. zero_values: the values of enums whose number is zero.
    """

    messages: dict[str, RoleMessage | None]
    fields: dict[str, Field | None]
    error_arms: tuple[ErrorArm, ...]
    open: dict[str, tuple[str, ...]]
    diagnostics: list[Diagnostic]
    message_fields: frozenset[str]
    repeated: frozenset[str]
    zero_values: frozenset[str]

    def roles(self) -> Roles | None:
        """Returns the roles, or None if there are faults."""
        known = self.messages
        event, request, response = (known.get(role) for role in _ARM_ROLES)
        if self.diagnostics or event is None or request is None or response is None:
            return None
        envelope = known["envelope"]
        return Roles(
            envelope,
            event,
            request,
            response,
            **self.fields,
            error_arms=self.error_arms,
            message_fields=self.message_fields,
            repeated=self.repeated,
            zero_values=self.zero_values,
        )

    def named(self) -> list[tuple[str, str]]:
        """Returns each known role with the name of its message or field; "-" for none."""
        known = {**self.messages, **self.fields}
        named = {role: name_of(known[role]) for role in ROLES if role in known}
        if "error" in named:
            named["error"] = error_names(known["error"], self.error_arms)
        return list(named.items())


def search(schema: Schema, config: Config, annotated: Annotated) -> Search:
    """Finds the roles of a schema: as configured, or by names and shapes."""
    finder = _Finder(schema, config)
    messages = finder.messages()
    divide(messages, config, annotated, finder.diagnostics)
    event, request, response = (messages.get(role) for role in _ARM_ROLES)
    field_finder = FieldFinder(schema, config, finder.diagnostics, finder.open)
    fields: dict[str, Field | None] = {}
    if request is not None and response is not None:
        fields |= field_finder.correlation(request, response)
        fields |= field_finder.error(request, response)
    if event is not None:
        fields |= field_finder.timestamp(event)
    arms = field_finder.error_arms(response) if response is not None else ()
    named = {
        f"{'.'.join(message.path)}.{item.name}": item
        for message in schema.messages.values()
        for item in message.fields
    }
    repeated = (name for name, item in named.items() if item.repeated and item.key is None)
    return Search(
        messages,
        fields,
        arms,
        finder.open,
        finder.diagnostics,
        frozenset(named),
        frozenset(repeated),
        schema.zero_values(),
    )


class _Finder:
    """Finds the four messages; appends faults to `diagnostics` and candidates to `open`."""

    def __init__(self, schema: Schema, config: Config) -> None:
        self.schema = schema
        self.config = config
        self.diagnostics: list[Diagnostic] = []
        self.open: dict[str, tuple[str, ...]] = {}
        self.candidates = unions(schema)
        # Payloads such as SeekRequest have no role, although their names end in that of one.
        self.payloads = {name for item in self.candidates for name in plain_payloads(schema, item)}
        # Messages that codegen.toml names for a role; they are not candidates for other roles.
        self.configured = {
            item.full_name
            for role in (*_ARM_ROLES, "envelope")
            for name in (config.roles[role].names if role in config.roles else ())
            for item in self.candidates
            if any(_is_named(full, name) for full in (item.full_name, *_oneof_names(item)))
        }

    def messages(self) -> dict[str, RoleMessage | None]:
        messages: dict[str, RoleMessage | None] = {role: NO_MESSAGE for role in self._absent()}
        envelopes = self._envelope_candidates()
        missing = [role for role in _ARM_ROLES if role not in messages]
        candidates = {role: self._role_candidates(role, envelopes) for role in missing}
        messages |= {role: items[0] for role, items in candidates.items() if len(items) == 1}
        known = [item for item in messages.values() if item is not None and item.present]
        for role, items in candidates.items():
            if role in messages or role in self.config.roles:
                continue
            if items:
                self._report_ambiguous(role, items)
            else:
                self._report_missing(role, known)
        if len(messages) == len(_ARM_ROLES):
            messages |= self._envelope(known)
        return messages

    def _absent(self) -> list[str]:
        """Returns the roles that are false in codegen.toml."""
        configured = self.config.roles
        absent = [role for role in _ARM_ROLES if role in configured and not configured[role].names]
        if "request" in absent and "response" not in configured:
            absent.append("response")
        if len(absent) == len(_ARM_ROLES):
            fault = "the protocol has neither events nor requests"
            help_ = "name the message of events or requests: [roles] event or request"
            self._fault(self.config.span(("roles",)), Rule.ROLE_NOT_FOUND, fault, help_)
        elif "request" in absent and "response" not in absent:
            fault = "there are responses, but no requests"
            help_ = "name the message of the requests, or set response = false"
            span = self.config.span(configured["response"].key_path)
            self._fault(span, Rule.ROLE_SHAPE, fault, help_)
        return absent

    def _role_candidates(self, role: str, envelopes: list[Message]) -> list[RoleMessage]:
        """Returns the message that is configured for a role, or the candidates."""
        configured = self.config.roles.get(role)
        if configured is not None:
            return self._configured_message(role, configured)
        candidates = [
            item
            for item in self.candidates
            if self._is_candidate(item, role) and item.full_name not in self.configured
        ]
        if len(candidates) > 1:
            carried = {name for item in envelopes for name in _payloads(item)}
            candidates = [item for item in candidates if item.full_name in carried] or _outermost(
                candidates
            )
        return [_with_arms(item, _oneof_of_role(item, role)) for item in candidates]

    def _is_candidate(self, message: Message, role: str) -> bool:
        return _is_candidate(message, role) and message.full_name not in self.payloads

    def _envelope_candidates(self) -> list[Message]:
        """Returns the messages that carry candidates for at least two different roles."""
        candidates = {
            role: {item.full_name for item in self.candidates if self._is_candidate(item, role)}
            for role in _ARM_ROLES
        }
        return [
            item
            for item in self.candidates
            if sum(not names.isdisjoint(_payloads(item)) for names in candidates.values()) > 1
        ]

    def _envelope(self, carried: list[RoleMessage]) -> dict[str, RoleMessage | None]:
        configured = self.config.roles.get("envelope")
        names = {item.full_name for item in carried}
        if configured is not None:
            if configured.value is None:
                return {"envelope": None}
            messages = self._configured_message("envelope", configured)
            if messages and messages[0].full_name in names:
                fault = f"roles.envelope is {messages[0].full_name}, which has another role"
                help_ = "name the message that carries it, or set envelope = false"
                self._fault(self.config.span(configured.key_path), Rule.ROLE_SHAPE, fault, help_)
            return {"envelope": item for item in messages}
        candidates = [
            item
            for item in self.candidates
            if len(names) > 1 and names <= _payloads(item) and item.full_name not in names
        ]
        if len(candidates) > 1:
            self._report_ambiguous(
                "envelope", [_with_arms(item, item.oneofs[0]) for item in candidates]
            )
            return {}
        if not candidates:
            return {"envelope": None}
        return {"envelope": _with_arms(candidates[0], _oneof_carrying(candidates[0], names))}

    def _configured_message(self, role: str, configured: ConfigValue) -> list[RoleMessage]:
        """Returns the message that codegen.toml names for a role, or reports a fault."""
        span = self.config.span(configured.key_path)
        name = configured.value or ""
        messages = self.schema.own_messages()
        matches = [item for item in messages if _is_named(item.full_name, name)]
        matches = [item for item in matches if item.full_name == name] or matches
        pairs = [(item, _oneof_of_role(item, role)) for item in matches]
        # The name of a message may be followed by the name of a oneof.
        pairs = pairs or [
            (item, oneof)
            for item in messages
            for oneof in item.oneofs
            if _is_named(f"{item.full_name}.{oneof.name}", name)
        ]
        if len(pairs) != 1:
            reason = "names several messages" if pairs else "names no message"
            fault = f"roles.{role} {reason}: {name!r}"
            names = (
                _shortened([it.full_name for it, _ in pairs] or _names(self.candidates)) or "none"
            )
            help_ = f"{'write its full name' if pairs else 'messages with a oneof'}: {names}"
            self._fault(span, Rule.ROLE_NOT_FOUND, fault, help_)
            return []
        message, oneof = pairs[0]
        if oneof is None:
            fault = f"roles.{role} is {message.full_name}, which has no oneof"
            help_ = "name a message with a oneof, whose arms are its kinds"
            self._fault(span, Rule.ROLE_SHAPE, fault, help_)
            return []
        return [_with_arms(message, oneof)]

    def _report_ambiguous(self, role: str, candidates: list[RoleMessage]) -> None:
        self.open[role] = tuple(map(name_of, candidates))
        for item in candidates:
            others = ", ".join(other.full_name for other in candidates if other is not item)
            fault = (
                f"{item.full_name} is one of several candidates for the role {role}, with {others}"
            )
            help_ = f'name one in codegen.toml: [roles] {role} = "{item.full_name}"'
            self._fault(item.span, Rule.ROLE_AMBIGUOUS, fault, help_)

    def _report_missing(self, role: str, known: list[RoleMessage]) -> None:
        """Reports that no message has a role, with the messages that may have it."""
        named = [
            item
            for item in self.schema.own_messages()
            if _has_role_name(item, role) and item.full_name not in self.configured | self.payloads
        ]
        candidates = self._other_candidates(role, known, named)
        names = [name_of(_with_arms(item, _largest(item))) for item in candidates]
        self.open[role] = tuple(names)
        problems = [f"{item.full_name} has {_oneofs(item)}" for item in named]
        problems = problems or ([] if self.candidates else ["none has a oneof"])
        fault = f"no message has the role {role}{': ' if problems else ''}{_shortened(problems)}"
        helps = []
        if names:
            more = f" (or {_shortened(names[1:])})" if names[1:] else ""
            helps.append(f'name it in codegen.toml: [roles] {role} = "{names[0]}"{more}')
        if not named or candidates:
            helps.append(f"if the protocol has no {role}s: [roles] {role} = false")
        if named and not all(item.oneofs for item in named):
            helps.append(f"the message needs a oneof with an arm for each kind of {role}")
        span = named[0].span if named else self._protocol_span()
        self._fault(span, Rule.ROLE_NOT_FOUND, fault, "; ".join(helps))

    def _other_candidates(
        self, role: str, known: list[RoleMessage], named: list[Message]
    ) -> list[Message]:
        """Returns the messages whose names do not show a role, most likely first."""
        known_names = {item.full_name for item in known}
        free = [
            item
            for item in self.candidates
            if item.full_name not in known_names | self.configured
            and (item in named or known_names.isdisjoint(_payloads(item)))
            and not any(_is_candidate(item, name) for name in _ARM_ROLES)
        ]
        names = {item.full_name for item in free}

        def likely(item: Message) -> tuple[bool, bool, bool]:
            # A message that carries several unions is probably an envelope. The arms of requests
            # and responses have common names, those of events do not.
            others = (other for other in self.candidates if other is not item)
            paired = any(_arms(item) & _arms(other) for other in others)
            carries = len(names & _payloads(item)) > 1
            return item not in named, carries, paired is (role == "event")

        return sorted(free, key=likely)

    def _protocol_span(self) -> Span:
        """Returns the beginning of the last file of the protocol, or the input in codegen.toml."""
        spans = [
            item.span for item in self.schema.own_messages() if item.file == self.schema.own[-1]
        ]
        if spans:
            return Span(spans[0].file)
        protos = self.config.input.protos
        return Span(display(protos[-1])) if protos else self.config.span(("input",))

    def _fault(self, span: Span, rule: Rule, message: str, help_: str) -> None:
        self.diagnostics.append(Diagnostic(span, rule, message, help_))


def _has_role_name(message: Message, role: str) -> bool:
    return message.path[-1].lower().endswith(role)


def _is_candidate(message: Message, role: str) -> bool:
    if not _has_role_name(message, role):
        return False
    named = [item for item in message.oneofs if item.name.lower().endswith(role)]
    return len(message.oneofs) == 1 or len(named) == 1


def _oneof_of_role(message: Message, role: str) -> Oneof | None:
    """Returns the oneof with the arms of a role, None if the message has no oneof."""
    named = [item for item in message.oneofs if item.name.lower().endswith(role)]
    return next(iter([*named, *message.oneofs]), None)


def _largest(message: Message) -> Oneof:
    return max(message.oneofs, key=lambda item: len(item.arms))


def _oneof_carrying(message: Message, names: set[str]) -> Oneof:
    """Returns the oneof whose arms carry most of these messages."""

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


def _shortened(names: list[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _outermost(messages: list[Message]) -> list[Message]:
    """Returns the messages that are not payloads of others in the list."""
    carried = {name for item in messages for name in _payloads(item) - {item.full_name}}
    return [item for item in messages if item.full_name not in carried] or messages


def _arms(message: Message) -> set[str]:
    return {arm.name for oneof in message.oneofs for arm in oneof.arms}


def _payloads(message: Message) -> set[str]:
    return {arm.value.type_name for oneof in message.oneofs for arm in oneof.arms}
