"""Roles: which messages are envelope, event, request and response, and which of their fields
are correlation, error and timestamp.

Each role is optional. Several roles may share a message; each arm of it then has one role.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from functools import cached_property

from sessiongen.config.model import ROLES, Config
from sessiongen.diagnostics import Diagnostic, Rule, Severity, Span
from sessiongen.ir.name_case import words
from sessiongen.ir.schema import Field, Kind, Message, Oneof

TIMESTAMP = "google.protobuf.Timestamp"
# The consequence of each missing role.
ABSENT = {
    "envelope": "requests, responses and events are not wrapped in one message",
    "event": "there are no events",
    "request": "there are no requests",
    "response": "no request has a response",
    "correlation": "no field says which request a response answers; `send` has to know",
    "error": "a host cannot answer with an error text; `answer` raises instead",
    "timestamp": "events do not carry the time of their creation",
}
# The words of the names of error fields: `err`, `errors`, `lasterror`, `failure`, but not `default`.
_ERROR_WORD = re.compile(
    r"errs?\d*|errno|err(msg|code|text|str|string|info)|(?!terror)\w*errors?\d*|error\w*|\w*exceptions?"
    r"|fail|fails|failed|failures?|failing|fail(ure)?(text|msg|message|reason|info)|faults?|problems?"
)


@dataclass(frozen=True)
class RoleMessage(Message):
    """A message with a role.

    oneof: the oneof that holds the arms.
    arms: the arms of the oneof that have the role: all, unless roles share the message.
    """

    oneof: Oneof
    arms: tuple[Field, ...]

    @property
    def present(self) -> bool:
        """Whether the protocol has the role."""
        return self.full_name != ""

    @cached_property
    def common_fields(self) -> tuple[Field, ...]:
        """The fields that are not in the oneof of the arms."""
        names = {item.name for item in self.oneof.arms}
        return tuple(item for item in self.fields if item.name not in names)

    @property
    def other_oneofs(self) -> tuple[Oneof, ...]:
        """The oneofs other than that of the arms."""
        return tuple(item for item in self.oneofs if item is not self.oneof)


def role_message(message: Message, oneof: Oneof, arms: tuple[Field, ...]) -> RoleMessage:
    """Returns a message with its role."""
    inherited = {item.name: getattr(message, item.name) for item in fields(message)}
    return RoleMessage(**inherited, oneof=oneof, arms=arms)


_NO_SPAN = Span("")
# The message of a role that the protocol does not have: it has no fields and no arms.
NO_MESSAGE = role_message(
    Message("", ("",), "", (), (), "", _NO_SPAN), Oneof("", "", (), True, "", _NO_SPAN), ()
)


@dataclass(frozen=True)
class ErrorArm:
    """A response arm that reports an error, and answers no particular request.

    text: the string field of its payload that describes the error; None if there is none, or
        if the payload is a string itself.
    """

    arm: Field
    text: Field | None

    @property
    def has_text(self) -> bool:
        """Whether an error without a payload can be reported with the arm."""
        return self.text is not None or self.arm.value.kind is Kind.STRING


@dataclass(frozen=True)
class Roles:
    """The messages and fields with a role.

    event, request, response: `NO_MESSAGE` if the protocol lacks the role.
    correlation: the field of request and response that pairs a response with its request.
    error: the response's field for an error text.
    error_arms: the response's arms that report errors.
    timestamp: the event's field for the time of its creation.
    message_fields: the fields of all messages, as `Message.field`.
    repeated: the repeated ones among them; maps are none.
    zero_values: the names of the values of enums whose number is zero.
    """

    envelope: RoleMessage | None
    event: RoleMessage
    request: RoleMessage
    response: RoleMessage
    correlation: Field | None
    error: Field | None
    error_arms: tuple[ErrorArm, ...]
    timestamp: Field | None
    message_fields: frozenset[str] = frozenset()
    repeated: frozenset[str] = frozenset()
    zero_values: frozenset[str] = frozenset()

    def named(self) -> list[tuple[str, str]]:
        """Returns each role with the name of its message or field; "-" for none."""
        named = {role: name_of(getattr(self, role)) for role in ROLES}
        named["error"] = error_names(self.error, self.error_arms)
        return list(named.items())

    @property
    def text_arm(self) -> ErrorArm | None:
        """The arm for an error text, if the response has no field for it."""
        if self.error is not None:
            return None
        return next((item for item in self.error_arms if item.has_text), None)

    @property
    def request_roles(self) -> tuple[Field, ...]:
        """The fields of a request with a role, which the caller of a request does not set.

        A message that is the response too also has its error.
        """
        shared = self.request.full_name == self.response.full_name
        fields_ = [self.correlation, self.error if shared else None]
        return tuple(item for item in fields_ if item is not None)

    @property
    def main(self) -> RoleMessage:
        """The main message of the protocol: the request, or the event if there are no requests."""
        return self.request if self.request.present else self.event

    @property
    def other_response_fields(self) -> list[Field]:
        """The fields of responses other than the arms, the correlation and the error text."""
        known = {item.name for item in (self.correlation, self.error) if item is not None}
        return [item for item in self.response.common_fields if item.name not in known]

    def may_be_whole(self, response: Field) -> bool:
        """Whether a handler may return a whole response in place of the payload of an arm."""
        is_response = response.value.type_name == self.response.full_name
        return bool(self.other_response_fields) and not is_response

    def span(self, role: str) -> Span:
        """Returns the position of the message of a role, or of the main message without it."""
        message: RoleMessage = getattr(self, role)
        return message.span if message.present else self.main.span

    def messages(self) -> list[RoleMessage]:
        """Returns the messages of events, requests and responses, if they exist."""
        return [item for item in (self.event, self.request, self.response) if item.present]


def name_of(holder: RoleMessage | Field | None) -> str:
    """Returns the name of the message or field of a role; "-" for none."""
    if isinstance(holder, Field):
        return holder.name
    if holder is None or not holder.present:
        return "-"
    return holder.full_name if holder.oneof.main else f"{holder.full_name}.{holder.oneof.name}"


def error_names(error: RoleMessage | Field | None, arms: tuple[ErrorArm, ...]) -> str:
    """Returns the names of the field and the arms for errors; "-" for none."""
    fields_ = [error] if isinstance(error, Field) else []
    return ", ".join(item.name for item in (*fields_, *(item.arm for item in arms))) or "-"


def absence(role: str, name: str) -> str:
    """Returns the consequence of a missing role, to print after its "-"; "" otherwise."""
    return f"  ({ABSENT[role]})" if name == "-" else ""


def notes(roles: Roles, config: Config) -> list[Diagnostic]:
    """Returns notes on roles without a field that may have one."""
    diagnostics = []
    answered = roles.request.present and roles.response.present
    if answered and roles.correlation is None and "correlation" not in config.roles:
        diagnostics.append(_uncorrelated(roles.request, roles.response))
    if answered and "error" not in config.roles and not roles.error and not roles.error_arms:
        candidates = error_candidates(roles.request, roles.response)
        diagnostics += [_no_error(roles.response, item) for item in candidates]
    return diagnostics


def error_candidates(request: Message, response: Message) -> list[Field]:
    """Returns the strings that only the response has, without a word for an error in their names."""
    request_fields = {item.name for item in request.outside()}
    return [
        item
        for item in response.outside()
        if is_text(item) and item.name not in request_fields and not names_error(item.name)
    ]


def is_text(item: Field) -> bool:
    """Whether a field is a single string."""
    return item.value.kind is Kind.STRING and not item.repeated and item.key is None


def names_error(name: str) -> bool:
    """Whether a name contains a word for an error."""
    return any(_ERROR_WORD.fullmatch(word) for word in words(name))


def _no_error(response: Message, item: Field) -> Diagnostic:
    fault = f"{response.full_name}.{item.name} is not used as the error text"
    help_ = (
        "its name has no word for an error; if it is the error text, set in codegen.toml: "
        f'[roles] error = "{item.name}", or false if there is none'
    )
    return Diagnostic(item.span, Rule.NO_ERROR, fault, help_, Severity.NOTE)


def _uncorrelated(request: Message, response: Message) -> Diagnostic:
    shared = request.full_name == response.full_name
    answered = "request it" if shared else f"{request.full_name} it"
    fault = f"{response.full_name} has no field that says which {answered} answers"
    fields_ = [
        f"{item.full_name} has {', '.join(map(_typed, item.outside())) or 'none'}"
        for item in ([response] if shared else [request, response])
    ]
    where = "to it" if shared else "with the same name to both"
    help_ = (
        f"add a string, integer or bytes field {where}, outside of the oneof "
        f"({'; '.join(fields_)}), or set in codegen.toml that there is none: "
        "[roles] correlation = false"
    )
    return Diagnostic(response.span, Rule.NO_CORRELATION, fault, help_, Severity.NOTE)


def _typed(item: Field) -> str:
    kind = item.value.type_name or item.value.kind.value
    return f"{item.name} ({kind})"
