"""A host and a driver as a user writes them, complete for the contract before arm 24.

The one-edit tests copy this file beside a freshly generated package, type-check it and
add to it exactly what the type checker asks for. Lines marked `+` are where.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.client import SessionRequestClient
from agent_session_protocol.dispatch import (
    AgentSessionEventHandlers,
    AgentSessionEventToolExecutionUpdatedHandlers,
    dispatch_agent_session_event,
    dispatch_agent_session_event_tool_execution_updated,
)
from agent_session_protocol.events import (
    AgentSessionEventForwarders,
    AgentSessionEventListeners,
    AgentSessionEventSink,
)
from agent_session_protocol.requests import SessionRequestHandler, answer

Request = pb.SessionRequest
Response = pb.SessionResponse


class Host(SessionRequestHandler):
    async def ping(self, request: Request.Ping) -> Response.Pong:
        return Response.Pong()

    async def get_chat_history(
        self, request: Request.GetChatHistory
    ) -> Response.GetChatHistoryResponse:
        return Response.GetChatHistoryResponse()

    async def run_input(self, request: Request.RunInput) -> Response.RunInputResponse:
        said = pb.ChatMessage(id=request.text, role=pb.USER)
        return Response.RunInputResponse(items=[pb.ChatContext.ChatItem(message=said)])

    async def get_agent_info(self, request: Request.GetAgentInfo) -> Response.GetAgentInfoResponse:
        return Response.GetAgentInfoResponse(id="agent")

    async def get_session_state(
        self, request: Request.GetSessionState
    ) -> Response.GetSessionStateResponse:
        return Response.GetSessionStateResponse()

    async def get_rtc_stats(self, request: Request.GetRTCStats) -> Response.GetRTCStatsResponse:
        return Response.GetRTCStatsResponse()

    async def get_session_usage(
        self, request: Request.GetSessionUsage
    ) -> Response.GetSessionUsageResponse:
        return Response.GetSessionUsageResponse()

    async def get_framework_info(
        self, request: Request.GetFrameworkInfo
    ) -> Response.GetFrameworkInfoResponse:
        return Response.GetFrameworkInfoResponse(sdk="python", sdk_version="1")

    async def update_io(self, request: Request.UpdateIO) -> Response.UpdateIOResponse:
        return Response.UpdateIOResponse()

    async def finalize_simulation(
        self, request: Request.FinalizeSimulation
    ) -> Response.FinalizeSimulationResponse:
        return Response.FinalizeSimulationResponse()

    # + a request's method


class Sink(AgentSessionEventSink):
    """Sends events as bytes in an envelope to the listeners of a driver."""

    def __init__(self, listeners: AgentSessionEventListeners) -> None:
        self.listeners = listeners

    def emit(self, event: pb.AgentSessionEvent) -> None:
        data = pb.AgentSessionMessage(event=event).SerializeToString()
        self.listeners.deliver(pb.AgentSessionMessage.FromString(data).event)


class Client(SessionRequestClient):
    """Sends requests as bytes in an envelope to a host in the same process."""

    def __init__(self, host: SessionRequestHandler) -> None:
        self.host = host

    async def send(self, request: Request, timeout: float | None = None) -> Response:
        request.request_id = "r1"
        data = pb.AgentSessionMessage(request=request).SerializeToString()
        received = pb.AgentSessionMessage.FromString(data)
        response = await answer(self.host, received.request)
        assert response.request_id == "r1"
        data = pb.AgentSessionMessage(response=response).SerializeToString()
        return pb.AgentSessionMessage.FromString(data).response


def make_host() -> Host:
    return Host()


def transcribed(sink: Sink, text: str) -> None:
    sink.user_input_transcribed(
        transcript=text,
        is_final=True,
        language="en",
        # + a field
    )


def forwarders(forward: Callable[[Any], None]) -> AgentSessionEventForwarders:
    return AgentSessionEventForwarders(
        agent_state_changed=forward,
        user_state_changed=forward,
        conversation_item_added=forward,
        user_input_transcribed=forward,
        function_tools_executed=forward,
        error=forward,
        overlapping_speech=forward,
        session_usage_updated=forward,
        amd_prediction=None,
        eot_prediction=None,
        function_tools_started=None,
        debug_message=forward,
        tool_execution_updated=forward,
        agent_false_interruption=forward,
        # + an event's forwarder
    )


def describe(event: pb.AgentSessionEvent) -> str:
    handlers: AgentSessionEventHandlers[str] = AgentSessionEventHandlers(
        agent_state_changed=lambda payload: "agent state",
        user_state_changed=lambda payload: "user state",
        conversation_item_added=lambda payload: "item",
        user_input_transcribed=lambda payload: f"heard {payload.transcript}",
        function_tools_executed=lambda payload: "tools executed",
        error=lambda payload: payload.message,
        overlapping_speech=lambda payload: "overlap",
        session_usage_updated=lambda payload: "usage",
        amd_prediction=lambda payload: "amd",
        eot_prediction=lambda payload: "eot",
        function_tools_started=lambda payload: "tools started",
        debug_message=lambda payload: "debug",
        tool_execution_updated=update,
        agent_false_interruption=lambda payload: "false interruption",
        # + an event's handler
    )
    return dispatch_agent_session_event(event, handlers)


def update(payload: pb.AgentSessionEvent.ToolExecutionUpdated) -> str:
    handlers: AgentSessionEventToolExecutionUpdatedHandlers[str] = (
        AgentSessionEventToolExecutionUpdatedHandlers(
            started=lambda payload: "started",
            call_updated=lambda payload: payload.message,
            reply_updated=lambda payload: "reply",
            ended=lambda payload: "ended",
            # + an update's handler
        )
    )
    return dispatch_agent_session_event_tool_execution_updated(payload, handlers)
