from __future__ import annotations

import time
from enum import Enum, unique
from typing import Literal

from pydantic import BaseModel, Field

from ..llm import TalkEntry, ToolUse

EventTypes = Literal[
    "robot_mode_changed",
    "caller_mode_changed",
    "caller_speech_heard",
    "talk_entry_added",
    "tools_finished",
    "pause_forecast",
    "close",
]

RobotMode = Literal["idle", "listening", "speaking"]
CallerMode = Literal["listening", "away"]


@unique
class EndCause(str, Enum):
    ERROR = "error"
    CALLER_INITIATED = "caller_initiated"


class RobotModeChangedEvent(BaseModel):
    type: Literal["robot_mode_changed"] = "robot_mode_changed"
    old_mode: RobotMode
    new_mode: RobotMode
    made_at: float = Field(default_factory=time.time)


class CallerModeChangedEvent(BaseModel):
    type: Literal["caller_mode_changed"] = "caller_mode_changed"
    old_mode: CallerMode
    new_mode: CallerMode
    made_at: float = Field(default_factory=time.time)


class CallerSpeechHeardEvent(BaseModel):
    type: Literal["caller_speech_heard"] = "caller_speech_heard"
    words: str
    is_final: bool
    tongue: str | None = None
    made_at: float = Field(default_factory=time.time)


class TalkEntryAddedEvent(BaseModel):
    type: Literal["talk_entry_added"] = "talk_entry_added"
    item: TalkEntry
    made_at: float = Field(default_factory=time.time)


class ToolsFinishedEvent(BaseModel):
    type: Literal["tools_finished"] = "tools_finished"
    tool_uses: list[ToolUse]
    made_at: float = Field(default_factory=time.time)


class PauseForecastEvent(BaseModel):
    type: Literal["pause_forecast"] = "pause_forecast"
    probability: float
    delay: float
    made_at: float = Field(default_factory=time.time)


class CloseEvent(BaseModel):
    type: Literal["close"] = "close"
    reason: EndCause
    message: str | None = None
    made_at: float = Field(default_factory=time.time)
