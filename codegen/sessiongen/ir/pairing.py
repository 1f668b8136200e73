"""Pairs request arms with the response arms that answer them.

The response arm with the name of a request answers it, or the one that its annotation `response`
names. If roles share a message, names are compared without the fixed parts of the patterns of
their arms.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sessiongen.config.model import Config
from sessiongen.diagnostics import Diagnostic, Rule
from sessiongen.frontend.annotations import Annotated
from sessiongen.ir.role_arms import arm_name, pair_name
from sessiongen.ir.roles import RoleMessage
from sessiongen.ir.schema import Field


@dataclass(frozen=True)
class Call:
    """A request arm and the response arm that answers it; None if nothing answers it."""

    request: Field
    response: Field | None


class Pairing:
    """The arms of a protocol's requests and responses.

    errors: the response arms that report errors, and answer no particular request.
    """

    def __init__(
        self,
        request: RoleMessage,
        response: RoleMessage,
        errors: Iterable[Field],
        config: Config,
        annotated: Annotated,
    ) -> None:
        self.request = request
        self.response = response
        self.config = config
        self.annotated = annotated
        excluded = {arm.name for arm in errors}
        self.answers = {arm.name: arm for arm in response.arms if arm.name not in excluded}
        self._by_pair_name = {
            pair_name(name, "response", config): arm for name, arm in self.answers.items()
        }

    def calls(self, diagnostics: list[Diagnostic]) -> tuple[Call, ...]:
        """Returns each request arm with the arm that answers it; appends faults to `diagnostics`."""
        if not self.request.present:
            # That there are responses without requests is reported as a fault of the roles.
            return ()
        calls = []
        for arm in self.request.arms:
            answer = self._answer(arm)
            if isinstance(answer, Diagnostic):
                diagnostics.append(answer)
            else:
                calls.append(Call(arm, answer))
        used = {call.response.name for call in calls if call.response is not None}
        diagnostics += [
            self._without_request(arm) for name, arm in self.answers.items() if name not in used
        ]
        return tuple(calls)

    def _answer(self, arm: Field) -> Field | Diagnostic | None:
        """Returns the arm that answers a request, None if it needs none, or a fault."""
        annotation = self.annotated.get(f"{self.request.full_name}.{arm.name}", "response")
        if not self.response.present or (annotation is not None and annotation.value == ""):
            return None
        if annotation is None:
            answer = self._by_pair_name.get(pair_name(arm.name, "request", self.config))
        else:
            answer = self.answers.get(annotation.value)
        if answer is not None:
            return answer
        if annotation is None:
            return self._without_response(arm)
        fault = f"{self.response.full_name} has no response arm {annotation.value!r}"
        help_ = f"response arms: {', '.join(self.answers) or 'none'}"
        return Diagnostic(annotation.span, Rule.ANNOTATION, fault, help_)

    def _without_response(self, arm: Field) -> Diagnostic:
        fault = f'request arm "{arm.name}" has no response arm'
        element = f"{self.request.full_name}.{arm.name}"
        help_ = (
            f"{self._missing(arm, 'request', 'response')}name the arm that "
            f'answers it: [(sessiongen.response) = "..."] on it, or in codegen.toml '
            f'[annotations."{element}"] response = "...", or false if there is no answer'
        )
        return Diagnostic(arm.span, Rule.UNPAIRED_ARM, fault, help_)

    def _missing(self, arm: Field, role: str, other: str) -> str:
        """Returns the advice to add the arm of the other role; "" if its name is not free."""
        message = {"request": self.request, "response": self.response}[other]
        name = arm_name(pair_name(arm.name, role, self.config), other, self.config)
        if name is None or any(item.name == name for item in message.fields):
            return ""
        return f'add an arm "{name}" to {message.full_name}, or '

    def _without_request(self, arm: Field) -> Diagnostic:
        fault = f'response arm "{arm.name}" has no request arm'
        help_ = (
            f"{self._missing(arm, 'response', 'request')}name it as the answer of a "
            f'request: [(sessiongen.response) = "{arm.name}"] on the request arm, or in '
            f'codegen.toml [annotations."{self.request.full_name}.ARM"] response = "{arm.name}"; '
            f'if it reports an error: [roles] error = ["{arm.name}"]; to leave it out: '
            f'[annotations."{self.response.full_name}.{arm.name}"] role = false'
        )
        return Diagnostic(arm.span, Rule.UNPAIRED_ARM, fault, help_)
