"""Speech that a session sends to the console of a driver."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agent_session.host.adapter import AudioFrame
from host_audio import RATE, played, say_finished
from scripted_session import hosted
from transport_messages import run

pytest.importorskip("livekit.agents")

from agent_session.livekit_agents.audio import ConsoleOutput  # noqa: E402
from scripted_agent import Clerk, Say, scripted_session  # noqa: E402
from livekit import rtc  # noqa: E402
from livekit.agents.voice.io import PlaybackFinishedEvent  # noqa: E402


def speech(seconds: float) -> rtc.AudioFrame:
    samples = int(seconds * RATE)
    return rtc.AudioFrame(b"\x05\x00" * samples, RATE, 1, samples)


class Ear:
    """A sink that records its calls, and the events of its output."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.frames: list[AudioFrame] = []
        self.output = ConsoleOutput(self)
        self.ends: list[PlaybackFinishedEvent] = []
        self.output.on("playback_finished", self.ends.append)
        self.output.on("playback_started", lambda _: self.notes.append("started"))

    async def play(self, frame: AudioFrame) -> None:
        self.frames.append(frame)

    def flush(self) -> None:
        self.notes.append("flush")

    def clear(self) -> None:
        self.notes.append("clear")

    def outcomes(self) -> list[tuple[float, bool]]:
        return [(round(each.playback_position, 3), each.interrupted) for each in self.ends]


def test_speech_is_finished_when_the_driver_reports_it() -> None:
    async def main() -> None:
        ear = Ear()
        await ear.output.capture_frame(speech(0.5))
        await ear.output.capture_frame(speech(0.25))
        ear.output.flush()
        assert ear.notes == ["started", "flush"] and ear.ends == []
        waiting = asyncio.ensure_future(ear.output.wait_for_playout())
        await asyncio.sleep(0)
        assert not waiting.done()
        ear.output.playback_finished()
        event = await waiting
        assert (event.playback_position, event.interrupted) == (0.75, False)
        assert [frame.samples_per_channel for frame in ear.frames] == [24_000, 12_000]
        assert ear.frames[0].data == b"\x05\x00" * 24_000

    run(main())


def test_an_interruption_does_not_wait_for_the_driver() -> None:
    async def main() -> None:
        ear = Ear()
        await ear.output.capture_frame(speech(60))
        ear.output.flush()
        ear.output.clear_buffer()
        ear.output.clear_buffer()  # the SDK does that
        assert ear.notes == ["started", "flush", "clear"]
        event = await ear.output.wait_for_playout()
        assert event.interrupted and 0 <= event.playback_position < 60
        ear.output.playback_finished()  # too late, and ignored
        assert len(ear.ends) == 1

    run(main())


def test_an_interruption_before_the_flush_is_reported_at_the_flush() -> None:
    async def main() -> None:
        ear = Ear()
        await ear.output.capture_frame(speech(60))
        ear.output.clear_buffer()
        await ear.output.capture_frame(speech(60))  # belongs to the interrupted segment
        assert len(ear.frames) == 1
        ear.output.flush()
        assert ear.notes == ["started", "clear"]
        assert (await ear.output.wait_for_playout()).interrupted
        await ear.output.capture_frame(speech(1))
        ear.output.flush()
        ear.output.playback_finished()
        assert ear.outcomes()[1:] == [(1.0, False)]

    run(main())


def test_a_second_segment_waits_for_the_first() -> None:
    async def main() -> None:
        ear = Ear()
        await ear.output.capture_frame(speech(1))
        ear.output.flush()
        second = asyncio.ensure_future(ear.output.capture_frame(speech(2)))
        await asyncio.sleep(0)
        assert len(ear.frames) == 1
        ear.output.playback_finished()
        await second
        ear.output.flush()
        ear.output.playback_finished()
        assert ear.outcomes() == [(1.0, False), (2.0, False)]

    run(main())


def test_empty_segments_and_unexpected_reports_do_nothing() -> None:
    async def main() -> None:
        ear = Ear()
        ear.output.flush()
        ear.output.clear_buffer()
        ear.output.playback_finished()
        await ear.output.wait_for_playout()
        assert ear.notes == [] and ear.ends == []
        await ear.output.capture_frame(speech(1))
        ear.output.playback_finished()
        assert ear.notes == ["started"] and ear.ends == []

    run(main())


@pytest.mark.parametrize("flushed", [True, False])
def test_a_disconnected_console_finishes_the_speech(flushed: bool) -> None:
    async def main() -> None:
        ear = Ear()
        await ear.output.capture_frame(speech(60))
        if flushed:
            ear.output.flush()
        ear.output.end()
        ear.output.flush()
        assert (await ear.output.wait_for_playout()).interrupted
        await ear.output.capture_frame(speech(1))
        ear.output.flush()
        assert ear.outcomes()[1:] == [(0.0, True)] and len(ear.frames) == 1
        ear.output.end()

    run(main())


def test_the_speech_of_an_agent_is_played_to_its_end() -> None:
    """The turn of the SDK ends when the driver has played the speech."""

    async def main() -> None:
        session = scripted_session({"hi": [Say("hello")]})
        async with hosted(session, console_audio=True) as (driver, _, _):
            await session.start(Speaker(), session_host=False)
            asking = asyncio.ensure_future(driver.ask("run_input", text="hi"))
            await driver.until(lambda: "audio_playback_flush" in played(driver))
            assert not asking.done()
            await say_finished(driver)
            response = await asking
            message = response.run_input.items[0].message
            assert message.content[0].text == "hello" and not message.interrupted
            assert played(driver) == ["audio_output", "audio_playback_flush"]
            frame = next(m.audio_output for m in driver.messages if m.HasField("audio_output"))
            assert (frame.sample_rate, frame.num_channels) == (RATE, 1)
            await session.aclose()

    run(main())


def test_a_run_that_interrupts_speech_clears_it() -> None:
    async def main() -> None:
        session = scripted_session({"hi": [Say("hello")], "no": [Say("sorry")]})
        async with hosted(session, console_audio=True) as (driver, _, _):
            await session.start(Speaker(), session_host=False)
            first = await driver.send("run_input", text="hi")
            await driver.until(lambda: "audio_playback_flush" in played(driver))
            second = asyncio.ensure_future(driver.ask("run_input", text="no"))
            assert "superseded" in (await driver.answer(first)).error
            await driver.until(lambda: played(driver).count("audio_playback_flush") == 2)
            await say_finished(driver)
            assert (await second).run_input.items[0].message.content[0].text == "sorry"
            assert played(driver)[:3] == [
                "audio_output",
                "audio_playback_flush",
                "audio_playback_clear",
            ]
            await session.aclose()

    run(main())


def test_a_session_continues_after_the_driver_disconnects_during_speech() -> None:
    async def main() -> None:
        session = scripted_session({"hi": [Say("hello")]})
        async with hosted(session, console_audio=True) as (driver, host, _):
            await session.start(Speaker(), session_host=False)
            await driver.send("run_input", text="hi")
            await driver.until(lambda: "audio_playback_flush" in played(driver))
            await driver.transport.close()
            await asyncio.wait_for(host.wait_closed(), 5)
            await asyncio.wait_for(session.aclose(), 5)

    run(main())


class Speaker(Clerk):
    """An agent whose speech is one second of audio for each text."""

    def tts_node(self, text: Any, model_settings: Any) -> Any:
        async def sound() -> Any:
            async for _ in text:
                pass
            samples = 24_000
            yield rtc.AudioFrame(b"\x05\x00" * samples, 24_000, 1, samples)

        return sound()
