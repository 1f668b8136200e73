"""What the encoders of the agent session protocol cannot find by name alone.

Comes in: an object of the SDK, or one of models.py, and the message to fill. Goes out: one
field of the message, filled.
"""

from __future__ import annotations

from typing import Any

from agent_session_protocol import agent_session_pb2 as pb


def fill_content(source: Any, to: pb.ChatMessage) -> None:
    """Write the texts of a chat message; images and audio are left out, as the contract says.

    Instructions, whose text differs between speech and text, are written as the SDK turns
    them into a string.
    """
    for part in source.content:
        if isinstance(part, str):
            to.content.add().text = part
        elif hasattr(part, "render"):
            to.content.add().text = str(part)
        elif getattr(part, "text", None) is not None:
            to.content.add().text = part.text


def fill_instructions(source: Any, to: pb.AgentConfigUpdate) -> None:
    """Write instructions, which can be an object with a text for speech and one for text."""
    if source.instructions is not None:
        to.instructions = str(source.instructions)


def fill_error(source: Any, to: pb.AgentSessionEvent.Error) -> None:
    """Write the text of the error that an event carries."""
    error = getattr(source, "error", None)
    to.message = source.message if error is None else _text(error)


def fill_close_error(source: Any, to: pb.AgentSessionEvent.SessionClosed) -> None:
    """Write the text of the error that ended a session, if one did."""
    if source.error is not None:
        to.error = _text(source.error)


def _text(error: Any) -> str:
    """Return an error's text; the SDK wraps what a model raised in a record of its own."""
    cause = getattr(error, "error", error)
    return str(cause) or type(cause).__name__


OVERRIDES = {
    "ChatMessage.content": fill_content,
    "AgentConfigUpdate.instructions": fill_instructions,
    "AgentSessionEvent.Error.message": fill_error,
    "AgentSessionEvent.SessionClosed.error": fill_close_error,
}
