from __future__ import annotations

import time
from typing import Annotated, Literal, TypeAlias, Union

from pydantic import BaseModel, Field

TalkRole: TypeAlias = Literal["caller", "assistant"]


class Speech:
    """A text with words, and words that a caller who reads gets as well."""

    def __init__(self, words: str, notes: str = "") -> None:
        self.words = words
        self.notes = notes

    def whole(self, notes: bool = True) -> str:
        parts = [self.words]
        if notes:
            parts.append(self.notes)
        return " ".join(parts)

    def __str__(self) -> str:
        return self.words


class TalkMessage(BaseModel):
    id: str
    type: Literal["message"] = "message"
    role: TalkRole
    content: list[Speech]
    interrupted: bool = False
    made_at: float = Field(default_factory=time.time)


class ToolUse(BaseModel):
    type: Literal["tool_use"] = "tool_use"
    use_id: str
    name: str
    arguments: str


TalkEntry = Annotated[Union[TalkMessage, ToolUse], Field(discriminator="type")]
