"""The host and the driver of examples/livekit-agents in rooms of a real server, with each other peer.

The tests are those of `test_interop_matrix.py`, each pair in a room of its own.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from interop_conversation import Conversation, run_conversation
from interop_peers import KINDS, PYTHON_EXAMPLE, RoomAccess, skip_if_missing
from livekit_server import join_token, missing
from rooms import address
from test_interop_matrix import *

if reason := missing():
    pytest.skip(reason, allow_module_level=True)

__all__ = ["address"]  # a fixture

pytestmark = pytest.mark.livekit_server

PAIRS = [
    (PYTHON_EXAMPLE, PYTHON_EXAMPLE),
    *((PYTHON_EXAMPLE, kind) for kind in KINDS),
    *((kind, PYTHON_EXAMPLE) for kind in KINDS),
]


@pytest.fixture(scope="module", params=PAIRS, ids=lambda pair: f"{pair[0]}_host-{pair[1]}_driver")
def conversation(request: pytest.FixtureRequest, address: str) -> Iterator[Conversation]:
    host, driver = request.param
    skip_if_missing(host, driver)
    room = uuid.uuid4().hex
    access = RoomAccess(f"ws://{address}", join_token(room, "agent"), join_token(room, "driver"))
    with run_conversation(host, driver, access) as result:
        yield result
