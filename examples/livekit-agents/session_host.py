"""The SDK's host on generated code: what it forwards and how it answers requests."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from livekit.agents import utils
from livekit.agents.log import logger
from livekit.agents.voice import remote_session
from livekit.protocol.agent_pb import agent_session as pb

from session_protocol.dispatch import AgentSessionEventArm
from session_protocol.encoders import fill_agent_session_event
from session_protocol.events import AgentSessionEventForwarders, subscribe
from session_protocol.requests import answer
from session_requests import SessionRequests

if TYPE_CHECKING:
    from livekit.agents.voice import AgentSession
    from livekit.agents.voice.amd import AMDPredictionEvent
    from livekit.agents.voice.events import EotPredictionEvent


class SessionHost(remote_session.SessionHost):
    """Sends the events of a session and answers requests.

    It inherits the lifetime of its tasks, the queue of events, and console audio.
    """

    _unsubscribe: Callable[[], None] | None = None

    def register_session(self, session: AgentSession[Any]) -> None:
        """Subscribes to the events of a session, whose requests are answered from now on."""
        self._session = session
        self._requests = SessionRequests(session)
        if self._unsubscribe is None:
            self._unsubscribe = subscribe(session, self._forwarders())

    async def aclose(self) -> None:
        """Ends the subscription, and closes the host."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        await super().aclose()

    def _forwarders(self) -> AgentSessionEventForwarders:
        return AgentSessionEventForwarders(
            agent_state_changed=self._forwarder("agent_state_changed"),
            user_state_changed=self._forwarder("user_state_changed"),
            conversation_item_added=self._forwarder("conversation_item_added"),
            user_input_transcribed=self._forwarder("user_input_transcribed"),
            function_tools_executed=self._forwarder("function_tools_executed"),
            error=self._forwarder("error"),
            overlapping_speech=self._forwarder("overlapping_speech"),
            session_usage_updated=self._forwarder("session_usage_updated"),
            # The detectors call the host's methods for these.
            amd_prediction=None,
            eot_prediction=None,
            # The session has no such event.
            function_tools_started=None,
            debug_message=self._forwarder("debug_message"),
            tool_execution_updated=self._forwarder("tool_execution_updated"),
            agent_false_interruption=self._forwarder("agent_false_interruption"),
        )

    def _forwarder(self, arm: AgentSessionEventArm) -> Callable[[Any], None]:
        return lambda event: self._forward(arm, event)

    def _forward(self, arm: AgentSessionEventArm, event: object) -> None:
        message = pb.AgentSessionEvent()
        fill_agent_session_event(arm, event, message)
        self._send(message)

    def _send(self, event: pb.AgentSessionEvent) -> None:
        with contextlib.suppress(utils.aio.ChanClosed):
            self._event_ch.send_nowait(pb.AgentSessionMessage(event=event))

    def _on_amd_prediction(self, event: AMDPredictionEvent) -> None:
        self._forward("amd_prediction", event)

    def _on_eot_prediction(self, event: EotPredictionEvent) -> None:
        self._forward("eot_prediction", event)

    async def _handle_request_safe(self, req: pb.SessionRequest) -> None:
        message = pb.AgentSessionMessage()
        await answer(self._requests, req, message.response)
        try:
            await self._transport.send_message(message)
        except Exception:
            extra = {"request_id": req.request_id}
            logger.warning("failed to send a session response", exc_info=True, extra=extra)
