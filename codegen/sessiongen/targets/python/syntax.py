"""Checks that generated Python is valid."""

from __future__ import annotations

from sessiongen.internal_errors import InvalidModule
from sessiongen.targets.python import chunks

# How many chunks are joined where a line of a docstring looked like the beginning of one.
_MAX_JOINED = 40


def syntax_fault(text: str) -> InvalidModule | None:
    """Returns what is wrong with the syntax of a module or stub; None if it is valid."""
    # In chunks, since a long module as a whole needs more memory than the rest of a run.
    if _chunks_are_valid(text):
        return None
    error = _error(text)
    return InvalidModule(error.lineno or 1, error.msg) if error else None


def _chunks_are_valid(text: str) -> bool:
    pending: list[str] = []
    for chunk in chunks.cut(text):
        if not pending and _error(chunk.source) is None:
            continue
        pending.append(chunk.text)
        if len(pending) > _MAX_JOINED:
            return False
        if _error("".join(pending)) is None:
            pending.clear()
    return not pending


def _error(text: str) -> SyntaxError | None:
    # Unlike `ast.parse`, this makes no objects of the tree, and finds repeated parameters.
    try:
        compile(text, "module", "exec", dont_inherit=True)
    except SyntaxError as error:
        return error
    return None
