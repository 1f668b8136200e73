"""Byte-mutating fuzz of the frame codec: `python fuzz_framing.py [INPUTS [SEED]]`.

Comes in: streams of real frames, with bytes flipped, cut out, doubled and put in, in chunks of
any size. Goes out: nothing, unless the decoder raises, or splits change what it makes of them.
"""

from __future__ import annotations

import random
import sys

from agent_session import FrameTooLarge, TruncatedFrame
from agent_session.transport.framing import FrameDecoder, encode_frame
from agent_session_protocol.agent_session_pb2 import AgentSessionMessage
from transport_messages import audio, framed, nested_struct, ping, transcript

SEEDS = [
    *map(encode_frame, [ping(1), audio(40), transcript("grüß dich"), transcript("x" * 300)]),
    framed(nested_struct(20)),
    framed(nested_struct(60)),
    bytes(4),
]


def mutated(chance: random.Random) -> bytes:
    stream = bytearray(b"".join(chance.choices(SEEDS, k=chance.randint(1, 4))))
    for _ in range(chance.randint(0, 4)):
        at = chance.randrange(len(stream) + 1)
        change = chance.randrange(4)
        if change == 0 and at < len(stream):
            stream[at] ^= 1 << chance.randrange(8)
        elif change == 1:
            del stream[at : at + chance.randint(1, 8)]
        elif change == 2:
            stream[at:at] = stream[at : at + chance.randint(1, 16)]
        else:
            stream[at:at] = chance.randbytes(chance.randint(1, 4))
    return bytes(stream)


def outcome(stream: bytes, chunk: int) -> tuple[list[bytes], list[str], str]:
    decoder = FrameDecoder(AgentSessionMessage)
    messages = [
        message.SerializeToString(deterministic=True)
        for start in range(0, len(stream), chunk)
        for message in decoder.receive(stream[start : start + chunk])
    ]
    error = decoder.receive_eof()
    assert error is None or isinstance(error, FrameTooLarge | TruncatedFrame), error
    return messages, list(map(str, decoder.refused)), str(error)


def fuzz(inputs: int, seed: int) -> None:
    chance = random.Random(seed)
    for number in range(inputs):
        stream = mutated(chance)
        whole = outcome(stream, len(stream) + 1)
        split = outcome(stream, chance.choice([1, 2, 3, 5, 16, 64]))
        assert whole == split, (seed, number, stream)


if __name__ == "__main__":
    fuzz(
        inputs=int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000,
        seed=int(sys.argv[2]) if len(sys.argv) > 2 else 0,
    )
