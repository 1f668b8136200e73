"""Whatever a host sends, a RemoteSession raises only what is documented, and goes on."""

from __future__ import annotations

import random

import fuzz_remote
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transport_support import run


@pytest.mark.parametrize("seed", range(3))
def test_a_short_run_of_the_fuzz(seed: int) -> None:
    fuzz_remote.fuzz(3000, seed)


@given(st.randoms(use_true_random=False), st.integers(0, 40))
@settings(deadline=None, max_examples=50)
def test_a_host_by_chance(chance: random.Random, inputs: int) -> None:
    with fuzz_remote.loud() as logged:
        run(fuzz_remote.one_session(chance, inputs))
    assert not logged
