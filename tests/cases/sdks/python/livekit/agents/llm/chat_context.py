from __future__ import annotations

import time
from typing import Annotated, Literal, TypeAlias, Union

from pydantic import BaseModel, Field

ChatRole: TypeAlias = Literal["user", "assistant"]


class ChatMessage(BaseModel):
    id: str
    type: Literal["message"] = "message"
    role: ChatRole
    content: list[str]
    interrupted: bool = False
    created_at: float = Field(default_factory=time.time)


class FunctionCall(BaseModel):
    type: Literal["function_call"] = "function_call"
    call_id: str
    name: str
    arguments: str


ChatItem = Annotated[Union[ChatMessage, FunctionCall], Field(discriminator="type")]
