"""Proposes which response answers a request, and which responses report errors, by their names."""

from __future__ import annotations

from dataclasses import dataclass

from sessiongen.init.role_words import PAIR_WORDS, WORDS
from sessiongen.init.word_forms import alike, is_past
from sessiongen.ir.name_case import words
from sessiongen.ir.roles import RoleMessage, names_error
from sessiongen.ir.schema import Field

# Other words for errors of a peer.
_ERROR_NAMES = (
    "unimplemented",
    "unsupported",
    "throttle",
    "denied",
    "reject",
    "decline",
    "abort",
    "refuse",
    "invalid",
)
_ERROR_WORDS = frozenset(
    "nack nak not unknown unauthorized forbidden unavailable exceeded busy".split()
)
# The words of a response that answers any request.
_ANY_ANSWER = WORDS["response"] | frozenset(
    "ok okay success succeeded done accepted completed empty acked confirmed value".split()
)
# The first words of requests such as `get_state`, whose responses are named after the rest.
_QUESTIONS = frozenset(
    "get list fetch read query load find describe show lookup search count retrieve".split()
)
_PAIR_WORDS = PAIR_WORDS["request"] | PAIR_WORDS["response"]
# Requests and responses whose names differ.
_EQUAL_NAMES = {
    ("ping", "pong"),
    *((one, other) for one in WORDS["request"] for other in WORDS["response"]),
}
_EQUAL, _SAME_WORDS, _ALIKE, _SAME_WORDS_ALIKE, _ASKED, _ASKED_ALIKE = 100, 90, 80, 75, 70, 60


@dataclass(frozen=True)
class AnswerProposal:
    """A request arm without a response arm of the same name.

    request: its full name.
    answer: the response arm that is proposed, or None.
    choices: the response arms that may answer it.
    """

    request: str
    answer: str | None
    choices: tuple[str, ...]


def propose_answers(
    request: RoleMessage, requests: list[Field], free: list[Field], response: RoleMessage
) -> list[AnswerProposal]:
    """Returns a proposal for each request that is not answered.

    requests: the arms that are not answered.
    free: the response arms that answer no request.
    """
    names = [arm.name for arm in response.arms]
    general = [arm.name for arm in free if answers_any(arm.name)]
    any_answer = general[0] if len(general) == 1 else None
    return [
        AnswerProposal(
            f"{request.full_name}.{arm.name}",
            _answer(arm, free) or any_answer,
            tuple(item.name for item in free) or tuple(_similar(arm.name, names)),
        )
        for arm in requests
    ]


def _similar(request: str, names: list[str], most: int = 8) -> list[str]:
    """Returns the names that have most words in common with that of a request."""
    parts = set(words(request))
    return sorted(names, key=lambda name: -len(parts & set(words(name))))[:most]


def error_arms(names: list[str]) -> list[str]:
    """Returns the response arms that report errors, among those that answer no request."""
    return [name for name in names if _reports_error(name)]


def _reports_error(name: str) -> bool:
    return (
        names_error(name)
        or any(part in name for part in _ERROR_NAMES)
        or bool(_ERROR_WORDS & set(words(name)))
    )


def is_error_word(name: str) -> bool:
    """Whether the name of an arm is a single word that reports an error, such as `error`."""
    return len(words(name)) == 1 and _reports_error(name)


def answers_requests(request: RoleMessage, response: RoleMessage) -> bool:
    """Whether at least half of the arms of a response answer requests, by their names."""
    return 2 * len(_answering(request, response)) >= len(response.arms)


def answers_all(request: RoleMessage, response: RoleMessage) -> bool:
    """Whether names show a request for each response, and a response for each request."""
    return len(_answering(request, response)) == len(response.arms) and all(
        _answer(arm, list(response.arms), least=_ASKED_ALIKE) for arm in request.arms
    )


def marks_answers(request: RoleMessage, response: RoleMessage) -> bool:
    """Whether each arm of a request has an answer whose name says so, as `open_reply` or `opened`."""
    return all(
        any(_marks_answer(words(arm.name), words(item.name)) for item in response.arms)
        for arm in request.arms
    )


