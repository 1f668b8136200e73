"""Console audio of a host: the driver is microphone and loudspeaker of a session."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from agent_session.host_audio import pieces
from agent_session.hosted import AudioFrame
from agent_session_protocol import agent_session_pb2 as pb
from host_support import Driver, PlainSession, hosted
from transport_support import run

pytest.importorskip("livekit.agents")

from agent_session.livekit_audio import ConsoleInput, ConsoleOutput  # noqa: E402
from host_agent import Clerk, Say, scripted_session  # noqa: E402
from livekit import rtc  # noqa: E402
from livekit.agents.voice.io import PlaybackFinishedEvent  # noqa: E402

RATE = 48_000


def wire_frame(seconds: float, rate: int = RATE, value: int = 1) -> AudioFrame:
    samples = int(seconds * rate)
    data = value.to_bytes(2, "little") * samples
    return AudioFrame(data=data, sample_rate=rate, num_channels=1, samples_per_channel=samples)


def speech(seconds: float) -> rtc.AudioFrame:
    samples = int(seconds * RATE)
    return rtc.AudioFrame(b"\x05\x00" * samples, RATE, 1, samples)


def played(driver: Driver) -> list[str]:
    """What a loudspeaker is told, in order; each run of frames as one."""
    notes: list[str] = []
    for message in driver.messages:
        arm = message.WhichOneof("message") or ""
        if "audio" in arm and notes[-1:] != [arm]:
            notes.append(arm)
    return notes


async def say_finished(driver: Driver) -> None:
    message = pb.AgentSessionMessage()
    message.audio_playback_finished.SetInParent()
    await driver.transport.send(message)


# Between driver and host.


def test_audio_is_passed_on_where_the_driver_is_a_console() -> None:
    async def main() -> None:
        session = PlainSession()
        async with hosted(session, console_audio=True) as (driver, host, _):
            console = session.console
            assert console is not None
            frame = wire_frame(0.01)
            await driver.transport.send(pb.AgentSessionMessage(audio_input=frame))
            await say_finished(driver)
            await driver.ask("ping")
            assert console.frames == [frame] and console.notes == ["played"]
            await console.sink.play(wire_frame(0.02))
            console.sink.flush()
            console.sink.clear()
            await driver.until(lambda: "audio_playback_clear" in played(driver))
            assert played(driver) == [
                "audio_output",
                "audio_playback_flush",
                "audio_playback_clear",
            ]
            await host.close()
            assert console.notes == ["played", "end"]
            await console.sink.play(wire_frame(0.02))  # which nobody hears, and nobody minds
            console.sink.flush()

    run(main())


def test_without_a_console_audio_is_ignored(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            await driver.transport.send(pb.AgentSessionMessage(audio_input=wire_frame(0.01)))
            assert (await driver.ask("ping")).HasField("pong") and session.console is None

    with caplog.at_level(logging.WARNING):
        run(main())
    assert "ignoring audio_input" in caplog.text


def test_a_long_frame_of_speech_is_cut_into_what_may_travel() -> None:
    """30 seconds are 2.88 MB, almost three times the limit."""
    whole = wire_frame(30)
    parts = list(pieces(whole))
    assert len(parts) > 2 and b"".join(part.data for part in parts) == whole.data
    for part in parts:
        assert len(part.data) == 2 * part.samples_per_channel and part.sample_rate == RATE

    async def main() -> None:
        session = PlainSession()
        async with hosted(session, console_audio=True) as (driver, _, _):
            assert session.console is not None
            await session.console.sink.play(whole)
            await driver.until(
                lambda: sum(len(m.audio_output.data) for m in driver.messages) == len(whole.data)
            )

    run(main())


def test_stereo_is_cut_between_samples() -> None:
    frame = AudioFrame(
        data=bytes(400_000), sample_rate=RATE, num_channels=2, samples_per_channel=100_000
    )
    assert sum(part.samples_per_channel for part in pieces(frame)) == 100_000


# What is heard.


def test_heard_frames_come_at_the_sessions_rate() -> None:
    async def main() -> None:
        source = ConsoleInput()
        source.on_attached()
        for _ in range(20):
            source.push(wire_frame(0.05))
        source.push(wire_frame(0.1, 24_000, value=7))
        source.end()
        frames = [frame async for frame in source]
        assert {frame.sample_rate for frame in frames} == {24_000}
        assert {frame.num_channels for frame in frames} == {1}
        heard = sum(frame.duration for frame in frames)
        assert 1.0 <= heard <= 1.1  # a resampler keeps the last few samples
        assert bytes(frames[-1].data) == b"\x07\x00" * 2_400

    run(main())


@pytest.mark.parametrize(
    "frame",
    [
        AudioFrame(),
        AudioFrame(data=b"\0\0", sample_rate=RATE, num_channels=1, samples_per_channel=2),
        AudioFrame(data=b"\0\0\0", sample_rate=RATE, num_channels=1, samples_per_channel=1),
        AudioFrame(data=bytes(8), sample_rate=RATE, num_channels=2, samples_per_channel=2),
        AudioFrame(data=b"\0\0", sample_rate=0, num_channels=1, samples_per_channel=1),
        AudioFrame(data=b"\0\0", sample_rate=4_294_967_295, num_channels=1, samples_per_channel=1),
    ],
)
def test_audio_that_is_no_whole_frame_is_refused(
    frame: AudioFrame, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        source = ConsoleInput()
        source.on_attached()
        source.push(frame)
        source.push(frame)
        source.push(wire_frame(0.1, 24_000))
        source.end()
        assert len([each async for each in source]) == 1

    run(main())
    assert caplog.text.count("refused") == 1


def test_what_the_session_does_not_read_is_bounded(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        source = ConsoleInput()
        source.on_attached()
        for number in range(400):
            source.push(wire_frame(0.1, 24_000, value=number + 1))
        source.end()
        frames = [frame async for frame in source]
        assert sum(frame.duration for frame in frames) == pytest.approx(10.0)
        assert bytes(frames[-1].data)[:2] == (400).to_bytes(2, "little")

    run(main())
    assert "too slowly" in caplog.text


def test_nothing_is_heard_while_the_input_is_off() -> None:
    async def main() -> None:
        session = scripted_session({})
        await session.start(Clerk(), session_host=False)
        async with hosted(session, console_audio=True) as (driver, _, _):
            source = session.input.audio
            assert isinstance(source, ConsoleInput)
            for on in (False, True):
                message = pb.AgentSessionMessage()
                message.request.request_id = str(on)
                message.request.update_io.input.audio_enabled = on
                await driver.transport.send(message)
                await driver.answer(str(on))
                assert source._attached is on
        assert session.input.audio is None and session.output.audio is None
        await session.aclose()

    run(main())


def test_a_session_hears_the_driver() -> None:
    async def main() -> None:
        session = scripted_session({})
        heard: list[rtc.AudioFrame] = []
        async with hosted(session, console_audio=True) as (driver, _, _):
            await session.start(Clerk(), session_host=False)
            assert session._activity is not None
            setattr(session._activity, "push_audio", heard.append)
            frame = wire_frame(0.1, 24_000, value=9)
            await driver.transport.send(pb.AgentSessionMessage(audio_input=frame))
            await driver.ask("ping")
            while not heard:
                await asyncio.sleep(0)
            assert bytes(heard[0].data) == frame.data
            await session.aclose()

    run(main())


# What is said.


class Ear:
    """A sink that keeps what it is told, and the events of its output."""

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


def test_speech_is_played_when_the_driver_says_so() -> None:
    async def main() -> None:
        ear = Ear()
        await ear.output.capture_frame(speech(0.5))
        await ear.output.capture_frame(speech(0.25))
        ear.output.flush()
        assert ear.notes == ["started", "flush"] and ear.ends == []
        waiting = asyncio.ensure_future(ear.output.wait_for_playout())
        await asyncio.sleep(0)
        assert not waiting.done()
        ear.output.played()
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
        ear.output.played()  # late, and of no account
        assert len(ear.ends) == 1

    run(main())


def test_an_interruption_before_the_flush_counts_when_it_comes() -> None:
    async def main() -> None:
        ear = Ear()
        await ear.output.capture_frame(speech(60))
        ear.output.clear_buffer()
        await ear.output.capture_frame(speech(60))  # still of what was cut off
        assert len(ear.frames) == 1
        ear.output.flush()
        assert ear.notes == ["started", "clear"]
        assert (await ear.output.wait_for_playout()).interrupted
        await ear.output.capture_frame(speech(1))
        ear.output.flush()
        ear.output.played()
        assert ear.outcomes()[1:] == [(1.0, False)]

    run(main())


def test_a_second_stretch_waits_for_the_first() -> None:
    async def main() -> None:
        ear = Ear()
        await ear.output.capture_frame(speech(1))
        ear.output.flush()
        second = asyncio.ensure_future(ear.output.capture_frame(speech(2)))
        await asyncio.sleep(0)
        assert len(ear.frames) == 1
        ear.output.played()
        await second
        ear.output.flush()
        ear.output.played()
        assert ear.outcomes() == [(1.0, False), (2.0, False)]

    run(main())


def test_empty_stretches_and_stray_words_do_nothing() -> None:
    async def main() -> None:
        ear = Ear()
        ear.output.flush()
        ear.output.clear_buffer()
        ear.output.played()
        await ear.output.wait_for_playout()
        assert ear.notes == [] and ear.ends == []

    run(main())


@pytest.mark.parametrize("flushed", [True, False])
def test_nothing_waits_for_a_console_that_is_gone(flushed: bool) -> None:
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


def test_an_agent_that_speaks_is_heard_to_the_end() -> None:
    """The SDK's own way through a turn: its speech is done when the driver has played it."""

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


def test_a_driver_that_leaves_in_the_middle_of_speech_lets_the_session_go_on() -> None:
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
    """Speaks with a voice of its own: a second of sound for each text."""

    def tts_node(self, text: Any, model_settings: Any) -> Any:
        async def sound() -> Any:
            async for _ in text:
                pass
            samples = 24_000
            yield rtc.AudioFrame(b"\x05\x00" * samples, 24_000, 1, samples)

        return sound()
