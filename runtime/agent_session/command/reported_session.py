"""A `RemoteSession` that reports its events and its end."""

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
from .screen import OutputClosed


class ReportedSession(RemoteSession):
    """A `RemoteSession` that reports its events.

    Args:
        transport: the transport to the agent.
        report: prints the events.
        event_reported: called with each event after it is reported.
    """

    def __init__(
        self,
        transport: SessionTransport,
        report: Report,
        event_reported: Callable[[ReceivedEvent], None],
    ) -> None:
        super().__init__(transport)
        self._report = report
        self._event_reported = event_reported
        self._report_failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def deliver(self, event: pb.AgentSessionEvent) -> None:
        super().deliver(event)
        # In the next loop iteration, since a task that waits for a response also runs one iteration
        # after it has arrived. Events and responses are then reported in the order of arrival.
        asyncio.get_running_loop().call_soon(self._report_event, ReceivedEvent.of(event))

    def _report_event(self, received: ReceivedEvent) -> None:
        try:
            self._report.event(received)
        except OutputClosed as error:
            if not self._report_failed.done():
                self._report_failed.set_exception(error)
        else:
            self._event_reported(received)

    async def wait_reported(self) -> Outcome:
        """Waits until the session has ended and all events are reported. Returns the outcome.

        Raises:
            OutputClosed: an event could not be written.
        """
        ending = asyncio.ensure_future(self.wait_ended())
        try:
            futures: list[asyncio.Future[Any]] = [ending, self._report_failed]
            await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ending.cancel()
        if self._report_failed.done():
            self._report_failed.result()
        await asyncio.sleep(0)  # until the last event is reported
        return ending.result()


def is_agent_state(received: ReceivedEvent, state: pb.AgentState.ValueType) -> bool:
    """Reports whether an event says that the agent is now in a state."""
    change = received.event.agent_state_changed
    return received.arm == "agent_state_changed" and change.new_state == state
