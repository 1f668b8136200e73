"""Encodes the events of an SDK and sends them to the driver.

Events are encoded by the generated table, so that a new event of the protocol needs no edit here.
An event that cannot be sent is logged as an error, without its contents, and does not affect the
session.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from agent_session_protocol.agent_session_pb2 import AgentSessionMessage
from agent_session_protocol.dispatch import AgentSessionEventArm
from agent_session_protocol.encoders import fill_agent_session_event
from agent_session_protocol.errors import UnmappedValueError
from agent_session_protocol.events import SDK_EVENTS
from google.protobuf.struct_pb2 import ListValue, Struct, Value

from ..errors import TransportClosed, TransportError
from .adapter import SessionAdapter
from ..text_repair import encode_repaired
from ..transport.base import logger
from ..transport.session import SessionTransport

MAX_NESTING: Final = 30
"""How deep a debug message may nest. protobuf reads 100 levels of messages, and each level of a
Struct takes three of them."""

# livekit's emitters ask a listener for its signature at each event, which takes longer than all that
# is done here unless the answer lies ready.
_SIGNATURE: Final = inspect.Signature(
    [inspect.Parameter("source", inspect.Parameter.POSITIONAL_ONLY)]
)


class EventForwarder:
    """Sends the events of a session, from `start` until `stop`.

    Args:
        session: what emits them.
        transport: where they go.
    """

    def __init__(self, session: SessionAdapter, transport: SessionTransport) -> None:
        self._session = session
        self._transport = transport
        self._subscribed: list[tuple[str, Callable[[Any], None]]] = []

    def start(self) -> None:
        """Send each event from now on, but for the last one, which is sent when its time comes."""
        for arm, name in SDK_EVENTS.items():
            if arm != "session_closed":
                listener = self._forwarder(arm)
                self._session.on(name, listener)
                self._subscribed.append((name, listener))

    def stop(self) -> None:
        """Send no more."""
        while self._subscribed:
            self._session.off(*self._subscribed.pop())

    def send(self, arm: AgentSessionEventArm, source: Any) -> bool:
        """Send the event of an arm, from what the SDK emits; False says that it is not sent."""
        try:
            message = _message(arm, source)
            if arm == "debug_message" and nests_deeper(message.event.debug_message.payload):
                logger.error("no debug_message: it nests deeper than %d levels", MAX_NESTING)
                return False
            self._transport.send_nowait(message)
            return True
        except TransportClosed:
            pass  # told where the transport's end is
        except (TransportError, UnmappedValueError) as error:
            logger.error("no %s event: %s", arm, error)
        except Exception as error:
            logger.error("no %s event: %s in %s", arm, type(error).__name__, _place(error))
        return False

    def _forwarder(self, arm: AgentSessionEventArm) -> Callable[[Any], None]:
        def forward(source: Any, /) -> None:
            self.send(arm, source)

        setattr(forward, "__signature__", _SIGNATURE)
        return forward


def _message(arm: AgentSessionEventArm, source: Any) -> AgentSessionMessage:
    def encode(source: Any) -> AgentSessionMessage:
        message = AgentSessionMessage()
        fill_agent_session_event(arm, source, message.event)
        return message

    return encode_repaired(encode, source)


def nests_deeper(payload: Struct, levels: int = MAX_NESTING) -> bool:
    """Whether a Struct has values inside of values on more levels than that."""
    layer: Sequence[Struct | ListValue] = [payload]
    while layer and levels:
        layer = [inner for outer in layer for inner in _inside(outer)]
        levels -= 1
    return bool(layer)


def _inside(outer: Struct | ListValue) -> Iterator[Struct | ListValue]:
    values: Sequence[Value] = (
        list(outer.fields.values()) if isinstance(outer, Struct) else outer.values
    )
    for value in values:
        if value.HasField("struct_value"):
            yield value.struct_value
        elif value.HasField("list_value"):
            yield value.list_value


def _place(error: BaseException) -> str:
    """Where an exception was raised. Its text may hold what was said in the session."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "nowhere" if trace is None else f"{trace.tb_frame.f_code.co_name}:{trace.tb_lineno}"
