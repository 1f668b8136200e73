from __future__ import annotations

import time
from enum import Enum, unique
from typing import Literal

from pydantic import BaseModel, Field

from ..llm import ChatItem, FunctionCall

EventTypes = Literal[
    "agent_state_changed",
    "user_state_changed",
    "user_input_transcribed",
    "conversation_item_added",
    "function_tools_executed",
    "eot_prediction",
    "close",
]

AgentState = Literal["idle", "listening", "speaking"]
UserState = Literal["listening", "away"]


@unique
class CloseReason(str, Enum):
    ERROR = "error"
    USER_INITIATED = "user_initiated"


class AgentStateChangedEvent(BaseModel):
    type: Literal["agent_state_changed"] = "agent_state_changed"
    old_state: AgentState
    new_state: AgentState
    created_at: float = Field(default_factory=time.time)


class UserStateChangedEvent(BaseModel):
    type: Literal["user_state_changed"] = "user_state_changed"
    old_state: UserState
    new_state: UserState
    created_at: float = Field(default_factory=time.time)


class UserInputTranscribedEvent(BaseModel):
    type: Literal["user_input_transcribed"] = "user_input_transcribed"
    transcript: str
    is_final: bool
    language: str | None = None
    created_at: float = Field(default_factory=time.time)


class ConversationItemAddedEvent(BaseModel):
    type: Literal["conversation_item_added"] = "conversation_item_added"
    item: ChatItem
    created_at: float = Field(default_factory=time.time)


class FunctionToolsExecutedEvent(BaseModel):
    type: Literal["function_tools_executed"] = "function_tools_executed"
    function_calls: list[FunctionCall]
    created_at: float = Field(default_factory=time.time)


class EotPredictionEvent(BaseModel):
    type: Literal["eot_prediction"] = "eot_prediction"
    probability: float
    delay: float
    created_at: float = Field(default_factory=time.time)


class CloseEvent(BaseModel):
    type: Literal["close"] = "close"
    reason: CloseReason
    message: str | None = None
    created_at: float = Field(default_factory=time.time)