def _marks_answer(request: tuple[str, ...], response: tuple[str, ...]) -> bool:
    count = len(request)
    if len(response) == count:
        differing = [pair for pair in zip(request, response) if pair[0] != pair[1]]
        return bool(differing) and all(alike(*pair) and is_past(pair[1]) for pair in differing)
    if request not in (response[:count], response[-count:]):
        return False
    rest = response[count:] if response[:count] == request else response[:-count]
    return all(word in _ANY_ANSWER - {"value"} or is_past(word) for word in rest)


def answers_any(name: str) -> bool:
    """Whether the name of a response says that it answers any request, such as `ok`."""
    return _ANY_ANSWER.issuperset(words(name))


def answers(request: Field, response: Field) -> bool:
    """Whether names show that a response answers a request."""
    return _similarity(request, response) >= _ASKED_ALIKE


def may_answer(request: Field, response: Field) -> bool:
    """Whether the names of a request and a response begin alike, such as `connect` and `connack`."""
    return _similarity(request, response) > 0


def _answering(request: RoleMessage, response: RoleMessage) -> list[Field]:
    """Returns the arms of a response that answer requests or report errors."""
    return [
        arm
        for arm in response.arms
        if _reports_error(arm.name)
        or WORDS["response"] & set(words(arm.name))
        or any(answers(item, arm) for item in request.arms)
    ]


def _answer(request: Field, free: list[Field], least: int = 1) -> str | None:
    """Returns the response arm whose name has most in common with a request's, or None."""
    common = {arm.name: _similarity(request, arm) for arm in free}
    most = max(common.values(), default=0)
    best = [name for name, count in common.items() if count == most]
    return best[0] if most >= least and len(best) == 1 else None


def _similarity(request: Field, response: Field) -> int:
    """Returns how well a response answers a request, by the names of arms and of their types."""
    stems = _stem(request.name), _stem(response.name)
    types = [arm.value.type_name.rpartition(".")[2] for arm in (request, response)]
    if _is_pair(*types) and _stem(types[0]) == _stem(types[1]):
        return _EQUAL
    similarity = _in_common(*stems)
    if similarity == 0 and words(types[1])[-1] in WORDS["response"]:
        # Names of arms count more than those of types.
        similarity = min(1, _common_beginning(_stem(types[0]), _stem(types[1])))
    return similarity


def _in_common(request: tuple[str, ...], response: tuple[str, ...]) -> int:
    """Returns how similar the names of a request and a response are, 0 if they are not."""
    if request == response or (*request, *response) in _EQUAL_NAMES:
        return _EQUAL
    if sorted(request) == sorted(response):
        return _SAME_WORDS
    if _all_alike(request, response):
        return _ALIKE
    if len(request) == len(response) and all(
        any(alike(one, other) for other in response) for one in request
    ):
        return _SAME_WORDS_ALIKE
    if request[0] in _QUESTIONS and request[1:]:
        if request[1:] == response:
            return _ASKED
        if _all_alike(request[1:], response):
            return _ASKED_ALIKE
    return _common_beginning(request, response)


def _all_alike(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    return len(first) == len(second) and all(map(alike, first, second))


def _common_beginning(first: tuple[str, ...], second: tuple[str, ...]) -> int:
    """Returns one more than the words that two names have in common at their beginning, or 0."""
    count = 0
    for one, other in zip(first, second):
        shorter, longer = sorted((one, other), key=len)
        # The type `ConnAck` answers `Connect`.
        if not alike(one, other) and (len(shorter) < 3 or not longer.startswith(shorter)):
            break
        count += 1
    return count + 1 if count else 0


def _is_pair(request: str, response: str) -> bool:
    """Whether the names of two types end in words for a request and for a response."""
    return words(request)[-1] in WORDS["request"] and words(response)[-1] in WORDS["response"]


def _stem(name: str) -> tuple[str, ...]:
    """Returns the words of a name without the one at its end or beginning that shows its role."""
    parts = words(name)
    if len(parts) > 1 and parts[-1] in _PAIR_WORDS:
        return parts[:-1]
    if len(parts) > 1 and parts[0] in _PAIR_WORDS:
        return parts[1:]
    return parts
