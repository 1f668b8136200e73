"""What a session of the SDK answers to each request."""

from __future__ import annotations

import contextlib
import inspect
import time
from typing import TYPE_CHECKING, Any

from google.protobuf.json_format import MessageToDict
from livekit.agents.llm.chat_context import Instructions
from livekit.agents.version import __version__
from livekit.agents.voice.remote_session import _serialize_options, _tool_names
from livekit.protocol.agent_pb import agent_session as pb

from session_protocol import encoders
from session_protocol.errors import RequestError
from session_protocol.requests import SessionRequestHandler

if TYPE_CHECKING:
    from livekit.agents.simulation import SimulationVerdict
    from livekit.agents.voice import AgentSession
    from livekit.agents.voice.run_result import RunResult

Request = pb.SessionRequest
Response = pb.SessionResponse


class SessionRequests(SessionRequestHandler):
    """Answers the requests of a driver. A type checker reports a request without a method."""

    def __init__(self, session: AgentSession[Any]) -> None:
        self._session = session

    async def ping(self, request: Request.Ping) -> Response.Pong:
        return Response.Pong()

    async def get_chat_history(
        self, request: Request.GetChatHistory
    ) -> Response.GetChatHistoryResponse:
        source = {"items": self._session.history.items}
        return encoders.encode_get_chat_history_response(source)

    async def run_input(self, request: Request.RunInput) -> Response.RunInputResponse:
        if not request.text:
            raise RequestError("empty run_input text", Response.RunInputResponse())
        with contextlib.suppress(RuntimeError):
            await self._session.interrupt(force=True)
        try:
            run: RunResult[None] = self._session.run(user_input=request.text)
            await run
        except Exception as error:
            raise RequestError(str(error), Response.RunInputResponse()) from error
        return encoders.encode_run_input_response({"items": [event.item for event in run.events]})

    async def get_agent_info(self, request: Request.GetAgentInfo) -> Response.GetAgentInfoResponse:
        agent = self._session.current_agent
        instructions = agent.instructions
        if isinstance(instructions, Instructions):
            # The text for speech is sent: the protocol has one field.
            instructions = instructions.render(modality="audio")
        return encoders.encode_get_agent_info_response(
            {
                "id": agent.id,
                "instructions": instructions,
                "tools": _tool_names(agent.tools),
                "chat_ctx": agent.chat_ctx.items,
            }
        )

    async def get_session_state(
        self, request: Request.GetSessionState
    ) -> Response.GetSessionStateResponse:
        return encoders.encode_get_session_state_response(
            {
                "agent_state": self._session.agent_state,
                "user_state": self._session.user_state,
                "agent_id": self._session.current_agent.id,
                "options": _serialize_options(self._session.options),
                "created_at": self._session._started_at or time.time(),
            }
        )

    async def get_rtc_stats(self, request: Request.GetRTCStats) -> Response.GetRTCStatsResponse:
        room_io = self._session._room_io
        if room_io is None:
            return Response.GetRTCStatsResponse()
        stats = await room_io.room.get_rtc_stats()
        return encoders.encode_get_rtc_stats_response(
            {
                "publisher_stats": [MessageToDict(item) for item in stats.publisher_stats],
                "subscriber_stats": [MessageToDict(item) for item in stats.subscriber_stats],
            }
        )

    async def get_session_usage(
        self, request: Request.GetSessionUsage
    ) -> Response.GetSessionUsageResponse:
        source = {"usage": self._session.usage, "created_at": time.time()}
        return encoders.encode_get_session_usage_response(source)

    async def get_framework_info(
        self, request: Request.GetFrameworkInfo
    ) -> Response.GetFrameworkInfoResponse:
        return Response.GetFrameworkInfoResponse(sdk="python", sdk_version=__version__)

    async def update_io(self, request: Request.UpdateIO) -> Response.UpdateIOResponse:
        for side, channels in (
            (request.input, self._session.input),
            (request.output, self._session.output),
        ):
            # Absent fields leave a channel as it is.
            for field, enabled in side.ListFields():
                getattr(channels, f"set_{field.name}")(enabled)
        return Response.UpdateIOResponse()

    async def finalize_simulation(
        self, request: Request.FinalizeSimulation
    ) -> Response.FinalizeSimulationResponse:
        try:
            verdict = await _finalize(request)
        except Exception as error:
            raise RequestError(str(error), Response.FinalizeSimulationResponse()) from error
        return encoders.encode_finalize_simulation_response({"user_verdict": verdict})


async def _finalize(request: Request.FinalizeSimulation) -> SimulationVerdict | None:
    """Calls the job's callback for the end of a simulation, and returns the agent's verdict."""
    # In the SDK, these modules import the host.
    from livekit.agents.job import get_job_context
    from livekit.agents.simulation import SimulationRun, SimulationVerdict

    job = get_job_context(required=False)
    simulation = None if job is None else job.simulation_context()
    if job is None or simulation is None:
        return None
    simulation._begin_finalize(
        simulator_verdict=SimulationVerdict(
            success=request.provisional_success, reason=request.provisional_reason
        ),
        run=SimulationRun(id=simulation.simulation_run_id),
    )
    if job._simulation_end_fnc is not None:
        result = job._simulation_end_fnc(simulation)
        if inspect.isawaitable(result):
            await result
    return simulation.user_verdict
