"""Connects the audio of a session of livekit-agents to the console of a driver.

Microphone frames are converted to the sample rate of the session, and speech to that of the
console.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import Any, Final

from livekit import rtc
from livekit.agents import AgentSession
from livekit.agents.voice.io import AudioInput, AudioOutput, AudioOutputCapabilities

from ..host.adapter import AudioFrame, AudioSink
from ..transport.base import logger

# The sample rates of published consoles and of the input of a session, in Hz.
CONSOLE_RATE: Final = 48_000
SESSION_RATE: Final = 24_000

# How much input may be queued for the session, in seconds.
_MAX_QUEUED: Final = 10.0

# The sample rates that are accepted from a console.
_RATES: Final = range(8_000, 192_001)


class ConsoleInput(AudioInput):
    """The frames of the driver's microphone. If too many are queued, the oldest are dropped."""

    def __init__(self) -> None:
        super().__init__(label="agent session console")
        self._frames: deque[rtc.AudioFrame] = deque()
        self._queued = 0.0
        self._dropped = 0
        self._changed = asyncio.Event()
        self._attached = False
        self._ended = False
        self._resampler: rtc.AudioResampler | None = None
        self._rate = SESSION_RATE
        self._logged_refused = False

    def push(self, frame: AudioFrame) -> None:
        """Queues a frame, or drops it if the session has no audio input."""
        if not self._attached or self._ended:
            return
        valid = frame.num_channels == 1 and len(frame.data) == 2 * frame.samples_per_channel
        if not valid or frame.sample_rate not in _RATES:
            if not self._logged_refused:
                logger.error("refused audio input that is not a valid frame with one channel")
            self._logged_refused = True
            return
        received = rtc.AudioFrame(frame.data, frame.sample_rate, 1, frame.samples_per_channel)
        for each in self._resampled(received):
            self._queued += each.duration
            self._frames.append(each)
        self._drop()
        self._changed.set()

    def end(self) -> None:
        """Ends the input after the queued frames."""
        self._ended = True
        self._changed.set()

    def on_attached(self) -> None:
        self._attached = True

    def on_detached(self) -> None:
        self._attached = False
        self._frames.clear()
        self._queued = 0.0

    async def __anext__(self) -> rtc.AudioFrame:
        while not self._frames:
            if self._ended:
                raise StopAsyncIteration
            self._changed.clear()
            await self._changed.wait()
        frame = self._frames.popleft()
        self._queued -= frame.duration
        return frame

    def _resampled(self, frame: rtc.AudioFrame) -> list[rtc.AudioFrame]:
        if frame.sample_rate != self._rate:
            self._rate = frame.sample_rate
            self._resampler = None
            if self._rate != SESSION_RATE:
                self._resampler = rtc.AudioResampler(self._rate, SESSION_RATE)
        return [frame] if self._resampler is None else self._resampler.push(frame)

    def _drop(self) -> None:
        while self._queued > _MAX_QUEUED and len(self._frames) > 1:
            self._queued -= self._frames.popleft().duration
            self._dropped += 1
            if self._dropped & (self._dropped - 1) == 0:  # each time that the number has doubled
                logger.warning("the session reads too slowly: %d frames dropped", self._dropped)


class ConsoleOutput(AudioOutput):
    """Sends the speech of the agent to the driver.

    A segment of speech is finished when the driver reports that it was played. It is interrupted
    when the agent is interrupted or the console disconnects.
    """

    def __init__(self, sink: AudioSink) -> None:
        super().__init__(
            label="agent session console",
            capabilities=AudioOutputCapabilities(pause=False),
            sample_rate=CONSOLE_RATE,
        )
        self._sink = sink
        # The duration of the current segment in seconds, and when it started.
        self._pushed = 0.0
        self._started_at = 0.0
        # How many seconds of the segment were played before the interruption, if there was one.
        self._interrupted_at: float | None = None
        self._flushed = False
        self._disconnected = False
        self._segment_finished = asyncio.Event()
        self._segment_finished.set()

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        await self._segment_finished.wait()
        await super().capture_frame(frame)
        if not self._pushed:
            self._started_at = time.monotonic()
            self.on_playback_started(created_at=time.time())
        self._pushed += frame.duration
        if self._interrupted_at is None and not self._disconnected:
            await self._sink.play(
                AudioFrame(
                    data=bytes(frame.data),
                    sample_rate=frame.sample_rate,
                    num_channels=frame.num_channels,
                    samples_per_channel=frame.samples_per_channel,
                )
            )

    def flush(self) -> None:
        super().flush()
        if not self._pushed or self._flushed:
            return
        self._flushed = True
        self._segment_finished.clear()
        if self._interrupted_at is None and not self._disconnected:
            self._sink.flush()
        else:
            self._finish()

    def clear_buffer(self) -> None:
        if self._pushed and self._interrupted_at is None:
            self._sink.clear()
            self._interrupt()

    def playback_finished(self) -> None:
        """Finishes the segment that was flushed."""
        if self._flushed:
            self._finish()

    def end(self) -> None:
        """Interrupts the segment, because the console has disconnected."""
        self._disconnected = True
        if self._pushed and self._interrupted_at is None:
            self._interrupt()

    def _interrupt(self) -> None:
        self._interrupted_at = min(time.monotonic() - self._started_at, self._pushed)
        if self._flushed:
            self._finish()

    def _finish(self) -> None:
        """Reports the end of the segment to the session, and starts the next one."""
        pushed, position = self._pushed, 0.0 if self._disconnected else self._interrupted_at
        self._pushed, self._interrupted_at, self._flushed = 0.0, None, False
        self._segment_finished.set()
        if position is None:
            self.on_playback_finished(playback_position=pushed, interrupted=False)
        else:
            self.on_playback_finished(playback_position=position, interrupted=True)


class LiveKitConsole:
    """Replaces the audio input and output of a session, until `end`."""

    def __init__(self, session: AgentSession[Any], sink: AudioSink) -> None:
        self._session = session
        self._input = ConsoleInput()
        self._output = ConsoleOutput(sink)
        session.input.audio = self._input
        session.output.audio = self._output

    def push_input(self, frame: AudioFrame) -> None:
        self._input.push(frame)

    def playback_finished(self) -> None:
        self._output.playback_finished()

    def end(self) -> None:
        self._input.end()
        self._output.end()
        if self._session.input.audio is self._input:
            self._session.input.audio = None
        if self._session.output.audio is self._output:
            self._session.output.audio = None
