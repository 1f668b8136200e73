"""Proposes the content of a new codegen.toml: roles, answers and errors of a protocol."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sessiongen.init.answer_proposals import AnswerProposal, error_arms, propose_answers
from sessiongen.config.model import Config, ConfigValue
from sessiongen.init.role_proposals import RoleProposal, propose_roles
from sessiongen.frontend.annotations import Annotated
from sessiongen.ir.pairing import Pairing
from sessiongen.ir.role_inference import Search, search
from sessiongen.ir.roles import error_candidates, name_of
from sessiongen.ir.schema import Schema

_FIELDS = ("correlation", "error", "timestamp")


@dataclass(frozen=True)
class Proposal:
    """The content of a new codegen.toml.

    roles: the values of [roles], and the candidates for those that are not known.
    errors: the fields that may be the error text.
    uncorrelated: whether no field correlates requests and responses.
    answers: the requests without a response of the same name.
    unasked: the response arms that answer no request.
    """

    roles: RoleProposal
    errors: tuple[str, ...]
    uncorrelated: bool
    answers: tuple[AnswerProposal, ...]
    unasked: tuple[str, ...]

    @property
    def unanswered(self) -> bool:
        """Whether the answer of some request has to be chosen."""
        return any(item.answer is None for item in self.answers)


def propose(schema: Schema, annotated: Annotated, config: Config) -> Proposal:
    """Returns the content of a new configuration; `config` has only the input."""
    roles = propose_roles(schema, _roots(annotated, schema), config, annotated)
    configured = {key: ConfigValue(names, ("roles", key)) for key, names in roles.names.items()}
    config = replace(config, roles=configured)
    result = search(schema, config, annotated)
    for role in _FIELDS:
        if role in result.open:
            roles.open[role] = result.open[role]
        elif result.fields.get(role) is not None:
            roles.names[role] = (name_of(result.fields[role]),)
    envelope = result.messages.get("envelope")
    if envelope is not None:
        roles.names["envelope"] = (name_of(envelope),)
    request, response = result.messages.get("request"), result.messages.get("response")
    if request is None or response is None or not (request.present and response.present):
        return Proposal(roles, (), False, (), ())
    errors = [item.name for item in error_candidates(request, response)]
    answers, unasked = _pairs(result, config, annotated, roles)
    return Proposal(
        roles,
        tuple(errors if "error" not in roles.names else ()),
        result.fields.get("correlation", "") is None,
        tuple(answers),
        tuple(unasked),
    )


def _roots(annotated: Annotated, schema: Schema) -> tuple[str, ...]:
    """Returns the files of the protocol that no other file of it imports."""
    imported = {name for file in annotated.files for name in file.dependency}
    return tuple(name for name in schema.own if name not in imported)


def _pairs(
    result: Search, config: Config, annotated: Annotated, roles: RoleProposal
) -> tuple[list[AnswerProposal], list[str]]:
    """Returns the requests that need an answer, and the responses that answer none.

    Responses that report errors are added to `roles`.
    """
    request, response = result.messages["request"], result.messages["response"]
    assert request is not None and response is not None
    calls = Pairing(request, response, [], config, annotated).calls([])
    answered = {call.request.name for call in calls}
    used = {call.response.name for call in calls if call.response is not None}
    requests = [
        arm
        for arm in request.arms
        if arm.name not in answered
        and annotated.get(f"{request.full_name}.{arm.name}", "response") is None
    ]
    free = [arm.name for arm in response.arms if arm.name not in used]
    errors = error_arms(free)
    if errors:
        roles.names["error"] = (*roles.names.get("error", ()), *errors)
    free = [name for name in free if name not in errors]
    answers = propose_answers(request, requests, free, response)
    proposed = {item.answer for item in answers}
    return answers, [name for name in free if name not in proposed]
