"""The output languages."""

from __future__ import annotations

from sessiongen.targets.base import Target
from sessiongen.targets.python.target import PythonTarget
from sessiongen.targets.typescript.target import TypeScriptTarget
from sessiongen.targets.vectors.target import VectorsTarget

# One line for each language; `init` writes a configuration for the first.
_TARGETS: list[Target] = [
    PythonTarget(),
    TypeScriptTarget(),
    VectorsTarget(),
]


def find(language: str) -> Target | None:
    """Returns the target of a language, or None."""
    return next((item for item in _TARGETS if item.language == language), None)


def get(language: str) -> Target:
    """Returns the target of a language that a checked configuration names."""
    return next(item for item in _TARGETS if item.language == language)


def default() -> Target:
    """Returns the target for new configurations."""
    return _TARGETS[0]


def languages() -> list[str]:
    """Returns the names of the languages."""
    return [item.language for item in _TARGETS]


def register(target: Target) -> None:
    """Adds a language."""
    _TARGETS.append(target)


def unregister(language: str) -> None:
    """Removes a language."""
    _TARGETS[:] = [item for item in _TARGETS if item.language != language]
