"""What the tests of console audio share.

Comes in: seconds of sound. Goes out: frames of it, and what a driver's loudspeaker was told.
"""

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
