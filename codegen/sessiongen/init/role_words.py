"""Words of names that show a role: of messages, such as RobotCommand, and of arms, such as open_req."""

from __future__ import annotations

import re

from sessiongen.init.word_forms import is_past
from sessiongen.ir.name_case import words
from sessiongen.ir.schema import Message

# Words that only distinguish a request from its response. They also begin the names of arms.
PAIR_WORDS = {
    "request": frozenset("request req command cmd query".split()),
    "response": frozenset("response resp rsp res reply answer result ack".split()),
}
# The words for each role at the end of the names of messages and arms. A `call` or an `action` may
# also be the thing that an arm is about, such as the call of a tool.
WORDS = {
    "event": frozenset(
        "event evt notification notify notice indication push update broadcast observation".split()
    ),
    "request": PAIR_WORDS["request"] | frozenset("call action instruction".split()),
    "response": PAIR_WORDS["response"] | frozenset("return acknowledgement outcome".split()),
}
# Words that name a role less clearly, as many other things are named like that.
_WEAK = frozenset("notify push update broadcast observation action instruction outcome".split())
# The words that may follow the word for the role in the name of a message.
_GENERIC = frozenset(
    "message msg envelope packet frame body payload union oneof op data wrapper container".split()
)

# The end of a name such as RequestV1.
_VERSION = re.compile(r"v?\d+")


def role_words(message: Message) -> tuple[str, ...]:
    """Returns the words of a message's name without generic ones at its end."""
    result = words(message.path[-1])
    while len(result) > 1 and (result[-1] in _GENERIC or _VERSION.fullmatch(result[-1])):
        result = result[:-1]
    return result


def has_role_name(message: Message, role: str) -> bool:
    """Whether the name of a message ends in a word for a role."""
    last = role_words(message)[-1]
    return last in WORDS[role] or any(
        # A name in lower case without separators, such as `traceevent`.
        last.endswith(word)
        for word in WORDS[role]
        if len(word) > 4 and len(role_words(message)) == 1
    )


def has_weak_name(message: Message) -> bool:
    """Whether the word for a role in the name of a message may have another meaning."""
    return role_words(message)[-1] in _WEAK


def describes_event(name: str) -> bool:
    """Whether the name of an arm says that something happened, such as `user_joined`."""
    parts = words(name)
    return parts[-1] in WORDS["event"] or any(map(is_past, parts))


def pair_key(message: Message, role: str) -> tuple[str, ...] | None:
    """Returns the words of a message's full name, with `*` for the last word for a role.

    It is equal for two messages such as FooRequest and FooResponse. None if no word is one for the role.
    """
    package = message.full_name.removesuffix(".".join(message.path))
    names = [word for part in message.path for word in (*words(part), ".")]
    for index in reversed(range(len(names))):
        if names[index] in WORDS[role]:
            return (package, *names[:index], "*", *names[index + 1 :])
    return None
