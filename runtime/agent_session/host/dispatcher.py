"""Dispatches the requests of a driver to a handler and sends one response to each.

Requests whose handlers do not wait are answered without a task, in the same iteration of the
event loop.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections import Counter
from collections.abc import Coroutine
from typing import Any, Final

from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol import encoders, responses
from agent_session_protocol.requests import answer

from ..errors import FrameTooLarge, TransportClosed, UnencodableMessage
from .handlers import HostRequestHandler, too_large
from .finalize_hold import FinalizeHold
from .waiting_requests import WaitingRequests
from ..transport.pacer import Pacer
from ..transport.base import logger
from ..transport.session import SessionTransport

# How long a handler may take to end once it is cancelled, in seconds.
_CANCEL_TIMEOUT: Final = 0.25

# How many characters of ids one pong takes before it is replaced. The memory of a string that was
# replaced in a message is freed with the message.
_PONG_CHARACTERS: Final = 1 << 14

_SEND_ERRORS: Final = (TransportClosed, FrameTooLarge, UnencodableMessage)

_NO_ID: Final = "a request needs a request_id"
_BAD_ID: Final = "another request with this request_id is in flight"
_CANCELLED: Final = "the request was cancelled"
_CLOSING: Final = "the host is closing"


class RequestDispatcher:
    """Sends exactly one response to each request.

    Up to `max_in_flight` requests are handled at a time. Further ones wait, up to
    `max_waiting_bytes`; beyond that they are refused as "busy". Requests whose handlers never wait
    are answered at once in any case.

    Args:
        handler: handles the requests.
        transport: carries the responses.
        hold: is notified of finalize_simulation, and of runs after the session has closed.
        max_in_flight: how many requests are handled at a time.
        max_waiting_bytes: how many bytes of requests may wait.

    Attributes:
        session_ended: whether the session has closed. Runs are then not answered.
    """

    def __init__(
        self,
        handler: HostRequestHandler,
        transport: SessionTransport,
        hold: FinalizeHold,
        max_in_flight: int,
        max_waiting_bytes: int,
    ) -> None:
        self.session_ended = False
        self._handler = handler
        self._transport = transport
        self._hold = hold
        self._max_in_flight = max_in_flight
        self._stopped = False
        self._in_flight: dict[str, asyncio.Task[None]] = {}
        self._waiting = WaitingRequests(max_waiting_bytes)
        self._waiting_ids = self._waiting.ids  # looked up for each request
        self._pacer = Pacer(transport)
        self._context = contextvars.copy_context()
        # One message serves for many pongs, since transports encode a message before they return.
        self._pong = pb.AgentSessionMessage()
        self._pong_response = self._pong.response
        self._pong_characters = 0

    def start(self) -> None:
        """Copies the context of the caller, such as the current job, for the handlers."""
        self._context = contextvars.copy_context()

    def dispatch(self, request: pb.SessionRequest, request_id: str) -> None:
        """Handles a request, at once or in a task.

        Args:
            request: the request.
            request_id: its `request_id`, which the caller has read to recognise the request.
        """
        if not request_id or request_id in self._in_flight or request_id in self._waiting_ids:
            self._refuse(request_id, _BAD_ID if request_id else _NO_ID)
        elif request.HasField("ping"):
            self._pong_characters -= len(request_id)
            if self._pong_characters < 0:
                self._renew_pong()
            self._pong_response.request_id = request_id
            try:  # as in `_send`, without its call
                self._transport.send_nowait(self._pong)
            except _SEND_ERRORS as error:
                self._send_failed(error, request_id)
        else:
            self._dispatch(request, request.WhichOneof("request"))

    def _renew_pong(self) -> None:
        self._pong = pb.AgentSessionMessage()
        self._pong_response = self._pong.response
        encoders.fill_pong(responses.Pong(), self._pong_response.pong)
        self._pong_characters = _PONG_CHARACTERS

    def stop(self) -> None:
        """Refuses new requests."""
        self._stopped = True

    def cancel(self) -> None:
        """Cancels all requests, and refuses new ones."""
        self._stopped = True
        while self._waiting:
            request = self._waiting.take()
            self._refuse(request.request_id, _CLOSING)
            if request.HasField("finalize_simulation"):
                self._hold.finalize_answered()
        for task in self._in_flight.values():
            task.cancel()

    async def drain(self, timeout: float) -> None:
        """Waits until all requests are answered. Cancels those that are not answered in time.

        A request that is cancelled gets an error response. A handler that does not end after its
        cancellation is abandoned. Requests whose senders have left are cancelled at once.

        Args:
            timeout: how long the handlers may take, in seconds.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout
        # In a loop, since waiting requests start as others end.
        while (awaited := self._awaited()) and (remaining := deadline - loop.time()) > 0:
            await asyncio.wait(awaited, timeout=remaining)
        if self._in_flight:
            await self._cancel_late()
        await self._pacer.close()

    def _awaited(self) -> list[asyncio.Task[None]]:
        """Returns the tasks of requests whose responses may be awaited, or that others wait for."""
        return [
            task
            for request_id, task in self._in_flight.items()
            if self._waiting or self._transport.awaits_response(request_id)
        ]

    async def _cancel_late(self) -> None:
        if not self._transport.closed and self._awaited():
            logger.warning("the host is closing, and cancels %s", self._describe_requests())
        self.cancel()
        await asyncio.wait(self._in_flight.values(), timeout=_CANCEL_TIMEOUT)
        if self._in_flight:
            names = self._describe_requests()
            logger.error("handlers did not end after their cancellation: %s", names)

    def _describe_requests(self) -> str:
        """Returns the names of the requests that are not answered, with their numbers."""
        names = Counter(task.get_name() for task in self._in_flight.values())
        if self._waiting:
            names["waiting"] = len(self._waiting)
        return ", ".join(f"{count} {name}" for name, count in names.items())

    def _dispatch(self, request: pb.SessionRequest, arm: str | None) -> None:
        if arm == "run_input" and self.session_ended:
            # A simulator recognises by the missing response that the agent has left.
            logger.info("a run_input after the close of the session is not answered")
            self._hold.run_arrived()
        elif arm is None:
            self._handle_immediate(request)
        elif self._stopped:
            self._refuse(request.request_id, _CLOSING)
        elif self._pacer.open and self._handler.is_immediate(arm):
            self._handle_immediate(request)
        else:
            self._handle(request, arm)

    def _handle_immediate(self, request: pb.SessionRequest) -> None:
        message = pb.AgentSessionMessage()
        self._handler.response = message.response
        try:
            _run_immediate(answer(self._handler, request, message.response))
        except asyncio.CancelledError:  # raised by a future of the session that was cancelled
            self._refuse(request.request_id, _CANCELLED)
        except Exception:
            logger.exception("the handling of a request failed")
            self._refuse(request.request_id, "internal error")
        else:
            self._respond(message)
        finally:
            self._handler.response = None

    def _handle(self, request: pb.SessionRequest, arm: str) -> None:
        if len(self._in_flight) < self._max_in_flight:
            self._start_task(request, arm)
        elif not self._waiting.put(request):
            self._refuse(request.request_id, "busy")
            return
        if arm == "finalize_simulation":
            self._hold.finalize_arrived()

    def _start_task(self, request: pb.SessionRequest, arm: str) -> None:
        loop = asyncio.get_running_loop()
        request_id = request.request_id
        task = self._context.run(loop.create_task, self._serve(request), name=arm)
        self._in_flight[request_id] = task
        task.add_done_callback(lambda task: self._task_done(request_id, arm, task))

    def _task_done(self, request_id: str, arm: str, task: asyncio.Task[None]) -> None:
        """Removes a request, and starts the next one.

        Sends an error response if the task was cancelled or has failed.
        """
        del self._in_flight[request_id]
        if task.cancelled():
            self._refuse(request_id, _CANCELLED)
        elif (error := task.exception()) is not None:
            logger.error("the handling of a request failed", exc_info=error)
            self._refuse(request_id, "internal error")
        if arm == "finalize_simulation":
            self._hold.finalize_answered()
        if self._waiting and len(self._in_flight) < self._max_in_flight:
            request = self._waiting.take()
            self._start_task(request, request.WhichOneof("request") or "")

    async def _serve(self, request: pb.SessionRequest) -> None:
        await self._pacer.wait()
        message = pb.AgentSessionMessage()
        await answer(self._handler, request, message.response)
        await self._pacer.wait()
        self._respond(message)

    def _respond(self, message: pb.AgentSessionMessage) -> None:
        self._pacer.count(self._send(message, message.response.request_id))

    def _refuse(self, request_id: str, text: str) -> None:
        message = pb.AgentSessionMessage()
        message.response.request_id = request_id
        message.response.error = text
        self._send(message, "")

    def _send(self, message: pb.AgentSessionMessage, request_id: str) -> int:
        """Sends a response. If it cannot be sent, sends an error response.

        Args:
            message: the response.
            request_id: the id for the error response; empty to send none.

        Returns the number of bytes sent.
        """
        try:
            return self._transport.send_nowait(message)
        except _SEND_ERRORS as error:
            self._send_failed(error, request_id)
            return 0

    def _send_failed(self, error: Exception, request_id: str) -> None:
        if isinstance(error, TransportClosed):
            return  # the end of the transport is logged elsewhere
        text = "internal error"
        if isinstance(error, FrameTooLarge):
            text = too_large(error.size, error.limit)
        logger.error("a response cannot be sent: %s", text)
        if request_id:
            self._refuse(request_id, text)


def _run_immediate(coroutine: Coroutine[Any, Any, object]) -> None:
    """Runs a coroutine that never waits, without a task."""
    try:
        coroutine.send(None)
    except StopIteration:
        return
    coroutine.close()
    raise RuntimeError("a handler that must not wait has waited")
