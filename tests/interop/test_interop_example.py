"""The host and the driver of examples/agents-js in place of the SDK's, with each other peer: the tests
of `test_interop_matrix.py`. The differences to the SDK's own are in `interop_expected.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from interop_conversation import Conversation, run_conversation
from interop_peers import EXAMPLE, KINDS, skip_if_missing
from test_interop_matrix import *

PAIRS = [
    (EXAMPLE, EXAMPLE),
    *((EXAMPLE, kind) for kind in KINDS),
    *((kind, EXAMPLE) for kind in KINDS),
]


@pytest.fixture(scope="module", params=PAIRS, ids=lambda pair: f"{pair[0]}_host-{pair[1]}_driver")
def conversation(request: pytest.FixtureRequest) -> Iterator[Conversation]:
    host, driver = request.param
    skip_if_missing(host, driver)
    with run_conversation(host, driver) as result:
        yield result
