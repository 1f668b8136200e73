"""Words of names in different forms."""

from __future__ import annotations

import pytest
from sessiongen.init.word_forms import alike, is_past


@pytest.mark.parametrize(
    "pair",
    [
        ("move", "moved"),
        ("stop", "stopped"),
        ("start", "started"),
        ("apply", "applied"),
        ("leave", "left"),
        ("send", "sent"),
        ("user", "users"),
        ("query", "queries"),
        ("batch", "batches"),
        ("add", "added"),
        ("open", "open"),
    ],
)
def test_forms_of_one_word(pair: tuple[str, str]) -> None:
    assert alike(*pair)
    assert alike(*reversed(pair))


@pytest.mark.parametrize(
    "pair", [("move", "remove"), ("red", "r"), ("need", "ne"), ("as", "a"), ("class", "clas")]
)
def test_different_words(pair: tuple[str, str]) -> None:
    assert not alike(*pair)


def test_past_tenses() -> None:
    assert all(map(is_past, ["joined", "left", "sent", "stopped"]))
    assert not any(map(is_past, ["join", "speed", "feed", "red", "bed", "update"]))
