"""What a session needs of a transport, whatever lies under it.

Comes in: messages to send. Goes out: the peer's messages in order, by iteration or into a
receiver, and at the end the reason why there are no more.
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from typing import Protocol, TypeVar

from agent_session_protocol.agent_session_pb2 import AgentSessionMessage

from ..errors import TransportError

logger = logging.getLogger("agent_session")

_T = TypeVar("_T", bound="SessionTransport")


class Receiver(Protocol):
    """Takes what a transport delivers, on its event loop, and without blocking it."""

    def message_received(self, message: AgentSessionMessage) -> None:
        """The next message of the peer."""

    def transport_ended(self, reason: TransportError | None) -> None:
        """There will be no more messages; None says that the end was clean."""


class SessionTransport(ABC):
    """Carries the messages of one session between two peers.

    Iterate over it for the peer's messages::

        async with transport:
            async for message in transport:
                ...
        if transport.reason is not None:
            ...  # it was no clean end

    Messages arrive in the order of their sends. Iteration ends, rather than raises, when the
    peer is done, when the connection fails and when the transport is closed; `reason` then tells
    which. One at a time may iterate; `deliver_to` replaces iteration.
    """

    __slots__ = ("__weakref__",)

    @abstractmethod
    async def start(self) -> None:
        """Connect, if that is still to be done. May be called again after it failed.

        Raises:
            ConnectFailed: the peer cannot be reached.
            TransportClosed: the transport was closed.
        """

    @abstractmethod
    async def send(self, message: AgentSessionMessage) -> None:
        """Send a message; waits while the peer is slow. Being cancelled ends only the wait.

        Raises:
            TransportClosed: the transport has ended, or ends while the message waits.
            NotStarted: the transport is not connected yet.
            FrameTooLarge: the message is over the limit. The transport goes on.
            UnencodableMessage: the message cannot be encoded. The transport goes on.
        """

    @abstractmethod
    def send_nowait(self, message: AgentSessionMessage) -> int:
        """Send a message, in order with `send`, and never wait: what the peer does not read is
        queued, audio is dropped when the queue is full, oldest first, and where that does not
        help the transport is closed as one with a `SlowConsumer`. The message is encoded before
        this returns, so that the caller may change it afterwards. Returns how many bytes it takes
        on the way. Raises as `send` does."""

    @abstractmethod
    async def flush(self) -> None:
        """Wait until what was sent is on its way, however slow the peer. Raises as `send` does."""

    @abstractmethod
    async def close(self, timeout: float | None = None) -> None:
        """Send what is queued, then disconnect. May be called at any time, and more than once.

        When the timeout has passed, by default the transport's own, the connection is aborted:
        this returns soon after, whatever the peer does.
        """

    @property
    @abstractmethod
    def closed(self) -> bool:
        """Whether sends are refused, because the transport has ended or is about to."""

    @property
    @abstractmethod
    def reason(self) -> TransportError | None:
        """Why the transport ended; None while it lives, after a clean EOF, and after `close`."""

    @abstractmethod
    async def __anext__(self) -> AgentSessionMessage:
        """The peer's next message."""

    def __aiter__(self: _T) -> _T:
        return self

    def deliver_to(self, receiver: Receiver) -> asyncio.Task[None] | None:
        """Hand messages to a receiver as they come, in place of iteration.

        What a receiver sends while it takes a message leaves at once and together. An exception
        that it raises is logged. Returns the task that delivers, for transports that need one.
        """
        return asyncio.ensure_future(self._pump(receiver))

    async def _pump(self, receiver: Receiver) -> None:
        async for message in self:
            hand_over(receiver, message)
        receiver.transport_ended(self.reason)

    async def __aenter__(self: _T) -> _T:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def hand_over(receiver: Receiver, message: AgentSessionMessage) -> None:
    """Give a message to a receiver; what it raises is its own fault and hurts no transport."""
    try:
        receiver.message_received(message)
    except (Exception, asyncio.CancelledError):
        logger.exception("a receiver failed on a message")
