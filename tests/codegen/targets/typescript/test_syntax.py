"""The check that generated modules are valid TypeScript."""

from __future__ import annotations

import pytest

from sessiongen.targets.typescript.syntax import syntax_fault


@pytest.mark.parametrize(
    "text",
    [
        "",
        "export const a = 1;\n",
        "export interface A<T> {\n  readonly b?: (c: T) => Promise<void>;\n}\n",
        "export type A = Extract<B['c'], { case: 'd' }>;\nexport type E = `a${string}`;\n",
        "const a = b as const satisfies C;\nimport type { D } from './d.js';\n",
    ],
)
def test_a_valid_module_has_no_fault(text: str) -> None:
    assert syntax_fault(text) is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("export const a = 1;\nexport const b = = 2;\n", 2),
        ("interface A {\n  b: string;\n", 2),
        ("f(\n  { a: 1 ],\n);\n", 2),
        ("export function 1a() {}\n", 1),
        ("const a-b = 1;\n", 1),
        ("const a = 'x'y';\n", 1),
    ],
)
def test_the_fault_of_an_invalid_module_has_its_line(text: str, line: int) -> None:
    fault = syntax_fault(text)
    assert fault is not None and fault.line == line
