"""The text of a new codegen.toml, and the summary that `init` prints.

Where the protocol leaves a choice, the text has a commented line for each option.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sessiongen.config.model import ROLES
from sessiongen.ir.role_inference import Search
from sessiongen.ir.roles import ABSENT, absence, error_candidates


@dataclass(frozen=True)
class Unanswered:
    """Requests without an answer, by their full names, and the response arms that are free."""

    requests: list[str]
    free: list[str]


def quoted(text: str) -> str:
    """Return a TOML string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda char: f"\\u{ord(char[0]):04x}", escaped) + '"'


def summary(found: Search) -> list[str]:
    """Return what was found, a line for each role."""
    named = dict(found.named())
    lines = []
    for role in ROLES:
        if role in found.open:
            lines.append(f"{role}: ?  ({', '.join(found.open[role]) or 'no message fits'})")
        elif role in named:
            lines.append(f"{role}: {named[role]}{absence(role, named[role])}")
    for label, role in (("requests", "request"), ("events", "event")):
        message = found.messages.get(role)
        if message is not None:
            lines.append(f"{label}: {len(message.arms)}")
    return lines


def text(
    input_lines: list[str],
    output_lines: list[str],
    found: Search,
    unanswered: Unanswered | None,
) -> str:
    """Return the text of a codegen.toml with these lines in its input and output tables."""
    # A role that nothing plays stays open: the protocol may gain it.
    named = [f"{role} = {quoted(name)}" for role, name in found.named() if name != "-"]
    parts = [
        ["[input]", *input_lines],
        ["[[output]]", *output_lines],
        [
            "# Found by shape; a line may be left out where the shape is unmistakable.",
            "[roles]",
            *named,
        ],
        *(list(_choice(role, names)) for role, names in found.open.items()),
        *([list(_error(candidates))] if (candidates := _error_candidates(found)) else []),
        *([list(_no_correlation())] if found.fields.get("correlation", "") is None else []),
        *([list(_answers(unanswered))] if unanswered else []),
    ]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _choice(role: str, names: tuple[str, ...]) -> Iterator[str]:
    """Yield lines of which a person takes one."""
    if names:
        yield f'# The {role} does not show by shape: take the "# " off the line that is right.'
    else:
        yield f"# No message can be the {role}. If the protocol has none:"
    yield from (f"# {role} = {quoted(name)}" for name in names)
    yield f"# {role} = false"


def _error_candidates(found: Search) -> list[str]:
    """Return the strings that may be the error text, if none was found."""
    request, response = found.messages.get("request"), found.messages.get("response")
    if request is None or response is None or found.fields.get("error", "") is not None:
        return []
    return [item.name for item in error_candidates(request, response)]


def _error(names: list[str]) -> Iterator[str]:
    yield f"# Error: {ABSENT['error']}. If one of these is the text:"
    yield from (f"# error = {quoted(name)}" for name in names)
    yield "# error = false"


def _no_correlation() -> Iterator[str]:
    yield f"# Correlation: {ABSENT['correlation']}. If that is meant:"
    yield "# correlation = false"


def _answers(unanswered: Unanswered) -> Iterator[str]:
    yield "# No response arm has the name of these requests: name the one that answers."
    if unanswered.free:
        yield f"# Response arms that answer none yet: {', '.join(unanswered.free)}."
    for name in unanswered.requests:
        yield f"# [annotations.{quoted(name)}]"
        yield '# response = "..."'
