"""Where the rooms of a test are: a stand-in, and a real LiveKit server, if there is one.

Comes in: tests that take the fixture `venue`; their modules import `address` as well. Goes out:
each of them twice, or once and a reason for the skip.
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
    """Where the rooms are."""

    enter: Callable[[], AbstractAsyncContextManager[Place]]
    runner: Callable[[Coroutine[Any, Any, None]], None]

    def run(self, main: Main) -> None:
        async def entered() -> None:
            async with self.enter() as place:
                await main(place)

        self.runner(entered())


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if reason := missing():
        pytest.skip(reason)
    with live_server(tmp_path_factory.mktemp("livekit")) as where:
        yield where


@pytest.fixture(params=["stand-in", "livekit-server"])
def venue(request: pytest.FixtureRequest) -> Venue:
    if request.param == "stand-in":
        return Venue(stand_in, run)
    where = request.getfixturevalue("address")
    return Venue(lambda: live_room(where), run_live)
