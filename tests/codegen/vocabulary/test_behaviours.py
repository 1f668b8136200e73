"""Tests the facts that a list's way into a field gives."""

from __future__ import annotations

import pytest

from sessiongen.vocabulary.behaviours import ListTrace, list_facts
from sessiongen.vocabulary.model import Place


@pytest.mark.parametrize(
    ("trace", "order", "omission"),
    [
        (ListTrace(), "order of the source", "nothing"),
        (ListTrace(orders={"sorted"}), "sorted", "nothing"),
        (ListTrace(orders={"sorted", "reversed"}), "reversed, sorted", "nothing"),
        (ListTrace(kinds={"note"}), "order of the source", "of kind note"),
        (
            ListTrace(kinds={"note"}, conditions={"item.visible"}),
            "order of the source",
            "of kind note, where not (item.visible)",
        ),
        (ListTrace(readable=False), "", ""),
        (ListTrace(orders={"sorted"}, readable=False), "sorted", ""),
    ],
)
def test_what_cannot_be_read_is_empty(trace: ListTrace, order: str, omission: str) -> None:
    facts = list(list_facts(trace, "Reply.items", "Host.answer", Place("host.py", 3)))
    assert [(item.kind, item.value) for item in facts] == [("order", order), ("omission", omission)]
