"""A `RemoteSession` that reports each event, and how the session ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from agent_session_protocol import agent_session_pb2 as pb

from ..driver.outcome import Outcome
from ..driver.session import RemoteSession
from ..driver.events import ReceivedEvent
from ..transport.session import SessionTransport
from .report import Report
from .screen import OutputLost


class ShownSession(RemoteSession):
    """A `RemoteSession` whose events are reported as they come.

    Args:
        transport: the way to the agent.
        report: where events go.
        then: is called with each event once it is shown.
    """

    def __init__(
        self, transport: SessionTransport, report: Report, then: Callable[[ReceivedEvent], None]
    ) -> None:
        super().__init__(transport)
        self._report = report
        self._then = then
        self._unshown: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def deliver(self, event: pb.AgentSessionEvent) -> None:
        super().deliver(event)
        # Not at once: whoever waits for an answer wakes up one tick behind it, and what came first
        # is to be shown first.
        asyncio.get_running_loop().call_soon(self._show, ReceivedEvent.of(event))

    def _show(self, received: ReceivedEvent) -> None:
        try:
            self._report.event(received)
        except OutputLost as error:
            if not self._unshown.done():
                self._unshown.set_exception(error)
        else:
            self._then(received)

    async def shown(self) -> Outcome:
        """Wait for the end, and until the last event is shown; return how it ended.

        Raises:
            OutputLost: an event cannot be shown.
        """
        ending = asyncio.ensure_future(self.wait_ended())
        try:
            either: list[asyncio.Future[Any]] = [ending, self._unshown]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ending.cancel()
        if self._unshown.done():
            self._unshown.result()
        await asyncio.sleep(0)  # the tick of the last event
        return ending.result()


def tells_state(received: ReceivedEvent, state: pb.AgentState.ValueType) -> bool:
    """Whether an event says that this is what the agent does now."""
    change = received.event.agent_state_changed
    return received.arm == "agent_state_changed" and change.new_state == state
