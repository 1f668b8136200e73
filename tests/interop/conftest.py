"""The conversations of all pairs; a check that no peer process and no thread is left."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import psutil
import pytest
from interop_conversation import Conversation, run_conversation
from interop_peers import KINDS, RoomAccess, skip_if_missing

PAIRS = [(host, driver) for host in KINDS for driver in KINDS]


@pytest.fixture(scope="module", autouse=True)
def nothing_is_left() -> Iterator[None]:
    threads, children = set(threading.enumerate()), set(psutil.Process().children(recursive=True))
    yield
    assert set(psutil.Process().children(recursive=True)) <= children
    assert set(threading.enumerate()) <= threads


NewRoom = Callable[[], RoomAccess]


@pytest.fixture(scope="module")
def new_room() -> NewRoom | None:
    """Creates the room of a pair; None for pairs that meet over TCP. A module may override it."""
    return None


@pytest.fixture(scope="module", params=PAIRS, ids=lambda pair: f"{pair[0]}_host-{pair[1]}_driver")
def conversation(
    request: pytest.FixtureRequest, new_room: NewRoom | None
) -> Iterator[Conversation]:
    host, driver = request.param
    skip_if_missing(host, driver)
    with run_conversation(host, driver, None if new_room is None else new_room()) as result:
        yield result
