"""Leaves out the helpers of the layer `values` that the other layers do not use."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NAME = re.compile(r"^(?:export )?(?:async )?(?:function|class|const|type|interface) (\w+)", re.M)
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def without_unused(body: str, users: Iterable[str]) -> str:
    """Returns a module with the declarations that other modules use, and those that these need.

    body: declarations with their comments, separated by blank lines.
    users: the texts of the other modules.
    """
    declarations = {_name(text): text for text in body.strip("\n").split("\n\n")}
    used: set[str] = set()
    exported = {name for name, text in declarations.items() if "\nexport " in f"\n{text}"}
    found = set().union(*map(_words, users)) & exported
    while found:
        used |= found
        needed = set().union(*(_words(declarations[name]) for name in found))
        found = (needed & declarations.keys()) - used
    kept = [text for name, text in declarations.items() if name in used]
    return "\n\n".join(kept) + "\n" if kept else ""


def _name(declaration: str) -> str:
    match = _NAME.search(declaration)
    assert match is not None
    return match.group(1)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(_COMMENT.sub("", text)))
