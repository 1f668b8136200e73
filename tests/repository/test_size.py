"""The sizes of functions and modules of the generator and the runtime."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULES = [path for tree in ("codegen", "runtime") for path in (ROOT / tree).rglob("*.py")]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def function_sizes() -> list[tuple[int, str]]:
    """Returns the lines of each function, with its place."""
    return sorted(
        (node.end_lineno - node.lineno + 1, f"{path.relative_to(ROOT)}:{node.lineno} {node.name}")
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, FUNCTIONS) and node.end_lineno is not None
    )


def test_functions_are_small() -> None:
    sizes = function_sizes()
    assert len(sizes) > 1000
    assert sizes[len(sizes) // 2][0] <= 8
    assert sizes[len(sizes) * 9 // 10][0] <= 20
    assert sizes[-1][0] <= 60, sizes[-1]


def test_modules_are_small() -> None:
    lines = {path: path.read_text(encoding="utf-8").count("\n") for path in MODULES}
    assert [str(path) for path, count in lines.items() if count > 400] == []
