"""Console audio of a session of livekit-agents.

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

# What published consoles play, and what sessions are used to hear, in samples a second.
CONSOLE_RATE: Final = 48_000
SESSION_RATE: Final = 24_000

# How much of what was heard may wait for the session, in seconds.
_BACKLOG: Final = 10.0

_RATES: Final = range(8_000, 192_001)


class ConsoleInput(AudioInput):
    """What the driver's microphone hears. It is bounded: the oldest is dropped."""

    def __init__(self) -> None:
        super().__init__(label="agent session console")
        self._frames: deque[rtc.AudioFrame] = deque()
        self._waiting = 0.0
        self._dropped = 0
        self._news = asyncio.Event()
        self._attached = False
        self._ended = False
        self._resampler: rtc.AudioResampler | None = None
        self._rate = SESSION_RATE
        self._refused = False

    def push(self, frame: AudioFrame) -> None:
        """Take a frame; while the session does not listen, it is gone."""
        if not self._attached or self._ended:
            return
        whole = frame.num_channels == 1 and len(frame.data) == 2 * frame.samples_per_channel
        if not whole or frame.sample_rate not in _RATES:
            if not self._refused:
                logger.error("audio that is no whole frame of one channel is refused")
            self._refused = True
            return
        heard = rtc.AudioFrame(frame.data, frame.sample_rate, 1, frame.samples_per_channel)
        for each in self._resampled(heard):
            self._waiting += each.duration
            self._frames.append(each)
        self._drop()
        self._news.set()

    def end(self) -> None:
        """There will be no more; what waits can still be read."""
        self._ended = True
        self._news.set()

    def on_attached(self) -> None:
        self._attached = True

    def on_detached(self) -> None:
        self._attached = False
        self._frames.clear()
        self._waiting = 0.0

    async def __anext__(self) -> rtc.AudioFrame:
        while not self._frames:
            if self._ended:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        frame = self._frames.popleft()
        self._waiting -= frame.duration
        return frame

    def _resampled(self, frame: rtc.AudioFrame) -> list[rtc.AudioFrame]:
        if frame.sample_rate != self._rate:
            self._rate = frame.sample_rate
            self._resampler = None
            if self._rate != SESSION_RATE:
                self._resampler = rtc.AudioResampler(self._rate, SESSION_RATE)
        return [frame] if self._resampler is None else self._resampler.push(frame)

    def _drop(self) -> None:
        while self._waiting > _BACKLOG and len(self._frames) > 1:
            self._waiting -= self._frames.popleft().duration
            self._dropped += 1
            if self._dropped & (self._dropped - 1) == 0:
                logger.warning("the session hears too slowly: %d frames dropped", self._dropped)


class ConsoleOutput(AudioOutput):
    """The agent's speech on its way to the driver's loudspeaker.

    A stretch of speech counts as played when the driver says so, and as cut off when the agent is
    interrupted or the console is gone.
    """

    def __init__(self, sink: AudioSink) -> None:
        super().__init__(
            label="agent session console",
            capabilities=AudioOutputCapabilities(pause=False),
            sample_rate=CONSOLE_RATE,
        )
        self._sink = sink
        self._pushed = 0.0  # seconds of speech in the present stretch
        self._began = 0.0
        self._heard: float | None = None  # seconds of it that were played before it was cut off
        self._flushed = False
        self._gone = False
        self._free = asyncio.Event()
        self._free.set()

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        await self._free.wait()
        await super().capture_frame(frame)
        if not self._pushed:
            self._began = time.monotonic()
            self.on_playback_started(created_at=time.time())
        self._pushed += frame.duration
        if self._heard is None and not self._gone:
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
        self._free.clear()
        if self._heard is None and not self._gone:
            self._sink.flush()
        else:
            self._finish()

    def clear_buffer(self) -> None:
        if self._pushed and self._heard is None:
            self._sink.clear()
            self._cut()

    def playback_finished(self) -> None:
        """All that was flushed is played."""
        if self._flushed:
            self._finish()

    def end(self) -> None:
        """The console is gone: nothing is heard any more."""
        self._gone = True
        if self._pushed and self._heard is None:
            self._cut()

    def _cut(self) -> None:
        self._heard = min(time.monotonic() - self._began, self._pushed)
        if self._flushed:
            self._finish()

    def _finish(self) -> None:
        """The stretch is over; what comes is the next."""
        pushed, heard = self._pushed, 0.0 if self._gone else self._heard
        self._pushed, self._heard, self._flushed = 0.0, None, False
        self._free.set()
        if heard is None:
            self.on_playback_finished(playback_position=pushed, interrupted=False)
        else:
            self.on_playback_finished(playback_position=heard, interrupted=True)


class Console:
    """Both, in place of a session's own audio until `end`."""

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
