from __future__ import annotations

import time
from typing import Annotated, Literal, TypeAlias, Union

from pydantic import BaseModel, Field

TalkRole: TypeAlias = Literal["caller", "assistant"]


class TalkMessage(BaseModel):
    id: str
    type: Literal["message"] = "message"
    role: TalkRole
    content: list[str]
    interrupted: bool = False
    made_at: float = Field(default_factory=time.time)


class ToolUse(BaseModel):
    type: Literal["tool_use"] = "tool_use"
    use_id: str
    name: str
    arguments: str


TalkEntry = Annotated[Union[TalkMessage, ToolUse], Field(discriminator="type")]
