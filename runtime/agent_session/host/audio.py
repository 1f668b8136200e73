"""Passes console audio between a driver and a session, in both directions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from agent_session_protocol.agent_session_pb2 import AgentSessionMessage

from ..errors import TransportClosed
from .adapter import AudioFrame
from ..transport.session import SessionTransport

# Longer frames of speech are split. An SDK can emit all speech of a text as one frame, which may
# exceed the size limit of a message.
_MAX_FRAME_BYTES: Final = 1 << 17


class TransportSink:
    """Sends the speech of the agent to a driver, and discards it once the transport is closed."""

    def __init__(self, transport: SessionTransport) -> None:
        self._transport = transport

    async def play(self, frame: AudioFrame) -> None:
        try:
            for part in split_frame(frame):
                await self._transport.send(AgentSessionMessage(audio_output=part))
        except TransportClosed:
            pass

    def flush(self) -> None:
        message = AgentSessionMessage()
        message.audio_playback_flush.SetInParent()
        self._send(message)

    def clear(self) -> None:
        message = AgentSessionMessage()
        message.audio_playback_clear.SetInParent()
        self._send(message)

    def _send(self, message: AgentSessionMessage) -> None:
        try:
            self._transport.send_nowait(message)
        except TransportClosed:
            pass


def split_frame(frame: AudioFrame) -> Iterator[AudioFrame]:
    """Yields the audio of a frame in frames that fit into a message."""
    width = 2 * frame.num_channels
    step = _MAX_FRAME_BYTES // width * width
    for start in range(0, len(frame.data), step):
        data = frame.data[start : start + step]
        yield AudioFrame(
            data=data,
            sample_rate=frame.sample_rate,
            num_channels=frame.num_channels,
            samples_per_channel=len(data) // width,
        )
