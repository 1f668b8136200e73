"""Encodes the events of an SDK and sends them to the driver.

Events are encoded by the generated table, so that a new event of the protocol needs no edit here.
An event that cannot be sent is logged as an error, without its contents, and does not affect the
session.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from agent_session_protocol.agent_session_pb2 import AgentSessionMessage
from agent_session_protocol.dispatch import AgentSessionEventArm
from agent_session_protocol.encoders import fill_agent_session_event
from agent_session_protocol.errors import UnmappedValueError
from agent_session_protocol.events import SDK_EVENTS

from ..errors import TransportClosed, TransportError
from .adapter import SessionAdapter
from .nesting import MAX_NESTING, exceeds_nesting
from ..text_repair import encode_repaired
from ..transport.base import logger
from ..transport.session import SessionTransport

# livekit's emitters inspect the signature of a listener for each event, which takes longer than the
# encoding of the event unless the listener has `__signature__`.
_SIGNATURE: Final = inspect.Signature(
    [inspect.Parameter("source", inspect.Parameter.POSITIONAL_ONLY)]
)


class EventForwarder:
    """Sends the events of a session from `start` until `stop`.

    Args:
        session: the session that emits the events.
        transport: the transport to the driver.
    """

    def __init__(self, session: SessionAdapter, transport: SessionTransport) -> None:
        self._session = session
        self._transport = transport
        self._subscribed: list[tuple[str, Callable[[Any], None]]] = []

    def start(self) -> None:
        """Starts to send all events except session_closed, which the host sends itself."""
        for arm, name in SDK_EVENTS.items():
            if arm != "session_closed":
                listener = self._forwarder(arm)
                self._session.on(name, listener)
                self._subscribed.append((name, listener))

    def stop(self) -> None:
        """Stops sending events."""
        while self._subscribed:
            self._session.off(*self._subscribed.pop())

    def send(self, arm: AgentSessionEventArm, source: Any) -> bool:
        """Encodes and sends an event of the SDK. Returns False if it was not sent.

        Args:
            arm: the arm of the event.
            source: the object that the SDK emitted.
        """
        try:
            message = _message(arm, source)
            if arm == "debug_message" and exceeds_nesting(message.event.debug_message.payload):
                logger.error("debug_message event not sent: over %d nested levels", MAX_NESTING)
                return False
            self._transport.send_nowait(message)
            return True
        except TransportClosed:
            pass  # the end of the transport is logged elsewhere
        except (TransportError, UnmappedValueError) as error:
            logger.error("%s event not sent: %s", arm, error)
        except Exception as error:
            name = type(error).__name__
            logger.error("%s event not sent: %s in %s", arm, name, _location(error))
        return False

    def _forwarder(self, arm: AgentSessionEventArm) -> Callable[[Any], None]:
        transport = self._transport

        def forward(source: Any, /) -> None:
            try:
                message = AgentSessionMessage()
                fill_agent_session_event(arm, source, message.event)
                transport.send_nowait(message)
            except Exception:
                self.send(arm, source)  # repairs texts, or logs the error

        def check_and_forward(source: Any, /) -> None:
            self.send(arm, source)

        # `send` checks the nesting of a debug_message.
        listener = check_and_forward if arm == "debug_message" else forward
        setattr(listener, "__signature__", _SIGNATURE)
        return listener


def _message(arm: AgentSessionEventArm, source: Any) -> AgentSessionMessage:
    try:
        return _encode(arm, source)
    except ValueError:  # repaired only now, since preparing a repair takes time for each event
        return encode_repaired(partial(_encode, arm), source)


def _encode(arm: AgentSessionEventArm, source: Any) -> AgentSessionMessage:
    message = AgentSessionMessage()
    fill_agent_session_event(arm, source, message.event)
    return message


def _location(error: BaseException) -> str:
    """Returns the function and line that raised an exception.

    The text of the exception is not logged, since it may contain text of the conversation.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return (
        "an unknown place"
        if trace is None
        else f"{trace.tb_frame.f_code.co_name}:{trace.tb_lineno}"
    )
