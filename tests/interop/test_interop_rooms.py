"""Each host with each driver in rooms of a real server: the tests of `test_interop_matrix.py`."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest
from interop_peers import RoomAccess
from livekit_server import join_token, missing
from rooms import address
from test_interop_matrix import *

if reason := missing():
    pytest.skip(reason, allow_module_level=True)

__all__ = ["address"]  # a fixture

pytestmark = pytest.mark.livekit_server


@pytest.fixture(scope="module")
def new_room(address: str) -> Callable[[], RoomAccess]:
    def create() -> RoomAccess:
        room = uuid.uuid4().hex
        return RoomAccess(f"ws://{address}", join_token(room, "agent"), join_token(room, "driver"))

    return create
