"""A short run of `fuzz_host.py`."""

from __future__ import annotations

import fuzz_host
import pytest


@pytest.mark.parametrize("seed", [0, 1])
def test_damaged_frames_do_only_what_is_documented(seed: int) -> None:
    fuzz_host.fuzz(4_000, seed)
