"""The queue of inbound messages, and their end.

Comes in: messages as they are decoded, then the reason for the end. Goes out: the messages, one
by one, to whoever waits for them or into a receiver; then the end, once.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

from agent_session_protocol.agent_session_pb2 import AgentSessionMessage

from ..errors import TransportError
from .base import Receiver, hand_over, logger

# What a small message weighs in memory, beyond its bytes on the wire.
_MESSAGE_OVERHEAD: Final = 512


class Inbox:
    """Messages that wait to be read.

    Attributes:
        size: about how many bytes the waiting messages take; goes down when all are read.
        ended: whether no more will come.
        reason: why not; None for a clean end.
    """

    __slots__ = ("size", "ended", "reason", "_messages", "_waiter", "_receiver")

    def __init__(self) -> None:
        self.size = 0
        self.ended = False
        self.reason: TransportError | None = None
        self._messages: deque[AgentSessionMessage] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._receiver: Receiver | None = None

    def put(self, messages: list[AgentSessionMessage], size: int) -> None:
        """Add messages that took `size` bytes on the wire."""
        if self._receiver is not None:
            self._deliver(self._receiver, messages)
        elif messages:
            self._messages.extend(messages)
            self.size += size + _MESSAGE_OVERHEAD * len(messages)
            self._wake()

    def end(self, reason: TransportError | None) -> None:
        """No more will come; the first reason stays. What waits can still be read."""
        if self.ended:
            return
        self.ended = True
        self.reason = reason
        self._wake()
        if self._receiver is not None:
            self._tell_end(self._receiver)

    def discard(self) -> None:
        """Forget what waits: its reader has closed the transport."""
        self._messages.clear()
        self.size = 0

    def take(self) -> AgentSessionMessage | None:
        """The next message, if one is there."""
        return self._messages.popleft() if self._messages else None

    async def wait(self) -> None:
        """Wait for a message, or the end."""
        if self._waiter is not None or self._receiver is not None:
            raise RuntimeError("the transport already has a reader")
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def deliver_to(self, receiver: Receiver) -> None:
        """From now on, hand over messages as they come; first those that wait."""
        if self._waiter is not None or self._receiver is not None:
            raise RuntimeError("the transport already has a reader")
        self._receiver = receiver
        messages, ended = list(self._messages), self.ended
        self.discard()
        for message in messages:
            if ended or not self.ended:  # unless the receiver has closed the transport
                hand_over(receiver, message)
        if ended:
            self._tell_end(receiver)

    def _deliver(self, receiver: Receiver, messages: list[AgentSessionMessage]) -> None:
        for message in messages:
            if self.ended:
                return  # the receiver has closed the transport
            hand_over(receiver, message)

    def _tell_end(self, receiver: Receiver) -> None:
        try:
            receiver.transport_ended(self.reason)
        except (Exception, asyncio.CancelledError):
            logger.exception("a receiver failed on the end of its transport")

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
