"""Dispatches the requests of a driver to a handler and sends one response to each.

Requests whose handlers do not wait are answered without a task, in the same iteration of the
event loop.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Coroutine
from typing import Any, Final

from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol import encoders, responses
from agent_session_protocol.requests import answer

from ..errors import FrameTooLarge, TransportClosed, UnencodableMessage
from .handlers import HostRequestHandler, too_large
from .finalize_hold import FinalizeHold
from ..transport.pacer import Pacer
from ..transport.base import logger
from ..transport.session import SessionTransport

# How long a handler may take to end once it is cancelled, in seconds.
_GRACE: Final = 0.25

_NO_ID: Final = "a request needs a request_id"
_BAD_ID: Final = "another request with this request_id is in flight"
_CANCELLED: Final = "the request was cancelled"


class RequestDispatcher:
    """Takes requests, and sees to it that each is answered once.

    Args:
        handler: what answers.
        transport: where responses go.
        hold: is told of finalize_simulation, and of runs that come too late.
        max_in_flight: how many requests may be handled at the same time.

    Attributes:
        session_ended: whether the session has closed: no run is answered any more.
    """

    def __init__(
        self,
        handler: HostRequestHandler,
        transport: SessionTransport,
        hold: FinalizeHold,
        max_in_flight: int,
    ) -> None:
        self.session_ended = False
        self._handler = handler
        self._transport = transport
        self._hold = hold
        self._max_in_flight = max_in_flight
        self._stopped = False
        self._in_flight: dict[str, asyncio.Task[None]] = {}
        self._pacer = Pacer(transport)
        self._context = contextvars.copy_context()
        # Transports encode a message before they return, so one is enough for all pongs.
        self._pong = pb.AgentSessionMessage()
        encoders.fill_pong(responses.Pong(), self._pong.response.pong)

    def start(self) -> None:
        """Let handlers see what the caller sees, such as the job that it runs in."""
        self._context = contextvars.copy_context()

    def take(self, request: pb.SessionRequest) -> None:
        """Answer a request, now or later."""
        request_id = request.request_id
        if not request_id or request_id in self._in_flight:
            self._refuse(request_id, _BAD_ID if request_id else _NO_ID)
        elif request.HasField("ping"):
            self._pong.response.request_id = request_id
            self._put(self._pong, request_id)
        elif self._admit(request):
            self._begin(request)

    def stop(self) -> None:
        """Handle no new requests."""
        self._stopped = True

    async def drain(self, timeout: float) -> None:
        """Wait for what is being handled; what is not done in time is cancelled, and says so.

        Args:
            timeout: how long handlers may take, in seconds. One that will not be cancelled is
                left behind shortly after.
        """
        tasks = set(self._in_flight.values())
        if tasks:
            _, tasks = await asyncio.wait(tasks, timeout=timeout)
        if tasks:
            logger.warning("%d requests are cancelled, as the host closes", len(tasks))
            for task in tasks:
                task.cancel()
            _, tasks = await asyncio.wait(tasks, timeout=_GRACE)
        if tasks:
            logger.error("%d requests are left behind: they will not be cancelled", len(tasks))
        await self._pacer.close()

    def _admit(self, request: pb.SessionRequest) -> bool:
        arm = request.WhichOneof("request")
        if arm == "run_input" and self.session_ended:
            # Silence is how a simulator learns that the agent has left.
            logger.info("a run_input that came after the session closed is left unanswered")
            self._hold.run_arrived()
            return False
        if arm is None:
            return True
        if self._stopped:
            self._refuse(request.request_id, "the host is closing")
        elif len(self._in_flight) >= self._max_in_flight:
            self._refuse(request.request_id, "busy")
        else:
            return True
        return False

    def _begin(self, request: pb.SessionRequest) -> None:
        arm = request.WhichOneof("request")
        if arm is None or (self._pacer.open and self._handler.is_brief(arm)):
            message = pb.AgentSessionMessage()
            try:
                _finish(answer(self._handler, request, message.response))
            except asyncio.CancelledError:  # of a future that the session asked: nobody waits here
                self._refuse(request.request_id, _CANCELLED)
            except Exception:
                logger.exception("a request could not be answered")
                self._refuse(request.request_id, "internal error")
            else:
                self._respond(message)
            return
        if arm == "finalize_simulation":
            self._hold.finalize_arrived()
        loop = asyncio.get_running_loop()
        request_id = request.request_id
        task = self._context.run(loop.create_task, self._serve(request))
        self._in_flight[request_id] = task
        task.add_done_callback(lambda task: self._end(request_id, arm, task))

    def _end(self, request_id: str, arm: str, task: asyncio.Task[None]) -> None:
        """A request is answered, unless its task did not get that far."""
        del self._in_flight[request_id]
        if task.cancelled():
            self._refuse(request_id, _CANCELLED)
        elif (error := task.exception()) is not None:
            logger.error("a request could not be answered", exc_info=error)
            self._refuse(request_id, "internal error")
        if arm == "finalize_simulation":
            self._hold.finalize_answered()

    async def _serve(self, request: pb.SessionRequest) -> None:
        await self._pacer.wait()
        message = pb.AgentSessionMessage()
        await answer(self._handler, request, message.response)
        await self._pacer.wait()
        self._respond(message)

    def _respond(self, message: pb.AgentSessionMessage) -> None:
        self._pacer.count(self._put(message, message.response.request_id))

    def _refuse(self, request_id: str, text: str) -> None:
        message = pb.AgentSessionMessage()
        message.response.request_id = request_id
        message.response.error = text
        self._put(message, "")

    def _put(self, message: pb.AgentSessionMessage, request_id: str) -> int:
        """Send a response; if it cannot be sent, one that says so, unless it is one itself.

        Returns how many bytes of it were sent.
        """
        try:
            return self._transport.send_nowait(message)
        except TransportClosed:
            return 0  # told where the transport's end is
        except FrameTooLarge as error:
            text = too_large(error.size)
        except UnencodableMessage:
            text = "internal error"
        logger.error("a response cannot be sent: %s", text)
        if request_id:
            self._refuse(request_id, text)
        return 0


def _finish(coroutine: Coroutine[Any, Any, object]) -> None:
    """Run a coroutine that waits for nothing, without a task."""
    try:
        coroutine.send(None)
    except StopIteration:
        return
    coroutine.close()
    raise RuntimeError("a brief handler waits for something")
