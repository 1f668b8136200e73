"""Leaves out the helpers of the layer `values` that the other layers do not use."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sessiongen.targets.typescript.imports import used_names

_NAME = re.compile(r"^(?:export )?(?:async )?(?:function|class|const|type|interface) (\w+)", re.M)


def without_unused(body: str, users: Iterable[str]) -> str:
    """Returns a module with the declarations that other modules use, and those that these need.

    body: declarations with their comments, separated by blank lines.
    users: the texts of the other modules.
    """
    declarations = {_name(text): text for text in body.strip("\n").split("\n\n")}
    used: set[str] = set()
    exported = {name for name, text in declarations.items() if "\nexport " in f"\n{text}"}
    found = set().union(*map(used_names, users)) & exported
    while found:
        used |= found
        needed = set().union(*(used_names(declarations[name]) for name in found))
        found = (needed & declarations.keys()) - used
    kept = [text for name, text in declarations.items() if name in used]
    return "\n\n".join(kept) + "\n" if kept else ""


def _name(declaration: str) -> str:
    match = _NAME.search(declaration)
    assert match is not None
    return match.group(1)
