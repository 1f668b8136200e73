"""Iteration over the events of a session.

The bytes of unread events are bounded. A reader that is too slow receives `EventsMissed` at the
place of the missing events.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Final

from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.dispatch import AGENT_SESSION_EVENT_ARMS, AgentSessionEventArm
from agent_session_protocol.values import unknown_field

from .errors import EventsMissed

DEFAULT_EVENT_QUEUE: Final = 8 << 20

# The memory of a small event beyond its bytes on the wire.
_EVENT_OVERHEAD: Final = 512


@dataclass(frozen=True)
class ReceivedEvent:
    """An event of the host.

    Attributes:
        arm: the name of its arm; None if this build does not know it.
        number: the field number of the arm, known or not; None if no arm is set.
        event: the message, with its `created_at`.
    """

    arm: AgentSessionEventArm | None
    number: int | None
    event: pb.AgentSessionEvent

    @classmethod
    def of(cls, event: pb.AgentSessionEvent) -> ReceivedEvent:
        """Returns the event with its arm and field number."""
        arm = event.WhichOneof("event")
        number = unknown_field(event) if arm is None else AGENT_SESSION_EVENT_ARMS[arm].number
        return cls(arm, number, event)


class EventStream:
    """Iterates over the events that arrive after it was created. Only one task may read it.

    The iteration ends after session_closed, which is the last event of a session, or when the
    connection ends. Where events were dropped because the reader was too slow, it raises
    EventsMissed; iterating again continues after the gap. session_closed is never dropped.
    """

    __slots__ = ("__weakref__", "_limit", "_size", "_queue", "_ended", "_waiter")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        # A number is the count of events that were dropped at this place.
        self._queue: deque[ReceivedEvent | int] = deque()
        self._ended = False
        self._waiter: asyncio.Future[None] | None = None

    def __aiter__(self) -> EventStream:
        return self

    async def __anext__(self) -> ReceivedEvent:
        """Returns the next event.

        Raises:
            EventsMissed: events were dropped before it.
        """
        while not self._queue:
            if self._ended:
                raise StopAsyncIteration
            await self._wait()
        entry = self._queue.popleft()
        if isinstance(entry, int):
            raise EventsMissed(entry)
        self._size -= _memory_size(entry)
        return entry

    def put(self, received: ReceivedEvent) -> None:
        """Adds an event, or drops it if it does not fit. Only the session calls this."""
        if self._ended:
            return
        size = _memory_size(received)
        last = received.arm == "session_closed"
        if last or self._size + size <= self._limit:
            self._size += size
            self._queue.append(received)
        else:
            self._count_dropped()
        if last:
            self._ended = True
        self._wake()

    def end(self) -> None:
        """Ends the iteration after the queued events. Only the session calls this."""
        self._ended = True
        self._wake()

    def _count_dropped(self) -> None:
        if self._queue and isinstance(self._queue[-1], int):
            self._queue[-1] += 1
        else:
            self._queue.append(1)

    async def _wait(self) -> None:
        if self._waiter is not None:
            raise RuntimeError("the events already have a reader")
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _memory_size(received: ReceivedEvent) -> int:
    return _EVENT_OVERHEAD + received.event.ByteSize()
