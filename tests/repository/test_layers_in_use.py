"""Each layer of a package is used by the runtime or by an example.

TypeScript is used by one example, which imports everything from `index.js`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sessiongen.targets import registry

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("agent_session_protocol", "robot_protocol", "session_protocol")
TYPESCRIPT = ROOT / "examples" / "agents-js" / "src"
_IMPORT = re.compile(r"^import \{([^}]*)\} from '\./session_protocol/index\.js'", re.M)
_EXPORT = re.compile(
    r"^export (?:abstract |async )?(?:class|const|function|interface|type) (\w+)", re.M
)


def imported_by_python() -> Iterator[str]:
    """Yields the modules of generated packages that the runtime and the examples import."""
    for tree in ("runtime", "examples"):
        for path in (ROOT / tree).rglob("*.py"):
            if not {*PACKAGES, "node_modules"} & set(path.parts):
                yield from _imported_modules(path)


def _imported_modules(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            package, _, layer = node.module.partition(".")
            if package in PACKAGES:
                yield from [layer] if layer else [item.name for item in node.names]


def imported_by_typescript() -> Iterator[str]:
    """Yields the modules of the generated package that define what the example imports."""
    modules = {
        name: path.stem
        for path in (TYPESCRIPT / "session_protocol").glob("*.ts")
        for name in _EXPORT.findall(path.read_text(encoding="utf-8"))
    }
    for path in TYPESCRIPT.glob("*.ts"):
        for names in _IMPORT.findall(path.read_text(encoding="utf-8")):
            yield from (modules[name] for name in re.findall(r"(?:type )?(\w+),?", names))


def used_layers(language: str, imported: Iterator[str]) -> set[str]:
    """Returns the layers that are imported, and those that they need."""
    layers = registry.get(language).layers
    used: set[str] = set()
    pending = [layer for layer in imported if layer in layers]
    while pending:
        layer = pending.pop()
        if layer not in used:
            used.add(layer)
            pending += layers[layer].needs
    return used


@pytest.mark.parametrize(
    ("language", "imported"),
    [("python", imported_by_python), ("typescript", imported_by_typescript)],
)
def test_each_layer_is_used(language: str, imported: Callable[[], Iterator[str]]) -> None:
    assert used_layers(language, imported()) == set(registry.get(language).layers)
