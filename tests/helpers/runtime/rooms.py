"""Rooms for tests: of the stand-in, and of a real LiveKit server if there is one.

A test with the fixture `venue` runs once with each. Its module must import `address` as well.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, TypeAlias

import pytest
from livekit_server import LiveRoom, live_room, live_server, missing, run_live
from room_stand_in import StandIn, stand_in
from transport_messages import run

Place: TypeAlias = StandIn | LiveRoom
Main: TypeAlias = Callable[[Place], Coroutine[Any, Any, None]]


@dataclass
class Venue:
    """Runs a test in a new room.

    Attributes:
        enter: creates the room.
        runner: runs a coroutine in an event loop of its own.
    """

    enter: Callable[[], AbstractAsyncContextManager[Place]]
    runner: Callable[[Coroutine[Any, Any, None]], None]

    def run(self, main: Main) -> None:
        async def entered() -> None:
            async with self.enter() as place:
                await main(place)

        self.runner(entered())


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real server, which runs for the tests of one module."""
    if reason := missing():
        pytest.skip(reason)
    with live_server(tmp_path_factory.mktemp("livekit")) as server:
        yield server.address


@pytest.fixture(
    params=["stand-in", pytest.param("livekit-server", marks=pytest.mark.livekit_server)]
)
def venue(request: pytest.FixtureRequest) -> Venue:
    if request.param == "stand-in":
        return Venue(stand_in, run)
    address = request.getfixturevalue("address")
    return Venue(lambda: live_room(address), run_live)
