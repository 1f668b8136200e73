"""Handwritten encoders for fields of the published agent session messages.

Each function fills one field of a message from an object of the SDK.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from livekit.protocol.agent_pb import agent_session as pb


def fill_content(source: Any, to: pb.ChatMessage) -> None:
    """Fills the text parts of a chat message; the contract has no images and audio.

    Instructions, which have different texts for speech and text, are converted with str().
    """
    content = source.content
    for part in (content,) if isinstance(content, str) else content or ():
        text = part if isinstance(part, str) else _text(part)
        if text is not None:
            to.content.add().text = text


def _text(part: Any) -> str | None:
    """Returns the text of a part that is not a string; None if it has no text."""
    if isinstance(part, Mapping):
        return part.get("text")
    return str(part) if hasattr(part, "render") else getattr(part, "text", None)


def fill_instructions(source: Any, to: pb.AgentConfigUpdate) -> None:
    """Fills the instructions, which can be an object with texts for speech and for text."""
    if source.instructions is not None:
        to.instructions = str(source.instructions)


OVERRIDES = {
    "ChatMessage.content": fill_content,
    "AgentConfigUpdate.instructions": fill_instructions,
}
