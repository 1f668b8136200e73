"""Fuzz test of a host: `python fuzz_host.py [INPUTS [SEED]]`.

The driver sends frames of requests and console audio with bytes flipped, removed, repeated and
inserted. The test fails if the host raises or logs an exception, does not answer a ping, ends for
another reason than a frame error, or leaves a task.
"""

from __future__ import annotations

import asyncio
import logging
import random
import sys
from typing import Any

from agent_session import FrameTooLarge, SessionHost, TruncatedFrame, memory_pair
from agent_session_protocol import agent_session_pb2 as pb
from scripted_session import Driver, PlainSession, chat_message, request
from transport_messages import framed

ARMS = [field.name for field in pb.SessionRequest.DESCRIPTOR.oneofs_by_name["request"].fields]
PER_HOST = 200


def seeds() -> list[bytes]:
    messages = [request(str(number), arm) for number, arm in enumerate([*ARMS, None])]
    messages.append(request("run", "run_input", text="grüß dich"))
    messages.append(request("io", "update_io"))
    messages[-1].request.update_io.output.audio_enabled = False
    messages.append(pb.AgentSessionMessage())
    messages[-1].audio_input.data = bytes(40)
    messages[-1].audio_input.sample_rate = 48_000
    messages.append(pb.AgentSessionMessage(event=pb.AgentSessionEvent()))
    return [message.SerializeToString() for message in messages]


SEEDS = seeds()


def mutated(rng: random.Random) -> tuple[bytes, bool]:
    """Returns a frame with a damaged body, and whether its header may be damaged as well."""
    frame = framed(damaged(rng, rng.choice(SEEDS)))
    torn = rng.random() < 0.01
    return (damaged(rng, frame) if torn else frame), torn


def damaged(rng: random.Random, intact: bytes) -> bytes:
    data = bytearray(intact)
    for _ in range(rng.randint(0, 3)):
        at = rng.randrange(len(data) + 1)
        change = rng.randrange(4)
        if change == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif change == 1:
            del data[at : at + rng.randint(1, 8)]
        elif change == 2:
            data[at:at] = data[at : at + rng.randint(1, 16)]
        else:
            data[at:at] = rng.randbytes(rng.randint(1, 4))
    return bytes(data)


class Session(PlainSession):
    """A session that ends each run at once."""

    def run(self, text: str) -> Any:
        begun = super().run(text)
        begun.result.set_result([chat_message(1, text)])
        return begun


class Alarm(logging.Handler):
    """Records exceptions in the log."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.errors: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info or record.name == "asyncio":
            self.errors.append(self.format(record))


async def one_host(rng: random.Random, inputs: int) -> int:
    """Sends damaged frames to one host until a header is damaged. Returns their number."""
    host_end, driver_end = memory_pair()
    driver, session, sent, torn = Driver(driver_end), Session(), 0, False
    driver_end.deliver_to(driver)
    async with SessionHost(session, host_end, console_audio=True, close_timeout=1) as host:
        while sent < inputs and not torn:
            frame, torn = mutated(rng)
            driver_end._stream.write(frame)
            sent += 1
            if sent % 20 == 0:
                await asyncio.sleep(0)
        await driver.send("ping", "last")
        if not torn:  # damaged bodies must not end the session
            assert (await driver.answer("last")).HasField("pong")
        await driver_end.close()
        await asyncio.wait_for(host.wait_closed(), 10)
    assert host_end.reason is None or isinstance(host_end.reason, FrameTooLarge | TruncatedFrame)
    assert torn or host_end.reason is None
    for message in driver.messages:
        assert message.HasField("response") or message.HasField("event")
    remaining = asyncio.all_tasks() - {asyncio.current_task()}
    assert not remaining, remaining
    return sent


def fuzz(inputs: int, seed: int) -> None:
    """Sends `inputs` frames to hosts, with a new host after each damaged header."""
    rng = random.Random(seed)
    alarm = Alarm()
    loggers = [logging.getLogger(name) for name in ("agent_session", "asyncio")]
    loggers.append(logging.getLogger("agent_session_protocol"))
    for logger in loggers:
        logger.addHandler(alarm)

    async def main() -> None:
        remaining = inputs
        while remaining > 0:
            remaining -= await one_host(rng, min(remaining, PER_HOST))
            assert not alarm.errors, (seed, inputs - remaining, alarm.errors[0])

    try:
        asyncio.run(main())
    finally:
        for logger in loggers:
            logger.removeHandler(alarm)


if __name__ == "__main__":
    logging.getLogger("agent_session").propagate = False
    fuzz(
        inputs=int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000,
        seed=int(sys.argv[2]) if len(sys.argv) > 2 else 0,
    )
