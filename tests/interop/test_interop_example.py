"""The hosts and the drivers of the examples in place of the SDKs' own, with each other peer.

The tests are those of `test_interop_matrix.py`, for examples/agents-js and examples/livekit-agents.
The differences to the SDKs' own peers are in `interop_expected.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from interop_conversation import Conversation, run_conversation
from interop_peers import EXAMPLE, KINDS, PYTHON_EXAMPLE, skip_if_missing
from test_interop_matrix import *

PAIRS = [
    pair
    for example in (EXAMPLE, PYTHON_EXAMPLE)
    for pair in (
        (example, example),
        *((example, kind) for kind in KINDS),
        *((kind, example) for kind in KINDS),
    )
]


@pytest.fixture(scope="module", params=PAIRS, ids=lambda pair: f"{pair[0]}_host-{pair[1]}_driver")
def conversation(request: pytest.FixtureRequest) -> Iterator[Conversation]:
    host, driver = request.param
    skip_if_missing(host, driver)
    with run_conversation(host, driver) as result:
        yield result
