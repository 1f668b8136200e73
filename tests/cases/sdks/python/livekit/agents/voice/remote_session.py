from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

from livekit import rtc
from livekit.protocol.agent_pb import agent_session as agent_pb

from .. import utils
from .._proto import encode_chat_item, encode_duration, encode_timestamp
from .agent_session import AgentSession
from .events import (
    AgentState,
    AgentStateChangedEvent,
    CloseEvent,
    CloseReason,
    ConversationItemAddedEvent,
    EotPredictionEvent,
    FunctionToolsExecutedEvent,
    UserInputTranscribedEvent,
    UserState,
    UserStateChangedEvent,
)

TOPIC_SESSION_MESSAGES = "lk.agent.session"
_TCP_MAX_MESSAGE_SIZE = 1 << 20

_AGENT_STATE_MAP: dict[AgentState, agent_pb.AgentState] = {
    "idle": agent_pb.AS_IDLE,
    "listening": agent_pb.AS_LISTENING,
    "speaking": agent_pb.AS_SPEAKING,
}

_USER_STATE_MAP: dict[UserState, agent_pb.UserState] = {
    "listening": agent_pb.US_LISTENING,
    "away": agent_pb.US_AWAY,
}

_CLOSE_REASON_MAP: dict[CloseReason, agent_pb.CloseReason] = {
    CloseReason.ERROR: agent_pb.CloseReason.CR_ERROR,
    CloseReason.USER_INITIATED: agent_pb.CloseReason.CR_USER_INITIATED,
}


def _serialize_options(opts: Any) -> dict[str, str]:
    return {
        "max_tool_steps": str(opts.max_tool_steps),
        "user_away_timeout": str(opts.user_away_timeout),
    }


class SessionHost:
    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self._session: AgentSession | None = None

    def register_session(self, session: AgentSession) -> None:
        self._session = session
        session.on("agent_state_changed", self._on_agent_state_changed)
        session.on("user_state_changed", self._on_user_state_changed)
        session.on("user_input_transcribed", self._on_user_input_transcribed)
        session.on("conversation_item_added", self._on_conversation_item_added)
        session.on("function_tools_executed", self._on_function_tools_executed)
        session.on("eot_prediction", self._on_eot_prediction)
        session.on("close", self._on_close)

    async def _recv_loop(self) -> None:
        async for msg in self._transport:
            if msg.HasField("request"):
                await self._handle_request_safe(msg.request)

    def _send_event(self, event: agent_pb.AgentSessionEvent, created_at: float) -> None:
        event.created_at.CopyFrom(encode_timestamp(created_at))
        self._transport.send(agent_pb.AgentSessionMessage(event=event))

    def _on_agent_state_changed(self, event: AgentStateChangedEvent) -> None:
        self._send_event(
            agent_pb.AgentSessionEvent(
                agent_state_changed=agent_pb.AgentSessionEvent.AgentStateChanged(
                    old_state=_AGENT_STATE_MAP[event.old_state],
                    new_state=_AGENT_STATE_MAP[event.new_state],
                )
            ),
            created_at=event.created_at,
        )

    def _on_user_state_changed(self, event: UserStateChangedEvent) -> None:
        self._send_event(
            agent_pb.AgentSessionEvent(
                user_state_changed=agent_pb.AgentSessionEvent.UserStateChanged(
                    old_state=_USER_STATE_MAP[event.old_state],
                    new_state=_USER_STATE_MAP[event.new_state],
                )
            ),
            created_at=event.created_at,
        )

    def _on_user_input_transcribed(self, event: UserInputTranscribedEvent) -> None:
        self._send_event(
            agent_pb.AgentSessionEvent(
                user_input_transcribed=agent_pb.AgentSessionEvent.UserInputTranscribed(
                    transcript=event.transcript,
                    is_final=event.is_final,
                    language=event.language,
                )
            ),
            created_at=event.created_at,
        )

    def _on_conversation_item_added(self, event: ConversationItemAddedEvent) -> None:
        self._send_event(
            agent_pb.AgentSessionEvent(
                conversation_item_added=agent_pb.AgentSessionEvent.ConversationItemAdded(
                    item=encode_chat_item(event.item),
                )
            ),
            created_at=event.created_at,
        )

    def _on_function_tools_executed(self, event: FunctionToolsExecutedEvent) -> None:
        calls = [
            agent_pb.FunctionCall(call_id=fc.call_id, name=fc.name, arguments=fc.arguments)
            for fc in event.function_calls
        ]
        self._send_event(
            agent_pb.AgentSessionEvent(
                function_tools_executed=agent_pb.AgentSessionEvent.FunctionToolsExecuted(
                    function_calls=calls,
                )
            ),
            created_at=event.created_at,
        )

    def _on_eot_prediction(self, event: EotPredictionEvent) -> None:
        self._send_event(
            agent_pb.AgentSessionEvent(
                eot_prediction=agent_pb.AgentSessionEvent.EotPrediction(
                    probability=event.probability,
                    delay=encode_duration(event.delay),
                )
            ),
            created_at=event.created_at,
        )

    def _on_close(self, event: CloseEvent) -> None:
        self._send_event(
            agent_pb.AgentSessionEvent(
                session_closed=agent_pb.AgentSessionEvent.SessionClosed(
                    reason=_CLOSE_REASON_MAP.get(event.reason, agent_pb.CloseReason.CR_UNKNOWN),
                    message=event.message,
                )
            ),
            created_at=event.created_at,
        )

    async def _respond(self, response: agent_pb.SessionResponse) -> None:
        await self._transport.send(agent_pb.AgentSessionMessage(response=response))

    async def _handle_request_safe(self, req: agent_pb.SessionRequest) -> None:
        try:
            await self._handle_request(req)
        except Exception:
            await self._respond(
                agent_pb.SessionResponse(request_id=req.request_id, error="internal error")
            )

    async def _handle_request(self, req: agent_pb.SessionRequest) -> None:
        assert self._session is not None
        if req.HasField("ping"):
            await self._respond(
                agent_pb.SessionResponse(
                    request_id=req.request_id,
                    pong=agent_pb.SessionResponse.Pong(),
                )
            )
        elif req.HasField("get_chat_history"):
            items = [encode_chat_item(item) for item in self._session.history.items]
            await self._respond(
                agent_pb.SessionResponse(
                    request_id=req.request_id,
                    get_chat_history=agent_pb.SessionResponse.GetChatHistoryResponse(items=items),
                )
            )
        elif req.HasField("get_session_state"):
            await self._respond(
                agent_pb.SessionResponse(
                    request_id=req.request_id,
                    get_session_state=agent_pb.SessionResponse.GetSessionStateResponse(
                        agent_state=_AGENT_STATE_MAP[self._session.agent_state],
                        agent_id=self._session.current_agent.id,
                        options=_serialize_options(self._session.options),
                    ),
                )
            )
        elif req.HasField("run_input"):
            error: str | None = None
            items_list: list[agent_pb.ChatContext.ChatItem] = []
            text = req.run_input.text
            if not text:
                error = "empty run_input text"
            else:
                result = await self._session.run(user_input=text)
                items_list = [encode_chat_item(ev.item) for ev in result.events]
            await self._respond(
                agent_pb.SessionResponse(
                    request_id=req.request_id,
                    error=error,
                    run_input=agent_pb.SessionResponse.RunInputResponse(items=items_list),
                )
            )
        elif req.HasField("update_io"):
            if req.update_io.input.HasField("audio_enabled"):
                self._session.input.set_audio_enabled(req.update_io.input.audio_enabled)
            await self._respond(
                agent_pb.SessionResponse(
                    request_id=req.request_id,
                    update_io=agent_pb.SessionResponse.UpdateIOResponse(),
                )
            )
        else:
            await self._respond(
                agent_pb.SessionResponse(request_id=req.request_id, error="unknown request")
            )


