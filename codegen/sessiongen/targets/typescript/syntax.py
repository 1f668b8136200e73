"""Checks that TypeScript is valid."""

from __future__ import annotations

import tree_sitter_typescript
from tree_sitter import Language, Node, Parser

from sessiongen.internal_errors import InvalidModule


def syntax_fault(text: str) -> InvalidModule | None:
    """Returns the first syntax error of a module; None if it is valid."""
    parser = Parser(Language(tree_sitter_typescript.language_typescript()))
    node = _first_error(parser.parse(text.encode()).root_node)
    if node is None:
        return None
    reason = f"{node.type!r} is missing" if node.is_missing else f"unexpected {_shown(node)}"
    return InvalidModule(node.start_point.row + 1, reason)


def _first_error(root: Node) -> Node | None:
    """Returns the first innermost node that is wrong or missing."""
    node = root
    while node.has_error and not node.is_missing:
        inner = next((item for item in node.children if item.has_error or item.is_missing), None)
        if inner is None:
            return node
        node = inner
    return node if node.is_missing else None


def _shown(node: Node) -> str:
    code = (node.text or b"").decode().split()
    return repr(" ".join(code)[:40]) if code else "code"
