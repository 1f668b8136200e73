"""Conversion of names between CamelCase and snake_case, and flat names of nested definitions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_CAPITAL = re.compile(r"(?=[A-Z])")
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def snake(name: str) -> str:
    """Returns a CamelCase name in snake_case: `TCPStreamUsage` gives `tcp_stream_usage`."""
    return _WORD.sub("_", name).lower()


def words(name: str) -> tuple[str, ...]:
    """Returns the words of a name in CamelCase or snake_case, in lower case, at least one."""
    return tuple(word for word in snake(name).split("_") if word) or (name,)


def flat_names(paths: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Returns a flat CamelCase name for each path of nested names, by full name.

    `Content.Status` becomes `ContentStatus`. If there is a top-level `ContentStatus`, the
    nested one becomes `Content__Status`. Equal paths in several proto packages start with the
    package, and have underscores before capitals if they are still equal. The names also
    differ in snake_case.
    """
    names = {full: "".join(path) for full, path in paths.items()}
    forms: tuple[Callable[[str], str], ...] = (
        lambda full: "__".join(paths[full]),
        lambda full: full.replace(".", "_"),
        lambda full: _CAPITAL.sub("__", full.replace(".", "_")),
    )
    for form in forms:
        names_by_form: dict[str, list[str]] = {}
        for full, name in names.items():
            names_by_form.setdefault(snake(name), []).append(full)
        for group in names_by_form.values():
            if len(group) > 1:
                names.update({full: form(full) for full in group})
    return names
