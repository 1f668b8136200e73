"""The interface of a driver's console, which plays the agent's speech."""

from __future__ import annotations

from typing import Protocol

from agent_session_protocol.agent_session_pb2 import AgentSessionMessage


class Console(Protocol):
    """Plays what the agent says. Called on the event loop, which it must not block."""

    def audio_output(self, frame: AgentSessionMessage.ConsoleIO.AudioFrame) -> None:
        """Play this behind what came before; 16-bit samples, as the frame describes them."""

    def audio_playback_flush(self) -> None:
        """This stretch of speech is complete: when it is played, call
        `RemoteSession.send_audio_playback_finished`."""

    def audio_playback_clear(self) -> None:
        """The agent was interrupted: throw away what is not played yet. Wants no answer."""
