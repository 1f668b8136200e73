"""Finds the fields with a role: correlation, error and timestamp; and the arms for errors."""

from __future__ import annotations

from sessiongen.config.model import Config, ConfigValue
from sessiongen.diagnostics import Diagnostic, Rule
from sessiongen.ir.roles import TIMESTAMP, ErrorArm, RoleMessage, is_text, names_error
from sessiongen.ir.schema import Field, Kind, Message, Schema


class FieldFinder:
    """Finds the fields with a role; each is optional.

    A method returns the field of a role, None if there is none, or {} if it is not clear. It adds
    faults to `diagnostics`, and the candidates for a role that is not clear to `open`.
    """

    def __init__(
        self,
        schema: Schema,
        config: Config,
        diagnostics: list[Diagnostic],
        open_: dict[str, tuple[str, ...]],
    ) -> None:
        self.schema = schema
        self.config = config
        self.diagnostics = diagnostics
        self.open = open_

    def correlation(self, request: RoleMessage, response: RoleMessage) -> dict[str, Field | None]:
        """Finds a scalar outside of all oneofs that request and response both have."""
        if not (request.present and response.present):
            return self._without_message("correlation", "a response")
        chosen = self._choose("correlation", request, shared_scalars(request, response))
        field = chosen.get("correlation")
        if field is not None:
            [other] = [item for item in response.outside() if item.name == field.name]
            if field.value.range != other.value.range:
                self._report_other_range(request, field, response, other)
        return chosen

    def _report_other_range(
        self, request: RoleMessage, field: Field, response: RoleMessage, other: Field
    ) -> None:
        """Reports a correlation field that some responses cannot contain."""
        fault = (
            f"{request.full_name}.{field.name} is {field.value.range}, and "
            f"{response.full_name}.{other.name} is {other.value.range}"
        )
        help_ = "give both fields the same type, or set [roles] correlation = false in codegen.toml"
        self.diagnostics.append(Diagnostic(field.span, Rule.ROLE_SHAPE, fault, help_))

    def timestamp(self, event: RoleMessage) -> dict[str, Field | None]:
        """Finds a google.protobuf.Timestamp outside of all oneofs of the event."""
        if not event.present:
            return self._without_message("timestamp", "an event")
        candidates = [
            item
            for item in event.outside()
            if item.value.type_name == TIMESTAMP and not item.repeated and item.key is None
        ]
        return self._choose("timestamp", event, candidates)

    def error(self, request: RoleMessage, response: RoleMessage) -> dict[str, Field | None]:
        """Finds a string outside of all oneofs that only the response has.

        If it is the message of the requests too, it is a string that does not correlate them.
        Unless it is configured, its name has to contain a word for an error.
        """
        if not response.present:
            return self._without_message("error", "a response")
        chosen = self._error(request, response)
        field = chosen.get("error")
        if field is not None and field.required:
            fault = (
                f"{response.full_name}.{field.name} is required: each response would be an error"
            )
            help_ = "make the field optional, or set [roles] error = false in codegen.toml"
            self.diagnostics.append(Diagnostic(field.span, Rule.ROLE_SHAPE, fault, help_))
        return chosen

    def _error(self, request: RoleMessage, response: RoleMessage) -> dict[str, Field | None]:
        shared = request.full_name == response.full_name
        request_fields = set() if shared else {item.name for item in request.outside()}
        candidates = [
            item for item in response.outside() if is_text(item) and item.name not in request_fields
        ]
        configured = self.config.roles.get("error")
        if configured is None:
            return self._single(
                "error", response, [it for it in candidates if names_error(it.name)]
            )
        arms = {arm.name for arm in response.arms}
        named = [item for item in candidates if item.name in configured.names]
        valid = arms | {item.name for item in candidates}
        for name in configured.names:
            if name not in valid:
                self._report_unsuitable(
                    "error", response, name, [*candidates, *response.arms], configured
                )
        if len(named) > 1:
            fault = f"roles.error names several fields: {', '.join(item.name for item in named)}"
            help_ = "name at most one field for an error text, and any number of response arms"
            self._fault(configured, fault, help_)
        return {"error": named[0] if named else None}

    def error_arms(self, response: RoleMessage) -> tuple[ErrorArm, ...]:
        """Returns the response arms that the configuration names as errors, in its order."""
        configured = self.config.roles.get("error")
        arms = {arm.name: arm for arm in response.arms}
        names = configured.names if configured is not None else ()
        return tuple(
            ErrorArm(arms[name], self._text(arms[name]))
            for name in dict.fromkeys(names)
            if name in arms
        )

    def _text(self, arm: Field) -> Field | None:
        """Returns the field of an arm's payload that describes the error."""
        payload = self.schema.messages.get(arm.value.type_name)
        texts = [item for item in payload.outside() if is_text(item)] if payload else []
        by_name = [item for item in texts if names_error(item.name) or item.name in _TEXT_NAMES]
        candidates = by_name if len(texts) > 1 else texts
        return candidates[0] if len(candidates) == 1 else None

    def _without_message(self, role: str, owner: str) -> dict[str, Field | None]:
        configured = self.config.roles.get(role)
        if configured is not None and configured.names:
            fault = f"roles.{role} is set, but no message is {owner}"
            self._fault(configured, fault, f"remove it, or name the message that is {owner}")
        return {role: None}

    def _choose(
        self, role: str, message: RoleMessage, candidates: list[Field]
    ) -> dict[str, Field | None]:
        configured = self.config.roles.get(role)
        if configured is None:
            return self._single(role, message, candidates)
        if configured.value is None:
            return {role: None}
        chosen = [item for item in candidates if item.name == configured.value]
        if not chosen:
            self._report_unsuitable(role, message, configured.value, candidates, configured)
        return {role: item for item in chosen}

    def _single(
        self, role: str, message: RoleMessage, candidates: list[Field]
    ) -> dict[str, Field | None]:
        if len(candidates) < 2:
            return {role: candidates[0] if candidates else None}
        self.open[role] = tuple(item.name for item in candidates)
        names = ", ".join(self.open[role])
        for item in candidates:
            fault = (
                f"{message.full_name}.{item.name} is one of several possible {role} fields: {names}"
            )
            help_ = f'name one in codegen.toml: [roles] {role} = "{item.name}", or false for none'
            self.diagnostics.append(Diagnostic(item.span, Rule.ROLE_AMBIGUOUS, fault, help_))
        return {}

    def _report_unsuitable(
        self,
        role: str,
        message: RoleMessage,
        name: str,
        candidates: list[Field],
        configured: ConfigValue,
    ) -> None:
        names = ", ".join(item.name for item in candidates) or "none"
        kind = "field or arm" if role == "error" else "field"
        fault = f"{message.full_name} has no {kind} {name!r} that can be the {role}"
        help_ = f"possible {'fields and arms' if role == 'error' else 'fields'}: {names}"
        self._fault(configured, fault, help_)

    def _fault(self, configured: ConfigValue, fault: str, help_: str) -> None:
        span = self.config.span(configured.key_path)
        self.diagnostics.append(Diagnostic(span, Rule.ROLE_SHAPE, fault, help_))


# Names of fields that describe an error, besides names with a word for an error.
_TEXT_NAMES = ("message", "text", "reason", "detail", "details", "description")


def shared_scalars(request: Message, response: Message) -> list[Field]:
    """Returns the fields of a request that may correlate it with its response.

    If they are one message, its error text cannot.
    """
    shared = request.full_name == response.full_name
    response_fields = {item.name: item for item in response.outside()}
    return [
        item
        for item in request.outside()
        if _scalar(item)
        and not (shared and is_text(item) and names_error(item.name))
        and item.name in response_fields
        and item.value == response_fields[item.name].value
    ]


def _scalar(field: Field) -> bool:
    return (
        not field.repeated
        and field.key is None
        and field.value.kind in (Kind.STRING, Kind.INT, Kind.BYTES)
    )
