"""Proposes how requests, responses and events divide the arms of one message, as old protocols do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sessiongen.init.answer_proposals import answers, answers_any, may_answer
from sessiongen.init.role_words import PAIR_WORDS, has_role_name
from sessiongen.ir.name_case import words
from sessiongen.ir.roles import RoleMessage
from sessiongen.ir.schema import Field

# Pairs of names that have no such word.
_PLAIN_PAIRS = {"ping": "pong"}


@dataclass(frozen=True)
class Division:
    """The arms of each role.

    requests, responses: the values of these keys in [roles], patterns or names.
    events: whether other arms remain.
    """

    requests: tuple[str, ...]
    responses: tuple[str, ...]
    events: bool


def divided(message: RoleMessage) -> Division | None:
    """Returns the arms of requests and responses in a message; None if they cannot be told apart."""
    if has_role_name(message, "event"):
        return None
    for suffix in (True, False):
        division = _by_affixes(message, suffix)
        if division is not None:
            return division
    return _by_types(message)


def _by_affixes(message: RoleMessage, suffix: bool) -> Division | None:
    """Returns the arms by words at the end, or at the beginning, of their names."""
    names = [arm.name for arm in message.arms]
    affixes = {
        role: {
            name: parts
            for name in names
            if (parts := _parts(name, suffix)) and parts[1] in PAIR_WORDS[role]
        }
        for role in PAIR_WORDS
    }
    requests, responses = affixes["request"], affixes["response"]
    answered = {words(stem) for stem, _, _ in responses.values()}
    plain = [name for name in names if name not in requests and words(name) in answered]
    paired = [name for name, (stem, _, _) in requests.items() if words(stem) in answered]
    if not responses or not (requests or plain):
        return None
    count = len(requests) + len(responses) + len(plain)
    if 2 * count < len(names) and len(paired) + len(plain) < 2:
        return None
    if not (paired or plain or _any_answered(message, requests, responses)):
        return None
    pongs = [name for name in _PLAIN_PAIRS if {name, _PLAIN_PAIRS[name]} <= set(names)]
    plain += [name for name in pongs if name not in plain]
    others = [_PLAIN_PAIRS[name] for name in pongs]
    general = [
        name for name in names if answers_any(name) and name not in (*responses, *plain, *others)
    ]
    if len(general) == 1 and len(paired) < len(requests):
        others += general
    return Division(
        (*_patterns(requests.values(), suffix), *plain),
        (*_patterns(responses.values(), suffix), *others),
        count + len(pongs) + len(others) < len(names),
    )


def _any_answered(message: RoleMessage, requests: Iterable[str], responses: Iterable[str]) -> bool:
    """Whether names show that a response of a message answers a request of it."""
    arms = {arm.name: arm for arm in message.arms}
    return any(answers(arms[one], arms[two]) for one in requests for two in responses)


def _parts(name: str, suffix: bool) -> tuple[str, str, str] | None:
    """Returns the stem of a name, its last or first word, and the text of this word in the name."""
    parts = words(name)
    if len(parts) < 2:
        return None
    word = parts[-1] if suffix else parts[0]
    length = len(word)
    text = name[-length:] if suffix else name[:length]
    if text.lower() != word:
        return None
    rest = name[:-length] if suffix else name[length:]
    if rest.strip("_") != rest:
        text = f"_{text}" if suffix else f"{text}_"
    return rest.strip("_"), word, text


def _patterns(parts: Iterable[tuple[str, str, str]], suffix: bool) -> tuple[str, ...]:
    texts = dict.fromkeys(text for _, _, text in parts)
    return tuple(f"*{text}" if suffix else f"{text}*" for text in texts)


def _by_types(message: RoleMessage) -> Division | None:
    """Returns the arms by the last words of the names of their payloads, or of their own names."""
    requests = [arm for arm in message.arms if _role_of(arm) == "request"]
    responses = [arm for arm in message.arms if _role_of(arm) == "response"]
    others = [arm for arm in message.arms if arm not in requests and arm not in responses]
    # Requests such as `connect`, which `connack` answers.
    plain = [arm for arm in others if any(may_answer(arm, item) for item in responses)]
    requests = [arm for arm in message.arms if arm in requests or arm in plain]
    count = len(requests) + len(responses)
    answered = [
        arm for arm in requests if arm in plain or any(answers(arm, item) for item in responses)
    ]
    if not answered or 2 * len(answered) < len(requests) or 2 * count < len(message.arms):
        return None
    return Division(_names(requests), _names(responses), count < len(message.arms))


def _names(arms: list[Field]) -> tuple[str, ...]:
    return tuple(arm.name for arm in arms)


def _role_of(arm: Field) -> str | None:
    for name in (arm.value.type_name.rpartition(".")[2], arm.name):
        for role, role_words in PAIR_WORDS.items():
            if words(name)[-1] in role_words:
                return role
    return None
