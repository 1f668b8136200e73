"""Reads which fields of a request a Python host uses.

Fields are paths below the arm, such as `input.audio_enabled`. A field that is only tested for
presence does not count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from sessiongen.vocabulary.ordering import longest
from sessiongen.vocabulary.python.literals import dotted


def read_fields(arm: str, body: Iterable[ast.stmt]) -> tuple[str, ...]:
    """Returns the paths that are read of `x.arm`, or of a variable that holds it."""
    roots = {arm}
    paths: set[str] = set()
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Assign) and _below(node.value, {arm}) == "":
                roots |= {f"={item.id}" for item in node.targets if isinstance(item, ast.Name)}
    for statement in body:
        called = {id(node.func) for node in ast.walk(statement) if isinstance(node, ast.Call)}
        for node in ast.walk(statement):
            if isinstance(node, ast.Attribute) and id(node) not in called:
                path = _below(node, roots)
                if path:
                    paths.add(path)
    return tuple(sorted(longest(paths)))


def _below(node: ast.expr, roots: set[str]) -> str | None:
    """Returns the path after a root, empty for the root itself, None for anything else."""
    head, *rest = (dotted(node) or "").split(".")
    if f"={head}" in roots:
        return ".".join(rest)
    if rest and rest[0] in roots:
        return ".".join(rest[1:])
    return None
