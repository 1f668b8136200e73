"""The interface of a driver's console, which plays the agent's speech."""

from __future__ import annotations

from typing import Protocol

from agent_session_protocol.agent_session_pb2 import AgentSessionMessage


class Console(Protocol):
    """Plays the speech of the agent. Called on the event loop, which it must not block."""

    def audio_output(self, frame: AgentSessionMessage.ConsoleIO.AudioFrame) -> None:
        """Plays a frame of 16-bit samples after the frames before it."""

    def audio_playback_flush(self) -> None:
        """Marks the end of a speech segment.

        Once the segment is played, the console calls `RemoteSession.send_audio_playback_finished`.
        """

    def audio_playback_clear(self) -> None:
        """Discards the audio that is not played yet, because the agent was interrupted."""
