"""Roles: which messages are envelope, event, request and response, and which of their fields
are correlation, error and timestamp.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessiongen.config.model import ROLES, Config
from sessiongen.diagnostics import Diagnostic, Rule, Severity
from sessiongen.ir.schema import Field, Message, Oneof

TIMESTAMP = "google.protobuf.Timestamp"
# The consequence of each missing role.
ABSENT = {
    "envelope": "no message carries requests, responses and events alike",
    "correlation": "no field says which request a response answers; `send` has to know",
    "error": "a host cannot answer with an error text; `answer` raises instead",
    "timestamp": "events do not say when they were made",
}
# What the name of an error field contains.
_ERRORS = ("err", "fail", "fault", "exception", "problem")


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
        """Return each role with the name of its message or field; "-" for none."""
        return [(role, name_of(getattr(self, role))) for role in ROLES]


def name_of(holder: Message | Field | None) -> str:
    """Return the name of the message or field of a role; "-" for none."""
    if holder is None:
        return "-"
    return holder.full_name if isinstance(holder, Message) else holder.name


def absence(role: str, name: str) -> str:
    """Return the consequence of a missing role, to print after its "-"; "" otherwise."""
    return f"  ({ABSENT[role]})" if name == "-" else ""


def union(message: Message) -> Oneof:
    """Return the oneof that makes a message with a role a union."""
    return message.oneofs[0]


def notes(roles: Roles, config: Config) -> list[Diagnostic]:
    """Return notes on roles that were inferred and may be meant otherwise."""
    found = []
    if roles.correlation is None and "correlation" not in config.roles:
        found.append(_uncorrelated(roles.request, roles.response))
    error = roles.error
    if error is not None and "error" not in config.roles and error_is_guessed(error):
        fault = f"{roles.response.full_name}.{error.name} is taken for the error text"
        help_ = (
            "it is the one string that the response alone has; say in codegen.toml what "
            f'holds: [roles] error = "{error.name}", or false for none'
        )
        found.append(Diagnostic(error.span, Rule.ERROR_GUESSED, fault, help_, Severity.NOTE))
    return found


def error_is_guessed(error: Field) -> bool:
    """Whether a field that was found by shape has a name that does not speak of errors."""
    return not any(part in error.name.lower() for part in _ERRORS)


def _uncorrelated(request: Message, response: Message) -> Diagnostic:
    fault = f"{response.full_name} has no field that says which {request.full_name} it answers"
    beside = [
        f"{item.full_name} has {', '.join(map(_typed, item.outside())) or 'none'}"
        for item in (request, response)
    ]
    help_ = (
        "give both a string, integer or bytes field of one name and type beside the oneof "
        f"({'; '.join(beside)}), or say in codegen.toml that there is none: "
        "[roles] correlation = false"
    )
    return Diagnostic(response.span, Rule.NO_CORRELATION, fault, help_, Severity.NOTE)


def _typed(item: Field) -> str:
    kind = item.value.type_name or item.value.kind.value
    return f"{item.name} ({kind})"
