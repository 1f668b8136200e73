"""Passes console audio between a driver and a session, in both directions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from agent_session_protocol.agent_session_pb2 import AgentSessionMessage

from ..errors import TransportClosed
from .adapter import AudioFrame
from ..transport.session import SessionTransport

# A frame of speech is cut into pieces of this many bytes: a whole text read aloud can come as one
# frame, and be longer than what may travel.
_PIECE: Final = 1 << 17


class TransportSink:
    """Sends the agent's speech to a driver. What is said to nobody is no error."""

    def __init__(self, transport: SessionTransport) -> None:
        self._transport = transport

    async def play(self, frame: AudioFrame) -> None:
        try:
            for piece in pieces(frame):
                await self._transport.send(AgentSessionMessage(audio_output=piece))
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


def pieces(frame: AudioFrame) -> Iterator[AudioFrame]:
    """The same audio in frames that may travel."""
    width = 2 * frame.num_channels
    step = _PIECE // width * width
    for start in range(0, len(frame.data), step):
        data = frame.data[start : start + step]
        yield AudioFrame(
            data=data,
            sample_rate=frame.sample_rate,
            num_channels=frame.num_channels,
            samples_per_channel=len(data) // width,
        )
