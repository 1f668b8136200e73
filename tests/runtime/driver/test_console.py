"""Console audio of a RemoteSession, over a pair in memory."""

from __future__ import annotations

import asyncio

import pytest
from agent_session import FrameTooLarge, RemoteSession, StreamLimits, memory_pair
from agent_session_protocol import agent_session_pb2 as pb
from scripted_host import Host, driven, pong
from transport_messages import run

AudioFrame = pb.AgentSessionMessage.ConsoleIO.AudioFrame
FLUSH = pb.AgentSessionMessage(
    audio_playback_flush=pb.AgentSessionMessage.ConsoleIO.AudioPlaybackFlush()
)
CLEAR = pb.AgentSessionMessage(
    audio_playback_clear=pb.AgentSessionMessage.ConsoleIO.AudioPlaybackClear()
)


def frame(size: int) -> pb.AgentSessionMessage.ConsoleIO.AudioFrame:
    return AudioFrame(
        data=bytes(size), sample_rate=48_000, num_channels=1, samples_per_channel=size // 2
    )


class Recorder:
    """A console that records its calls."""

    def __init__(self) -> None:
        self.calls: list[object] = []

    def audio_output(self, frame: pb.AgentSessionMessage.ConsoleIO.AudioFrame) -> None:
        self.calls.append(frame)

    def audio_playback_flush(self) -> None:
        self.calls.append("flush")

    def audio_playback_clear(self) -> None:
        self.calls.append("clear")


def test_a_console_gets_audio_in_order_and_reports_the_playback() -> None:
    async def main() -> None:
        recorder = Recorder()
        async with driven(console=recorder) as (session, host):
            spoken = pb.AgentSessionMessage(audio_output=frame(960))
            for message in (spoken, spoken, CLEAR, spoken, FLUSH):
                host.transport.send_nowait(message)
            pending_call = asyncio.ensure_future(session.ping())
            host.respond(pong(await host.request()))
            await pending_call
            assert recorder.calls == [frame(960), frame(960), "clear", frame(960), "flush"]
            assert not host.others
            session.send_audio_playback_finished()
            session.send_audio_input(frame(480))
            await host.until(lambda: len(host.others) == 2)
            assert host.others == ["audio_playback_finished", "audio_input"]

    run(main())


def test_without_a_console_speech_counts_as_played() -> None:
    async def main() -> None:
        async with driven() as (_, host):
            for message in (pb.AgentSessionMessage(audio_output=frame(960)), CLEAR, FLUSH):
                host.transport.send_nowait(message)
            await host.until(lambda: bool(host.others))
            assert host.others == ["audio_playback_finished"]

    run(main())


def test_exceptions_of_a_console_are_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken(Recorder):
        def audio_playback_flush(self) -> None:
            raise ValueError("no loudspeaker")

    async def main() -> None:
        broken = Broken()
        async with driven(console=broken) as (session, host):
            host.transport.send_nowait(FLUSH)
            host.transport.send_nowait(CLEAR)
            pending_call = asyncio.ensure_future(session.ping())
            host.respond(pong(await host.request()))
            await pending_call
            assert broken.calls == ["clear"]

    run(main())
    assert "no loudspeaker" in caplog.text


def test_unread_audio_is_dropped_and_requests_are_not() -> None:
    async def main() -> None:
        limits = StreamLimits(send_queue=2 << 20, receive_queue=1 << 16)
        driver_end, host_end = memory_pair(limits)
        host = Host(host_end)
        async with host_end, RemoteSession(driver_end) as session:
            host_end._stream.pause_reading()
            for _ in range(100):
                session.send_audio_input(frame(100_000))
                await asyncio.sleep(0)
            pending_call = asyncio.ensure_future(session.ping())
            await asyncio.sleep(0)
            assert driver_end.dropped_frames > 70
            host_end._stream.resume_reading()
            host.respond(pong(await host.request()))
            await pending_call
            assert 10 < len(host.others) < 30

    run(main())


def test_a_frame_that_is_too_large_raises() -> None:
    async def main() -> None:
        async with driven() as (session, _):
            with pytest.raises(FrameTooLarge):
                session.send_audio_input(frame(1 << 20))

    run(main())


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (pb.AgentSessionMessage(audio_input=frame(2)), "audio_input"),
        (
            pb.AgentSessionMessage(request=pb.SessionRequest(ping=pb.SessionRequest.Ping())),
            "request",
        ),
        (pb.AgentSessionMessage.FromString(bytes([0x9A, 0x06, 0x00])), "unknown"),
        (pb.AgentSessionMessage.FromString(b"\x0a\x00\x9a\x06\x00"), "audio_input"),
    ],
)
def test_messages_not_for_drivers_are_logged_once(
    message: pb.AgentSessionMessage, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with driven() as (session, host):
            for _ in range(3):
                host.transport.send_nowait(message)
            pending_call = asyncio.ensure_future(session.ping())
            host.respond(pong(await host.request()))
            await pending_call

    run(main())
    assert len(caplog.records) == 1 and kind in caplog.records[0].getMessage()
