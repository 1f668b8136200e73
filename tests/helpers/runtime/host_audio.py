"""Audio frames, and the audio messages that a driver has received."""

from __future__ import annotations

from agent_session.host.adapter import AudioFrame
from agent_session_protocol import agent_session_pb2 as pb
from scripted_session import Driver

RATE = 48_000


def wire_frame(seconds: float, rate: int = RATE, value: int = 1) -> AudioFrame:
    samples = int(seconds * rate)
    data = value.to_bytes(2, "little") * samples
    return AudioFrame(data=data, sample_rate=rate, num_channels=1, samples_per_channel=samples)


def played(driver: Driver) -> list[str]:
    """Returns the arms of the audio messages in order. Successive frames count as one."""
    arms: list[str] = []
    for message in driver.messages:
        arm = message.WhichOneof("message") or ""
        if "audio" in arm and arms[-1:] != [arm]:
            arms.append(arm)
    return arms


async def say_finished(driver: Driver) -> None:
    message = pb.AgentSessionMessage()
    message.audio_playback_finished.SetInParent()
    await driver.transport.send(message)
