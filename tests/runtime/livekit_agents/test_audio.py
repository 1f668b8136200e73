"""Console audio of a host: the driver is the microphone and loudspeaker of a session."""

from __future__ import annotations

import asyncio
import logging

import pytest
from agent_session.host.audio import split_frame
from agent_session.host.adapter import AudioFrame
from agent_session_protocol import agent_session_pb2 as pb
from host_audio import RATE, played, say_finished, wire_frame
from scripted_session import PlainSession, hosted
from transport_messages import run

pytest.importorskip("livekit.agents")

from agent_session.livekit_agents.audio import ConsoleInput  # noqa: E402
from scripted_agent import Clerk, scripted_session  # noqa: E402
from livekit import rtc  # noqa: E402

# Messages.


def test_audio_is_passed_on_with_console_audio() -> None:
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
            await console.sink.play(wire_frame(0.02))  # it is ignored
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
    assert "ignored audio_input" in caplog.text


def test_a_long_frame_of_speech_is_split() -> None:
    """30 seconds are 2.88 MB, almost three times the limit."""
    whole = wire_frame(30)
    parts = list(split_frame(whole))
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


def test_stereo_is_split_between_samples() -> None:
    frame = AudioFrame(
        data=bytes(400_000), sample_rate=RATE, num_channels=2, samples_per_channel=100_000
    )
    assert sum(part.samples_per_channel for part in split_frame(frame)) == 100_000


# Input.


def test_input_is_resampled_to_the_rate_of_the_session() -> None:
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
        received_audio = sum(frame.duration for frame in frames)
        assert 1.0 <= received_audio <= 1.1  # a resampler keeps the last few samples
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
def test_invalid_frames_are_refused(frame: AudioFrame, caplog: pytest.LogCaptureFixture) -> None:
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


def test_unread_input_is_bounded(caplog: pytest.LogCaptureFixture) -> None:
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


def test_input_is_dropped_while_it_is_disabled() -> None:
    def sound(value: int) -> pb.AgentSessionMessage:
        return pb.AgentSessionMessage(audio_input=wire_frame(0.1, 24_000, value))

    async def main() -> None:
        session = scripted_session({})  # not started, so that the test can read its input
        async with hosted(session, console_audio=True) as (driver, _, _):
            source = session.input.audio
            assert isinstance(source, ConsoleInput)
            await driver.transport.send(
                sound(1)
            )  # received, and not read before the input is disabled
            for on in (False, True):
                message = pb.AgentSessionMessage()
                message.request.request_id = str(on)
                message.request.update_io.input.audio_enabled = on
                await driver.transport.send(message)
                await driver.answer(str(on))
                await driver.transport.send(sound(2 + on))
            await driver.ask("ping")
            assert bytes((await source.__anext__()).data)[:1] == b"\3"
        assert session.input.audio is None and session.output.audio is None

    run(main())


def test_a_session_gets_the_audio_of_the_driver() -> None:
    async def main() -> None:
        session = scripted_session({})
        received_audio: list[rtc.AudioFrame] = []
        async with hosted(session, console_audio=True) as (driver, _, _):
            await session.start(Clerk(), session_host=False)
            assert session._activity is not None
            setattr(session._activity, "push_audio", received_audio.append)
            frame = wire_frame(0.1, 24_000, value=9)
            await driver.transport.send(pb.AgentSessionMessage(audio_input=frame))
            await driver.ask("ping")
            while not received_audio:
                await asyncio.sleep(0)
            assert bytes(received_audio[0].data) == frame.data
            await session.aclose()

    run(main())
