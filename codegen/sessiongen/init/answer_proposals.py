"""Proposes which response answers a request, and which responses report errors, by their names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sessiongen.ir.roles import RoleMessage, names_error
from sessiongen.ir.schema import Field

# Words in the names of arms for requests and responses.
_REQUEST_WORDS = frozenset({"request", "req", "command", "query"})
_RESPONSE_WORDS = frozenset({"response", "resp", "reply", "answer", "result"})
# Other words for errors of a peer.
_ERROR_NAMES = ("unimplemented", "throttle", "denied", "reject", "abort", "refuse", "invalid")


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
    request: RoleMessage, requests: list[Field], free: list[str], response: RoleMessage
) -> list[AnswerProposal]:
    """Returns a proposal for each request that is not answered.

    requests: the arms that are not answered.
    free: the response arms that answer no request.
    """
    names = [arm.name for arm in response.arms]
    return [
        AnswerProposal(
            f"{request.full_name}.{arm.name}",
            _answer(arm.name, free),
            tuple(free or _similar(arm.name, names)),
        )
        for arm in requests
    ]


def _similar(request: str, names: list[str], most: int = 8) -> list[str]:
    """Returns the names that have most words in common with that of a request."""
    words = set(_words(request))
    return sorted(names, key=lambda name: -len(words & set(_words(name))))[:most]


def error_arms(free: list[str]) -> list[str]:
    """Returns the response arms that report errors, among those that answer no request."""
    return [
        name for name in free if names_error(name) or any(part in name for part in _ERROR_NAMES)
    ]


def answers_requests(request: RoleMessage, response: RoleMessage) -> bool:
    """Whether at least half of the arms of a response answer requests, by their names."""
    names = {arm.name for arm in request.arms}
    stems = {_stem(name) for name in names}
    errors = error_arms([arm.name for arm in response.arms])
    answers = [
        arm
        for arm in response.arms
        if arm.name in names
        or arm.name in errors
        or _stem(arm.name) in stems
        or _RESPONSE_WORDS & set(_words(arm.name))
    ]
    return 2 * len(answers) >= len(response.arms)


def _answer(request: str, free: list[str]) -> str | None:
    """Returns the response arm whose name has most in common with a request's, or None."""
    if _stem(request) == ("ping",) and "pong" in free:
        return "pong"
    common = {name: _in_common(_stem(request), _stem(name)) for name in free}
    best = [name for name, count in common.items() if count and count == max(common.values())]
    return best[0] if len(best) == 1 else None


def _in_common(first: tuple[str, ...], second: tuple[str, ...]) -> int:
    """Returns how many words two names have in common at their beginning; more if they are equal."""
    count = 0
    for one, other in zip(first, second):
        # `signed` answers `sign`.
        shorter, longer = sorted((one, other), key=len)
        if one != other and (len(shorter) < 3 or not longer.startswith(shorter)):
            break
        count += 1
    return count + 100 if count and first == second else count


def _stem(name: str) -> tuple[str, ...]:
    """Returns the words of a name without those for requests and responses."""
    return tuple(word for word in _words(name) if word not in _REQUEST_WORDS | _RESPONSE_WORDS)


def _words(name: str) -> Iterator[str]:
    return (word.lower() for word in re.split(r"_|(?<=[a-z])(?=[A-Z])", name) if word)
