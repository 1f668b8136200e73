"""The buffer of the messages that a transport has received."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final, Generic

from ..errors import TransportError
from .base import M, Receiver, deliver, logger

# The memory of a small message beyond its bytes on the wire.
_MESSAGE_OVERHEAD: Final = 512


class ReceiveBuffer(Generic[M]):
    """Holds messages until they are read, or passes them to a receiver.

    Attributes:
        size: the approximate memory of the buffered messages in bytes. The owner resets it when
            the reader has read all of them.
        ended: whether no more messages will be added.
        reason: why the transport ended; None for a clean end.
    """

    __slots__ = ("size", "ended", "reason", "_messages", "_waiter", "_receiver")

    def __init__(self) -> None:
        self.size = 0
        self.ended = False
        self.reason: TransportError | None = None
        # Made when a message has to wait, since there can be thousands of idle transports.
        self._messages: deque[M] | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._receiver: Receiver[M] | None = None

    def put(self, messages: list[M], size: int) -> None:
        """Adds messages that took `size` bytes on the wire."""
        if self._receiver is not None:
            self._deliver_all(self._receiver, messages)
        elif messages:
            if self._messages is None:
                self._messages = deque()
            self._messages.extend(messages)
            self.size += size + _MESSAGE_OVERHEAD * len(messages)
            self._wake_reader()

    def end(self, reason: TransportError | None) -> None:
        """Marks the end of the messages. Only the first call has an effect.

        Buffered messages stay readable.
        """
        if self.ended:
            return
        self.ended = True
        self.reason = reason
        self._wake_reader()
        if self._receiver is not None:
            self._deliver_end(self._receiver)

    def discard(self) -> None:
        """Drops the buffered messages."""
        self._messages = None
        self.size = 0

    def take(self) -> M | None:
        """Removes and returns the next message; None if there is none."""
        return self._messages.popleft() if self._messages else None

    async def wait(self) -> None:
        """Waits for a message or the end."""
        self._check_no_reader()
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def deliver_to(self, receiver: Receiver[M]) -> None:
        """Passes the buffered messages, and all that follow, to a receiver."""
        self._check_no_reader()
        self._receiver = receiver
        messages, ended = list(self._messages or ()), self.ended
        self.discard()
        for message in messages:
            if ended or not self.ended:  # stops when the receiver closes the transport
                deliver(receiver, message)
        if ended:
            self._deliver_end(receiver)

    def _check_no_reader(self) -> None:
        if self._waiter is not None or self._receiver is not None:
            raise RuntimeError("the transport already has a reader")

    def _deliver_all(self, receiver: Receiver[M], messages: list[M]) -> None:
        # Like `deliver`, whose call would cost time for each message.
        for message in messages:
            if self.ended:
                return  # the receiver has closed the transport
            try:
                receiver.message_received(message)
            except (Exception, asyncio.CancelledError):
                logger.exception("a receiver failed on a message")

    def _deliver_end(self, receiver: Receiver[M]) -> None:
        try:
            receiver.transport_ended(self.reason)
        except (Exception, asyncio.CancelledError):
            logger.exception("a receiver failed when its transport ended")

    def _wake_reader(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
