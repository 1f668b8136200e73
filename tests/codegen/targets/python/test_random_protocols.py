"""Random protocols generate, and their packages do what the descriptors say.

`make fuzz` checks a thousand of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import random_protocols


@pytest.mark.parametrize("seed", range(1, 7))
def test_a_random_protocol_generates(seed: int, tmp_path: Path) -> None:
    assert random_protocols.check(seed, tmp_path)


def test_random_protocols_have_what_breaks_generators() -> None:
    texts = "".join(
        text for seed in range(40) for text in random_protocols.protocol(seed).files.values()
    )
    for part in ("map<", "oneof ", "repeated ", "optional ", "enum ", "google.protobuf.Struct "):
        assert part in texts
    assert max(map(len, texts.split())) > 150
    names = (name for seed in range(40) for name in random_protocols.protocol(seed).files)
    assert max(name.count("/") for name in names) >= 4
