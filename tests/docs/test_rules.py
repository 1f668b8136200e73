"""docs/rules.md has every rule, and each of its examples raises the rule as printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pages import matches
from rule_examples import Example, examples

from sessiongen.diagnostics import Rule

EXAMPLES = examples()
# A fault of the generator itself, which no input is known to raise (test_layers.py).
WITHOUT_INPUT = {Rule.INTERNAL.value}


def test_the_page_has_every_rule_once() -> None:
    documented = [(example.rule, example.name) for example in EXAMPLES]
    assert sorted(documented) == sorted((rule.value, rule.name) for rule in Rule)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.rule)
def test_the_example_raises_the_rule(example: Example, tmp_path: Path) -> None:
    if example.rule in WITHOUT_INPUT:
        return
    results = example.outputs(tmp_path)
    assert example.rule in results[-1][2]
    for command, printed, output in results:
        assert matches(printed, output), (
            f"{command} printed:\n{output}\nthe page says:\n{printed}\n"
            "run: PYTHONPATH=tests/helpers/codegen:tests/helpers/docs "
            "python tests/helpers/docs/rule_examples.py"
        )


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.rule)
def test_the_text_names_the_severity(example: Example) -> None:
    """The text of a rule begins with "A note" or "A warning", unless the rule is an error."""
    printed = set(re.findall(rf"(\w+)\[{example.rule}\]", example.text))
    named = re.match(r"\s*A (note|warning)\b", example.text)
    severity = named[1] if named else "error"
    assert printed == {severity} or (not printed and severity == "error")


def test_each_rule_has_a_fix() -> None:
    assert [example.rule for example in EXAMPLES if "\nFix: " not in example.text] == []
