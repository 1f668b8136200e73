"""The text of a new codegen.toml, and the summary that `init` prints.

Where the protocol leaves a choice, the text has a commented line for each option.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sessiongen.config.model import OPTIONAL_ROLES, ROLES
from sessiongen.ir.role_inference import Search
from sessiongen.ir.roles import ABSENT, absence, error_is_guessed, union


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
            lines.append(f"{label}: {len(union(message).arms)}")
    return lines


def text(
    input_lines: list[str],
    output_lines: list[str],
    found: Search,
    unanswered: Unanswered | None,
) -> str:
    """Return the text of a codegen.toml with these lines in its input and output tables."""
    guessed = _guessed(found)
    # A role that nothing plays stays open: the protocol may gain it.
    named = [
        f"{role} = {quoted(name)}"
        for role, name in found.named()
        if name != "-" and role not in guessed
    ]
    choices = {**guessed, **found.open}
    parts = [
        ["[input]", *input_lines],
        ["[[output]]", *output_lines],
        [
            "# Found by shape; a line may be left out where the shape is unmistakable.",
            "[roles]",
            *named,
        ],
        *(list(_choice(role, names)) for role, names in choices.items()),
        *([list(_no_correlation())] if found.fields.get("correlation", "") is None else []),
        *([list(_answers(unanswered))] if unanswered else []),
    ]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _guessed(found: Search) -> dict[str, tuple[str, ...]]:
    error = found.fields.get("error")
    return {"error": (error.name,)} if error is not None and error_is_guessed(error) else {}


def _choice(role: str, names: tuple[str, ...]) -> Iterator[str]:
    """Yield lines of which a person takes one."""
    if not names:
        yield f"# No message can be the {role} yet; one whose name ends in {role.title()} will be found."
        return
    yield f'# The {role} does not show by shape: take the "# " off the line that is right.'
    yield from (f"# {role} = {quoted(name)}" for name in names)
    if role in OPTIONAL_ROLES:
        yield f"# {role} = false"


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
