"""The check that generated modules are valid Python."""

from __future__ import annotations

import pytest
from sessiongen.targets.python.syntax import syntax_fault

# Longer than the class that is cut into methods.
METHODS = "".join(f"    def method_{n}(self) -> int:\n        return {n}\n\n" for n in range(200))
CLASS = f'class Many:\n    """Many methods."""\n\n{METHODS}'


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"import os\n\n\n@staticmethod\ndef f() -> None: ...\n\n\n{CLASS}",
        # Lines of docstrings that look like definitions.
        f'"""Text:\n\ndef f(\nclass B\n"""\n\nx = 1\n{CLASS}',
        f'{CLASS}    def last(self) -> None:\n        """Text:\n\n    def f(\n    """\n',
    ],
)
def test_a_valid_module_has_no_fault(text: str) -> None:
    assert syntax_fault(text) is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = 1\ny = = 2\n", 2),
        (f"{CLASS}    def last(self) -> None:\n        return (\n", 605),
        ("def f(a: int, a: int) -> None: ...\n", 1),
        (f"{CLASS}x = 1\n\n\ndef f() -> None:\nreturn 2\n", 608),
    ],
)
def test_the_fault_of_an_invalid_module_has_its_line(text: str, line: int) -> None:
    fault = syntax_fault(text)
    assert fault is not None and fault.line == line
