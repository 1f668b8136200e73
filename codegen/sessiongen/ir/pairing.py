"""Pairs request arms with the response arms that answer them.

A request is answered by the response arm of its name, or by the one that its annotation
`response` names. Where roles share a message, the names are compared without what is fixed in
the patterns that divide its arms.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sessiongen.config.model import Config
from sessiongen.diagnostics import Diagnostic, Rule
from sessiongen.frontend.annotations import Annotated
from sessiongen.ir.role_arms import pair_name
from sessiongen.ir.roles import RoleMessage
from sessiongen.ir.schema import Field


@dataclass(frozen=True)
class Call:
    """A request arm and the response arm that answers it; None if nothing answers it."""

    request: Field
    response: Field | None


class Pairing:
    """The arms of a protocol's requests and responses.

    errors: the response arms that report errors, which answer no one request.
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
        """Return each request arm with the arm that answers it; faults go to `diagnostics`."""
        calls = []
        for arm in self.request.arms:
            answer = self._answer(arm)
            if isinstance(answer, Diagnostic):
                diagnostics.append(answer)
            else:
                calls.append(Call(arm, answer))
        used = {call.response.name for call in calls if call.response is not None}
        diagnostics += [
            self._unasked(arm) for name, arm in self.answers.items() if name not in used
        ]
        return tuple(calls)

    def _answer(self, arm: Field) -> Field | Diagnostic | None:
        """Return the arm that answers a request, None for no arm, or the fault of the request."""
        note = self.annotated.get(f"{self.request.full_name}.{arm.name}", "response")
        if not self.response.present or (note is not None and note.value == ""):
            return None
        if note is None:
            answer = self._by_pair_name.get(pair_name(arm.name, "request", self.config))
        else:
            answer = self.answers.get(note.value)
        if answer is not None:
            return answer
        if note is None:
            return self._unanswered(arm)
        fault = f"{self.response.full_name} has no arm {note.value!r}"
        help_ = f"response arms: {', '.join(self.answers)}"
        return Diagnostic(note.span, Rule.ANNOTATION, fault, help_)

    def _unanswered(self, arm: Field) -> Diagnostic:
        fault = f'request arm "{arm.name}" has no response arm'
        element = f"{self.request.full_name}.{arm.name}"
        help_ = (
            f'add an arm "{arm.name}" to {self.response.full_name}, or name the one that '
            f'answers: [(sessiongen.response) = "..."] on it, or in codegen.toml '
            f'[annotations."{element}"] response = "...", or false if nothing answers it'
        )
        return Diagnostic(arm.span, Rule.UNPAIRED_ARM, fault, help_)

    def _unasked(self, arm: Field) -> Diagnostic:
        fault = f'response arm "{arm.name}" has no request arm'
        help_ = (
            f'add an arm "{arm.name}" to {self.request.full_name}, or name it as the answer of '
            f'one: [(sessiongen.response) = "{arm.name}"] on that, or in codegen.toml '
            f'[annotations."{self.request.full_name}.ARM"] response = "{arm.name}"; '
            f'if it reports an error: [roles] error = ["{arm.name}"]'
        )
        return Diagnostic(arm.span, Rule.UNPAIRED_ARM, fault, help_)
