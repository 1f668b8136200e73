"""What the encoders of the agent session protocol cannot find by name alone.

Comes in: an object of the SDK, or one of models.py, and the message to fill. Goes out: one
field of the message, filled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_session_protocol import agent_session_pb2 as pb


def fill_content(source: Any, to: pb.ChatMessage) -> None:
    """Write the texts of a chat message; images and audio are left out, as the contract says.

    Instructions, whose text differs between speech and text, are written as the SDK turns
    them into a string.
    """
    content = source.content
    for part in (content,) if isinstance(content, str) else content or ():
        text = part if isinstance(part, str) else _text(part)
        if text is not None:
            to.content.add().text = text


def _text(part: Any) -> str | None:
    """Return the text of a part of a message that is no text itself, if it has one."""
    if isinstance(part, Mapping):
        return part.get("text")
    return str(part) if hasattr(part, "render") else getattr(part, "text", None)


def fill_instructions(source: Any, to: pb.AgentConfigUpdate) -> None:
    """Write instructions, which can be an object with a text for speech and one for text."""
    if source.instructions is not None:
        to.instructions = str(source.instructions)


OVERRIDES = {
    "ChatMessage.content": fill_content,
    "AgentConfigUpdate.instructions": fill_instructions,
}
