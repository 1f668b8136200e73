from __future__ import annotations

from livekit import rtc

from ..llm import ChatItem, ChatMessage, FunctionCall
from .events import (
    AgentState,
    AgentStateChangedEvent,
    CloseEvent,
    CloseReason,
    ConversationItemAddedEvent,
    EotPredictionEvent,
    EventTypes,
    FunctionToolsExecutedEvent,
    UserInputTranscribedEvent,
    UserState,
    UserStateChangedEvent,
)


class AgentSession(rtc.EventEmitter[EventTypes]):
    def __init__(self) -> None:
        super().__init__()
        self._agent_state: AgentState = "idle"
        self._user_state: UserState = "listening"

    @property
    def agent_state(self) -> AgentState:
        return self._agent_state

    def _update_agent_state(self, state: AgentState) -> None:
        old_state = self._agent_state
        self._agent_state = state
        self.emit(
            "agent_state_changed",
            AgentStateChangedEvent(old_state=old_state, new_state=state),
        )

    def _listen(self) -> None:
        self._update_agent_state("listening")

    def _speak(self) -> None:
        self._update_agent_state("speaking")

    def _update_user_state(self, away: bool) -> None:
        old_state = self._user_state
        self._user_state = "away" if away else "listening"
        self.emit(
            "user_state_changed",
            UserStateChangedEvent(old_state=old_state, new_state=self._user_state),
        )

    def _transcribed(self, text: str, final: bool) -> None:
        self.emit("user_input_transcribed", UserInputTranscribedEvent(transcript=text, is_final=final))
        self._added(ChatMessage(id="a", role="user", content=[text]))

    def _said(self, text: str) -> None:
        self._added(ChatMessage(id="b", role="assistant", content=[text]))

    def _added(self, item: ChatItem) -> None:
        self.emit("conversation_item_added", ConversationItemAddedEvent(item=item))

    def _executed(self, calls: list[FunctionCall]) -> None:
        self.emit("function_tools_executed", FunctionToolsExecutedEvent(function_calls=calls))

    def _predicted(self, probability: float, delay: float) -> None:
        self.emit("eot_prediction", EotPredictionEvent(probability=probability, delay=delay))

    def shutdown(self) -> None:
        self._close(CloseReason.USER_INITIATED)

    def _fail(self, error: Exception) -> None:
        self._close(CloseReason.ERROR, str(error))

    def _close(self, reason: CloseReason, message: str | None = None) -> None:
        self.emit("close", CloseEvent(reason=reason, message=message))
