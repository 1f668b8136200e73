"""Each layer of a Python package is used by the runtime or by an example."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from sessiongen.targets import registry

ROOT = Path(__file__).resolve().parents[2]
LAYERS = registry.get("python").layers
PACKAGES = ("agent_session_protocol", "robot_protocol", "session_protocol")
USERS = [
    path
    for tree in ("runtime", "examples")
    for path in (ROOT / tree).rglob("*.py")
    if not set(path.parts) & set(PACKAGES)
]


def imported_layers(path: Path) -> Iterator[str]:
    """Yield the layers that a module imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            package, _, layer = node.module.partition(".")
            if package in PACKAGES:
                yield from [layer] if layer else [item.name for item in node.names]


def used_layers() -> set[str]:
    """Return the layers that are imported, and those that they need."""
    used: set[str] = set()
    pending = [layer for path in USERS for layer in imported_layers(path) if layer in LAYERS]
    while pending:
        layer = pending.pop()
        if layer not in used:
            used.add(layer)
            pending += LAYERS[layer].needs
    return used


def test_each_layer_is_used() -> None:
    assert used_layers() == set(LAYERS)
