"""Finds the fields with a role: correlation, error and timestamp; and the arms for errors."""

from __future__ import annotations

from sessiongen.config.model import Config, ConfigValue
from sessiongen.diagnostics import Diagnostic, Rule
from sessiongen.ir.roles import TIMESTAMP, ErrorArm, RoleMessage, is_text, names_error
from sessiongen.ir.schema import Field, Kind, Schema


class FieldFinder:
    """Finds the fields with a role; each is optional. One that is unclear is left out.

    Faults go to `diagnostics`, the candidates for an unclear role to `open`.
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
        """Find a scalar outside of all oneofs that request and response both have."""
        if not (request.present and response.present):
            return self._no_message("correlation", "a response")
        theirs = {item.name: item for item in response.outside()}
        shared = [
            item
            for item in request.outside()
            if _scalar(item) and item.name in theirs and item.value == theirs[item.name].value
        ]
        chosen = self._choose("correlation", request, shared)
        field = chosen.get("correlation")
        if field is not None and field.value.range != theirs[field.name].value.range:
            self._other_range(request, field, response, theirs[field.name])
        return chosen

    def _other_range(
        self, request: RoleMessage, field: Field, response: RoleMessage, other: Field
    ) -> None:
        """Report a correlation that some responses could not hold."""
        fault = (
            f"{request.full_name}.{field.name} is {field.value.range}, and "
            f"{response.full_name}.{other.name} is {other.value.range}"
        )
        help_ = "give both fields one type, or set [roles] correlation = false in codegen.toml"
        self.diagnostics.append(Diagnostic(field.span, Rule.ROLE_SHAPE, fault, help_))

    def timestamp(self, event: RoleMessage) -> dict[str, Field | None]:
        """Find a google.protobuf.Timestamp outside of all oneofs of the event."""
        if not event.present:
            return self._no_message("timestamp", "an event")
        fitting = [
            item
            for item in event.outside()
            if item.value.type_name == TIMESTAMP and not item.repeated and item.key is None
        ]
        return self._choose("timestamp", event, fitting)

    def error(self, request: RoleMessage, response: RoleMessage) -> dict[str, Field | None]:
        """Find a string outside of all oneofs that only the response has.

        One that is not configured has a name that speaks of errors.
        """
        if not response.present:
            return self._no_message("error", "a response")
        theirs = {item.name for item in request.outside()}
        fitting = [item for item in response.outside() if is_text(item) and item.name not in theirs]
        given = self.config.roles.get("error")
        if given is None:
            return self._only("error", response, [it for it in fitting if names_error(it.name)])
        arms = {arm.name for arm in response.arms}
        named = [item for item in fitting if item.name in given.names]
        known = arms | {item.name for item in fitting}
        for name in given.names:
            if name not in known:
                self._unfit("error", response, name, [*fitting, *response.arms], given)
        if len(named) > 1:
            fault = f"roles.error names several fields: {', '.join(item.name for item in named)}"
            help_ = "name one field for an error text, and any number of response arms"
            self._fault(given, fault, help_)
        return {"error": named[0] if named else None}

    def error_arms(self, response: RoleMessage) -> tuple[ErrorArm, ...]:
        """Return the response arms that the configuration names as errors, in its order."""
        given = self.config.roles.get("error")
        arms = {arm.name: arm for arm in response.arms}
        names = given.names if given is not None else ()
        return tuple(
            ErrorArm(arms[name], self._text(arms[name]))
            for name in dict.fromkeys(names)
            if name in arms
        )

    def _text(self, arm: Field) -> Field | None:
        """Return the field of an arm's payload that describes the error."""
        payload = self.schema.messages.get(arm.value.type_name)
        texts = [item for item in payload.outside() if is_text(item)] if payload else []
        named = [item for item in texts if names_error(item.name) or item.name in _TEXTS]
        chosen = named if len(texts) > 1 else texts
        return chosen[0] if len(chosen) == 1 else None

    def _no_message(self, role: str, holder: str) -> dict[str, Field | None]:
        given = self.config.roles.get(role)
        if given is not None and given.names:
            fault = f"roles.{role} is given, but no message is {holder}"
            self._fault(given, fault, f"remove it, or name the message of {holder}")
        return {role: None}

    def _choose(
        self, role: str, message: RoleMessage, fitting: list[Field]
    ) -> dict[str, Field | None]:
        given = self.config.roles.get(role)
        if given is None:
            return self._only(role, message, fitting)
        if given.value is None:
            return {role: None}
        named = [item for item in fitting if item.name == given.value]
        if not named:
            self._unfit(role, message, given.value, fitting, given)
        return {role: item for item in named}

    def _only(
        self, role: str, message: RoleMessage, fitting: list[Field]
    ) -> dict[str, Field | None]:
        if len(fitting) < 2:
            return {role: fitting[0] if fitting else None}
        self.open[role] = tuple(item.name for item in fitting)
        names = ", ".join(self.open[role])
        for item in fitting:
            fault = f"{message.full_name}.{item.name} may be the {role}; so may each of {names}"
            help_ = f'name one in codegen.toml: [roles] {role} = "{item.name}", or false for none'
            self.diagnostics.append(Diagnostic(item.span, Rule.ROLE_AMBIGUOUS, fault, help_))
        return {}

    def _unfit(
        self, role: str, message: RoleMessage, name: str, fitting: list[Field], given: ConfigValue
    ) -> None:
        names = ", ".join(item.name for item in fitting) or "none"
        kind = "field or arm" if role == "error" else "field"
        fault = f"{message.full_name} has no {kind} {name!r} fit to be the {role}"
        help_ = f"{'fields and arms' if role == 'error' else 'fields'} that fit: {names}"
        self._fault(given, fault, help_)

    def _fault(self, given: ConfigValue, fault: str, help_: str) -> None:
        span = self.config.span(given.key_path)
        self.diagnostics.append(Diagnostic(span, Rule.ROLE_SHAPE, fault, help_))


# Names of the fields of an error that describe it, apart from those that speak of errors.
_TEXTS = ("message", "text", "reason", "detail", "details", "description")


def _scalar(field: Field) -> bool:
    return (
        not field.repeated
        and field.key is None
        and field.value.kind in (Kind.STRING, Kind.INT, Kind.BYTES)
    )
