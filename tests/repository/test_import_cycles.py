"""Tests that the imports of the generator and of the runtime have no cycles."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
Graph = dict[str, set[str]]


def modules(folder: Path) -> dict[str, Path]:
    """Returns the files of a package by the names of their modules."""
    names = {}
    for path in folder.rglob("*.py"):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


def imports(name: str, path: Path, known: set[str]) -> Iterator[str]:
    """Yields the known modules that a module imports, in functions as well."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (item.name for item in node.names if item.name in known)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                outer = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*outer, *([node.module] if node.module else [])])
            for item in node.names:
                full = f"{base}.{item.name}"
                if full in known or base in known:
                    yield full if full in known else base


def graph(folder: Path) -> Graph:
    files = modules(folder)
    return {
        name: set(imports(name, path, set(files))) - {name} for name, path in sorted(files.items())
    }


def cycle(graph: Graph) -> list[str]:
    """Returns the modules of one cycle, [] if there is none."""
    finished: set[str] = set()

    def search(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name not in finished:
            for needed in sorted(graph[name]):
                if result := search(needed, [*path, name]):
                    return result
            finished.add(name)
        return []

    return next((result for name in graph if (result := search(name, []))), [])


@pytest.mark.parametrize("folder", ["codegen/sessiongen", "runtime/agent_session"])
def test_imports_have_no_cycle(folder: str) -> None:
    assert cycle(graph(ROOT / folder)) == []


def test_cycles_are_found() -> None:
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert cycle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []
