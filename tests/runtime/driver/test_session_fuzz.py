"""A RemoteSession with a host that sends random messages."""

from __future__ import annotations

import random

import fuzz_driver
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transport_messages import run


@pytest.mark.parametrize("seed", range(3))
def test_a_short_run_of_the_fuzz(seed: int) -> None:
    fuzz_driver.fuzz(3000, seed)


# Few messages, so that a failure shrinks to a small example. Each message is large.
@given(st.randoms(use_true_random=False), st.integers(0, 8))
@settings(
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.data_too_large, HealthCheck.too_slow],
)
def test_random_messages_of_a_host(rng: random.Random, inputs: int) -> None:
    with fuzz_driver.recorded_errors() as logged:
        run(fuzz_driver.one_session(rng, inputs))
    assert not logged
