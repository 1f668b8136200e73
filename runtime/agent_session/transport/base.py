"""The interface of all transports: they carry protobuf messages of one class between two peers.

A transport is generic in its message class, which `MessageFormat` in `message_format` describes.
`session` binds the transports to `AgentSessionMessage`.
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from typing import Any, Generic, Protocol, TypeVar

from google.protobuf.message import Message

from ..errors import TransportError
from .framing import MAX_FRAME_SIZE

logger = logging.getLogger("agent_session")

M = TypeVar("M", bound=Message)
_M_contra = TypeVar("_M_contra", bound=Message, contravariant=True)
_T = TypeVar("_T", bound="Transport[Any]")


class Receiver(Protocol[_M_contra]):
    """Receives the messages of a transport.

    The transport calls these methods on its event loop; they must not block.
    """

    def message_received(self, message: _M_contra) -> None:
        """Called with each message of the peer, in order."""

    def transport_ended(self, reason: TransportError | None) -> None:
        """Called once, after the last message. The reason is None if the end was clean."""


class Transport(ABC, Generic[M]):
    """Carries protobuf messages of one class between two peers.

    Iterate over a transport to receive the peer's messages::

        async with transport:
            async for message in transport:
                ...
        if transport.reason is not None:
            ...  # the transport did not end cleanly

    Messages arrive in the order in which they were sent. Iteration ends, without raising, when
    the peer closes, when the connection fails, and when the transport is closed; `reason` says
    which. Only one task may iterate at a time. `deliver_to` is an alternative to iteration.
    """

    __slots__ = ("__weakref__",)

    @abstractmethod
    async def start(self) -> None:
        """Connects the transport, unless it is connected. May be called again after a failure.

        Raises:
            ConnectFailed: the peer cannot be reached.
            TransportClosed: the transport was closed.
        """

    @abstractmethod
    async def send(self, message: M) -> None:
        """Sends a message, and waits while the peer is slow.

        The message is sent even if this call is cancelled while it waits.

        Raises:
            TransportClosed: the transport has ended, or ends while this call waits.
            NotStarted: the transport is not connected yet.
            FrameTooLarge: the message is over the size limit. The transport stays usable.
            UnencodableMessage: the message cannot be encoded. The transport stays usable.
        """

    @abstractmethod
    def send_nowait(self, message: M) -> int:
        """Queues a message behind those already sent, without waiting.

        If the queue is full, the oldest droppable messages are dropped. If that does not make
        enough space, the transport is closed with a `SlowConsumer`. The message is encoded before
        this method returns, so the caller may change it afterwards.

        Returns the number of bytes that the message takes on the wire. Raises as `send` does.
        """

    @abstractmethod
    async def flush(self) -> None:
        """Waits until all messages sent so far were handed to the system. Raises as `send` does."""

    def send_end(self) -> None:
        """Tells the peer that this side neither sends nor answers any more.

        The peer's transport ends then. Transports that end for both sides when one closes need not
        override this.
        """

    @abstractmethod
    async def close(self, timeout: float | None = None) -> None:
        """Sends the queued messages, then disconnects. May be called at any time, more than once.

        Args:
            timeout: seconds after which the connection is aborted, even if messages are still
                queued; None for the transport's own timeout.
        """

    def awaits_response(self, request_id: str) -> bool:
        """Reports whether the peer that sent a request may still be there for its response."""
        return True

    @property
    def max_message_size(self) -> int:
        """The size limit of a message, in bytes."""
        return MAX_FRAME_SIZE

    @property
    @abstractmethod
    def closed(self) -> bool:
        """Whether sends are refused because the transport has ended or is ending."""

    @property
    @abstractmethod
    def reason(self) -> TransportError | None:
        """Why the transport ended; None while it is open, after a clean EOF, and after `close`."""

    @abstractmethod
    async def __anext__(self) -> M:
        """Returns the next message of the peer."""

    def __aiter__(self: _T) -> _T:
        return self

    def deliver_to(self, receiver: Receiver[M]) -> asyncio.Task[None] | None:
        """Passes messages to a receiver as they arrive. An alternative to iteration.

        Messages that the receiver sends while it handles a message are written together.
        Exceptions of the receiver are logged. Returns the task that delivers the messages, or
        None if the transport needs no task.
        """
        return asyncio.ensure_future(self._deliver_all(receiver))

    async def _deliver_all(self, receiver: Receiver[M]) -> None:
        async for message in self:
            deliver(receiver, message)
        receiver.transport_ended(self.reason)

    async def __aenter__(self: _T) -> _T:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def deliver(receiver: Receiver[M], message: M) -> None:
    """Passes a message to a receiver. An exception of the receiver is logged, not raised."""
    try:
        receiver.message_received(message)
    except (Exception, asyncio.CancelledError):
        logger.exception("a receiver failed on a message")
