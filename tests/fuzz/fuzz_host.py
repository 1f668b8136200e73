"""Byte-mutating fuzz of a host: `python fuzz_host.py [INPUTS [SEED]]`.

Comes in: real requests and console audio as frames, with bytes flipped, cut out, doubled and put
in. Goes out: nothing, unless a host does what is not documented: raises or logs an exception,
answers what was not asked or not in time, ends for another reason than a frame's, or leaves a task.
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


def mutated(chance: random.Random) -> tuple[bytes, bool]:
    """A frame whose body is damaged, and whether, as happens now and then, its header may be."""
    frame = framed(damaged(chance, chance.choice(SEEDS)))
    torn = chance.random() < 0.01
    return (damaged(chance, frame) if torn else frame), torn


def damaged(chance: random.Random, intact: bytes) -> bytes:
    data = bytearray(intact)
    for _ in range(chance.randint(0, 3)):
        at = chance.randrange(len(data) + 1)
        change = chance.randrange(4)
        if change == 0 and at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        elif change == 1:
            del data[at : at + chance.randint(1, 8)]
        elif change == 2:
            data[at:at] = data[at : at + chance.randint(1, 16)]
        else:
            data[at:at] = chance.randbytes(chance.randint(1, 4))
    return bytes(data)


class Session(PlainSession):
    """Answers each run at once."""

    def run(self, text: str) -> Any:
        begun = super().run(text)
        begun.result.set_result([chat_message(1, text)])
        return begun


class Alarm(logging.Handler):
    """Any exception in the log is one too many."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.seen: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info or record.name == "asyncio":
            self.seen.append(self.format(record))


async def one_host(chance: random.Random, inputs: int) -> int:
    """Send damaged frames to one host, until one tears the stream; return how many."""
    ours, theirs = memory_pair()
    driver, session, sent, torn = Driver(theirs), Session(), 0, False
    theirs.deliver_to(driver)
    async with SessionHost(session, ours, console_audio=True, close_timeout=1) as host:
        while sent < inputs and not torn:
            frame, torn = mutated(chance)
            theirs._stream.write(frame)
            sent += 1
            if sent % 20 == 0:
                await asyncio.sleep(0)
        await driver.send("ping", "last")
        if not torn:  # whatever the bodies were, the session goes on
            assert (await driver.answer("last")).HasField("pong")
        await theirs.close()
        await asyncio.wait_for(host.wait_closed(), 10)
    assert ours.reason is None or isinstance(ours.reason, FrameTooLarge | TruncatedFrame)
    assert torn or ours.reason is None
    for message in driver.messages:
        assert message.HasField("response") or message.HasField("event")
    left = asyncio.all_tasks() - {asyncio.current_task()}
    assert not left, left
    return sent


def fuzz(inputs: int, seed: int) -> None:
    """Fuzz with so many inputs, on as many hosts as it takes."""
    chance = random.Random(seed)
    alarm = Alarm()
    loggers = [logging.getLogger(name) for name in ("agent_session", "asyncio")]
    loggers.append(logging.getLogger("agent_session_protocol"))
    for logger in loggers:
        logger.addHandler(alarm)

    async def main() -> None:
        left = inputs
        while left > 0:
            left -= await one_host(chance, min(left, PER_HOST))
            assert not alarm.seen, (seed, inputs - left, alarm.seen[0])

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
