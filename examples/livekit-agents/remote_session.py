"""The SDK's driver on generated code: all its requests, and the events by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from livekit.agents import utils
from livekit.agents.log import logger
from livekit.agents.voice import remote_session
from livekit.protocol.agent_pb import agent_session as pb

from session_protocol.client import SessionRequestClient
from session_protocol.events import emit_event

_TIMEOUT = 60.0
_UpdateIO = pb.SessionRequest.UpdateIO
_Response = pb.SessionResponse
_Switches = TypeVar("_Switches", _UpdateIO.Input, _UpdateIO.Output)


def _switches(message: type[_Switches], values: Mapping[str, bool | None]) -> _Switches | None:
    """Returns a message with the values that are not None; None for no such value."""
    given = {name: value for name, value in values.items() if value is not None}
    return message(**given) if given else None


class _Requests(SessionRequestClient):
    """All requests of the protocol, sent by a session."""

    def __init__(self, session: RemoteSession) -> None:
        self._session = session

    async def send(
        self, request: pb.SessionRequest, timeout: float | None = None
    ) -> pb.SessionResponse:
        request.request_id = utils.shortuuid("req_")
        return await self._session._send_request(request, timeout or _TIMEOUT)


class RemoteSession(remote_session.RemoteSession):
    """Sends requests to a host, and emits its events.

    It inherits the pending requests with their timeouts, and `wait_for_ready`.
    """

    def __init__(self, transport: remote_session.SessionTransport) -> None:
        super().__init__(transport)
        self.requests = _Requests(self)

    async def _recv_loop(self) -> None:
        try:
            async for message in self._transport:
                if message.HasField("event"):
                    self._emit_event(message.event)
                elif message.HasField("response"):
                    self._dispatch_response(message.response)
        except Exception:
            logger.warning("the messages of a session host cannot be read", exc_info=True)
        finally:
            self._fail_pending(RuntimeError("remote session transport closed"))

    def _emit_event(self, event: pb.AgentSessionEvent) -> None:
        unknown = emit_event(self, event)
        if unknown is not None:
            logger.debug("unknown session event", extra={"field": unknown})

    def _fail_pending(self, error: Exception) -> None:
        pending = list(self._pending_requests.values())
        self._pending_requests.clear()
        for future in pending:
            if not future.done():
                future.set_exception(error)

    async def get_chat_history(self) -> _Response.GetChatHistoryResponse:
        return await self.requests.get_chat_history()

    async def get_agent_info(self) -> _Response.GetAgentInfoResponse:
        return await self.requests.get_agent_info()

    async def get_framework_info(self) -> _Response.GetFrameworkInfoResponse:
        return await self.requests.get_framework_info()

    async def get_session_state(self) -> _Response.GetSessionStateResponse:
        return await self.requests.get_session_state()

    async def get_rtc_stats(self) -> _Response.GetRTCStatsResponse:
        return await self.requests.get_rtc_stats()

    async def get_session_usage(self) -> _Response.GetSessionUsageResponse:
        return await self.requests.get_session_usage()

    async def run(self, text: str, timeout: float = _TIMEOUT) -> _Response.RunInputResponse:
        return await self.requests.run_input(text=text, timeout=timeout)

    async def update_io(
        self,
        *,
        input_audio_enabled: bool | None = None,
        input_video_enabled: bool | None = None,
        output_audio_enabled: bool | None = None,
        output_video_enabled: bool | None = None,
        output_transcription_enabled: bool | None = None,
        timeout: float = _TIMEOUT,
    ) -> _Response.UpdateIOResponse:
        """Turns inputs and outputs of the agent on or off; None leaves one as it is."""
        inputs = {"audio_enabled": input_audio_enabled, "video_enabled": input_video_enabled}
        outputs = {
            "audio_enabled": output_audio_enabled,
            "video_enabled": output_video_enabled,
            "transcription_enabled": output_transcription_enabled,
        }
        return await self.requests.update_io(
            input=_switches(_UpdateIO.Input, inputs),
            output=_switches(_UpdateIO.Output, outputs),
            timeout=timeout,
        )

    async def finalize_simulation(
        self,
        *,
        provisional_success: bool,
        provisional_reason: str = "",
        timeout: float = _TIMEOUT,
    ) -> _Response.FinalizeSimulationResponse:
        """Sends the driver's verdict on a simulation, and returns the agent's."""
        return await self.requests.finalize_simulation(
            provisional_success=provisional_success,
            provisional_reason=provisional_reason,
            timeout=timeout,
        )
