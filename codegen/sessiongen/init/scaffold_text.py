"""The text of a new codegen.toml, and the summary that `init` prints.

For each choice that is left to the user, the text has a commented line for each option.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sessiongen.init.answer_proposals import AnswerProposal
from sessiongen.config.model import ARM_PATTERNS, ROLES
from sessiongen.init.proposals import Proposal
from sessiongen.ir.role_inference import Search
from sessiongen.ir.roles import ABSENT, absence


def quoted(text: str) -> str:
    """Returns a TOML string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda char: f"\\u{ord(char[0]):04x}", escaped) + '"'


def summary(result: Search) -> list[str]:
    """Returns the roles, a line for each."""
    named = dict(result.named())
    lines = []
    for role in ROLES:
        if role in result.open:
            lines.append(f"{role}: ?  ({', '.join(result.open[role]) or 'no message fits'})")
        elif role in named and _has_message(role, result):
            lines.append(f"{role}: {named[role]}{absence(role, named[role])}")
    for label, role in (("requests", "request"), ("events", "event")):
        message = result.messages.get(role)
        if message is not None and message.present:
            lines.append(f"{label}: {len(message.arms)}")
    return lines


# The roles of the messages that contain the field of a role.
_MESSAGES = {"correlation": "response", "error": "response", "timestamp": "event"}


def _has_message(role: str, result: Search) -> bool:
    """Whether the protocol has the message that a role needs."""
    message = result.messages.get(_MESSAGES.get(role, ""))
    return message is None or message.present


def text(input_lines: list[str], output_lines: list[str], proposal: Proposal) -> str:
    """Returns the text of a codegen.toml with these lines in its input and output tables."""
    names, open_ = proposal.roles.names, proposal.roles.open
    parts = [
        ["[input]", *input_lines],
        ["[[output]]", *output_lines],
        [
            "# Found by names and shapes; check the lines.",
            "[roles]",
            *(f"{role} = {_value(names[role])}" for role in _KEYS if role in names),
        ],
        *(list(_choice(role, open_[role])) for role in ROLES if role in open_),
    ]
    if proposal.errors and "error" not in open_:
        parts.append(list(_error(proposal.errors)))
    if proposal.unasked:
        parts.append(list(_free_responses(proposal.unasked, "error" in names)))
    if proposal.uncorrelated:
        parts.append(list(_no_correlation(proposal.uncorrelated)))
    parts += _annotations(proposal)
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


_KEYS = (*ROLES, *ARM_PATTERNS)


def _value(names: tuple[str, ...]) -> str:
    if not names:
        return "false"
    if len(names) == 1:
        return quoted(names[0])
    return _list(names)


def _list(names: tuple[str, ...]) -> str:
    return f"[{', '.join(map(quoted, names))}]"


def _choice(role: str, names: tuple[str, ...]) -> Iterator[str]:
    """Yields a commented line for each candidate."""
    if names:
        yield f'# The {role} is not clear: remove the "# " of the right line.'
    else:
        yield f"# No message can be the {role}. If the protocol has no {role}s:"
    yield from (f"# {role} = {quoted(name)}" for name in names)
    yield f"# {role} = false"


def _error(names: tuple[str, ...]) -> Iterator[str]:
    yield f"# Error: {ABSENT['error']}. If one of these fields is the error text:"
    yield from (f"# error = {quoted(name)}" for name in names)
    yield "# error = false"


def _free_responses(names: tuple[str, ...], listed: bool) -> Iterator[str]:
    if listed:
        yield f"# Response arms that answer no request: {', '.join(names)}."
        yield "# Add those that report errors to the list `error` above."
    else:
        yield "# Response arms that answer no request. If they report errors:"
        yield f"# error = {_list(names)}"


def _no_correlation(reason: str) -> Iterator[str]:
    yield f"# Correlation: {reason}. If that is right:"
    yield "# correlation = false"


def _annotations(proposal: Proposal) -> Iterator[list[str]]:
    """Yields the parts of the annotations: lines of requests, and of arms that answer none."""
    unused = proposal.unasked if proposal.response else ()
    if proposal.answers:
        yield from _answers(proposal.answers)
    elif unused:
        yield ["[annotations]"]
    if unused:
        yield [
            '# Response arms that are not needed: remove the "# " of their lines.',
            *(f'# {quoted(f"{proposal.response}.{name}")}.role = false' for name in unused),
        ]


def _answers(answers: tuple[AnswerProposal, ...]) -> Iterator[list[str]]:
    """Yields a part with the known responses, and one with lines to choose from per request."""
    known = [item for item in answers if item.answer is not None]
    yield [
        "# The responses of requests without a response of the same name.",
        "[annotations]",
        *(f"{quoted(item.request)}.response = {quoted(item.answer or '')}" for item in known),
    ]
    for item in answers:
        if item.answer is None:
            key = f"{quoted(item.request)}.response"
            yield [
                '# Remove the "# " of the right line.',
                *(f"# {key} = {quoted(name)}" for name in item.choices),
                f"# {key} = false",
            ]
