"""Proposes the content of a new codegen.toml: roles, answers and errors of a protocol."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sessiongen.config.model import Config, ConfigValue
from sessiongen.frontend.annotations import Annotated
from sessiongen.init.answer_proposals import (
    AnswerProposal,
    error_arms,
    is_error_word,
    propose_answers,
)
from sessiongen.init.correlation_proposals import propose_correlation, unequal_types
from sessiongen.init.role_proposals import RoleProposal, propose_roles
from sessiongen.init.role_words import describes_event, has_role_name
from sessiongen.ir.pairing import Pairing
from sessiongen.ir.role_inference import Search, search
from sessiongen.ir.roles import ABSENT, RoleMessage, error_candidates, name_of
from sessiongen.ir.schema import Field, Schema

_FIELDS = ("correlation", "error", "timestamp")


@dataclass(frozen=True)
class Proposal:
    """The content of a new codegen.toml.

    roles: the values of [roles], and the candidates for those that are not known.
    errors: the fields that may be the error text.
    uncorrelated: why no field correlates requests and responses, "" if one does.
    answers: the requests without a response of the same name.
    unasked: the response arms that answer no request.
    response: the full name of the message with these arms, "" if it is not known.
    """

    roles: RoleProposal
    errors: tuple[str, ...]
    uncorrelated: str
    answers: tuple[AnswerProposal, ...]
    unasked: tuple[str, ...]
    response: str = ""

    @property
    def unanswered(self) -> bool:
        """Whether the answer of some request has to be chosen."""
        return any(item.answer is None for item in self.answers)


def propose(schema: Schema, annotated: Annotated, config: Config) -> Proposal:
    """Returns the content of a new configuration; `config` has only the input."""
    roles = propose_roles(schema, _roots(annotated, schema), config, annotated)
    config = replace(config, roles=_configured(roles))
    result = search(schema, config, annotated)
    request, response = result.messages.get("request"), result.messages.get("response")
    envelope = result.messages.get("envelope")
    if envelope is not None:
        roles.names["envelope"] = (name_of(envelope),)
    if request is None or response is None or not (request.present and response.present):
        _add_fields(roles, result)
        return Proposal(roles, (), "", (), _common_errors(roles, schema))
    correlation = propose_correlation(request, response)
    if correlation is not None:
        roles.names["correlation"] = correlation
        result = search(schema, replace(config, roles=_configured(roles)), annotated)
    _add_fields(roles, result)
    answers, unasked = _pairs(request, response, config, annotated, roles)
    errors = [item.name for item in error_candidates(request, response)]
    return Proposal(
        roles,
        tuple(errors if "error" not in roles.names else ()),
        _uncorrelated(roles, request, response),
        tuple(answers),
        tuple(unasked),
        response.full_name,
    )


def _unequal(role: str, result: Search) -> bool:
    """Whether the field of a role is a correlation whose types differ."""
    request, response = result.messages.get("request"), result.messages.get("response")
    if role != "correlation" or request is None or response is None:
        return False
    return name_of(result.fields[role]) in unequal_types(request, response)


def _uncorrelated(roles: RoleProposal, request: RoleMessage, response: RoleMessage) -> str:
    """Returns why no field correlates requests and responses; "" if one does, or may do."""
    if "correlation" in roles.names or "correlation" in roles.open:
        return ""
    for name, types in unequal_types(request, response).items():
        return f"{name} is {types[0]} in requests, and {types[1]} in responses"
    return ABSENT["correlation"]


def _common_errors(roles: RoleProposal, schema: Schema) -> tuple[str, ...]:
    """Returns the error arms that all candidates for the response have."""
    candidates = [schema.messages.get(name) for name in roles.open.get("response", ())]
    names = [
        [arm.name for oneof in item.oneofs for arm in oneof.arms]
        for item in candidates
        if item is not None
    ]
    if not names or "request" not in roles.open:
        return ()
    return tuple(name for name in error_arms(names[0]) if all(name in item for item in names))


def _configured(roles: RoleProposal) -> dict[str, ConfigValue]:
    return {key: ConfigValue(names, ("roles", key)) for key, names in roles.names.items()}


def _add_fields(roles: RoleProposal, result: Search) -> None:
    """Adds the fields that a search found to the roles."""
    for role in _FIELDS:
        if role in result.open:
            roles.open[role] = result.open[role]
        elif result.fields.get(role) is not None and not _unequal(role, result):
            roles.names[role] = (name_of(result.fields[role]),)


def _roots(annotated: Annotated, schema: Schema) -> tuple[str, ...]:
    """Returns the files of the protocol that no other file of it imports."""
    imported = {name for file in annotated.files for name in file.dependency}
    return tuple(name for name in schema.own if name not in imported)


def _pairs(
    request: RoleMessage,
    response: RoleMessage,
    config: Config,
    annotated: Annotated,
    roles: RoleProposal,
) -> tuple[list[AnswerProposal], list[str]]:
    """Returns the requests that need an answer, and the responses that answer none.

    Responses that report errors, and those that are events, are added to `roles`.
    """
    calls = Pairing(request, response, [], config, annotated).calls([])
    answered = {call.request.name for call in calls}
    used = {call.response.name for call in calls if call.response is not None}
    requests = [
        arm
        for arm in request.arms
        if arm.name not in answered
        and annotated.get(f"{request.full_name}.{arm.name}", "response") is None
    ]
    free = [arm for arm in response.arms if arm.name not in used]
    errors = [*error_arms([arm.name for arm in free]), *_shared_error_arms(request, response)]
    if errors:
        roles.names["error"] = (*roles.names.get("error", ()), *errors)
    free = [arm for arm in free if arm.name not in errors]
    answers = propose_answers(request, requests, free, response)
    proposed = {item.answer for item in answers}
    unasked = [arm for arm in free if arm.name not in proposed]
    if "event" in roles.open:
        events = [arm for arm in unasked if describes_event(arm.name)]
    else:
        events = _events(response, unasked) if roles.names.get("event") == () else []
    if events:
        roles.open.pop("event", None)
        roles.names["event"] = (name_of(response),)
        roles.names["events"] = tuple(arm.name for arm in events)
        unasked = [arm for arm in unasked if arm not in events]
        free = [arm for arm in free if arm not in events]
        rest = tuple(arm for arm in response.arms if arm not in events)
        answers = propose_answers(request, requests, free, replace(response, arms=rest))
    return answers, [arm.name for arm in unasked]


def _shared_error_arms(request: RoleMessage, response: RoleMessage) -> list[str]:
    """Returns the error arms of a message that has other requests, responses and events too."""
    if request.full_name != response.full_name:
        return []
    known = {arm.name for message in (request, response) for arm in message.arms}
    others = [arm.name for arm in response.oneof.arms if arm.name not in known]
    return [name for name in others if is_error_word(name)]


def _events(response: RoleMessage, unasked: list[Field]) -> list[Field]:
    """Returns the response arms that are events, among those that answer no request.

    All of them are events if the message is not called a response.
    """
    if not has_role_name(response, "response"):
        return unasked
    return [arm for arm in unasked if describes_event(arm.name)]