RemoteSessionEventTypes = Literal[
    "agent_state_changed",
    "user_state_changed",
    "user_input_transcribed",
    "conversation_item_added",
    "function_tools_executed",
    "eot_prediction",
    "session_closed",
]


class RemoteSession(rtc.EventEmitter[RemoteSessionEventTypes]):
    def __init__(self, transport: Any) -> None:
        super().__init__()
        self._transport = transport

    async def _recv_loop(self) -> None:
        async for msg in self._transport:
            if msg.HasField("response"):
                self._dispatch_response(msg.response)
            elif msg.HasField("event"):
                event_field = msg.event.WhichOneof("event")
                if event_field:
                    self.emit(event_field, msg.event)

    async def _send_request(
        self, request: agent_pb.SessionRequest, timeout: float = 60.0
    ) -> agent_pb.SessionResponse:
        await self._transport.send(agent_pb.AgentSessionMessage(request=request))
        return await asyncio.wait_for(self._answer(request.request_id), timeout=timeout)

    async def ping(self) -> None:
        await self._send_request(
            agent_pb.SessionRequest(
                request_id=utils.shortuuid("req_"),
                ping=agent_pb.SessionRequest.Ping(),
            )
        )

    async def get_chat_history(self) -> agent_pb.SessionResponse.GetChatHistoryResponse:
        resp = await self._send_request(
            agent_pb.SessionRequest(
                request_id=utils.shortuuid("req_"),
                get_chat_history=agent_pb.SessionRequest.GetChatHistory(),
            )
        )
        return resp.get_chat_history

    async def get_session_state(self) -> agent_pb.SessionResponse.GetSessionStateResponse:
        resp = await self._send_request(
            agent_pb.SessionRequest(
                request_id=utils.shortuuid("req_"),
                get_session_state=agent_pb.SessionRequest.GetSessionState(),
            )
        )
        return resp.get_session_state

    async def run(self, text: str) -> agent_pb.SessionResponse.RunInputResponse:
        resp = await self._send_request(
            agent_pb.SessionRequest(
                request_id=utils.shortuuid("req_"),
                run_input=agent_pb.SessionRequest.RunInput(text=text),
            )
        )
        return resp.run_input

    async def update_io(self, audio_enabled: bool) -> None:
        update = agent_pb.SessionRequest.UpdateIO()
        update.input.audio_enabled = audio_enabled
        await self._send_request(
            agent_pb.SessionRequest(request_id=utils.shortuuid("req_"), update_io=update)
        )
