"""Fuzz test of the frame codec: `python fuzz_framing.py [INPUTS [SEED]]`.

The decoder receives streams of valid frames with bytes flipped, removed, repeated and inserted, in
chunks of any size. The test fails if it raises, or if the result depends on the chunks.
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


def mutated(rng: random.Random) -> bytes:
    stream = bytearray(b"".join(rng.choices(SEEDS, k=rng.randint(1, 4))))
    for _ in range(rng.randint(0, 4)):
        at = rng.randrange(len(stream) + 1)
        change = rng.randrange(4)
        if change == 0 and at < len(stream):
            stream[at] ^= 1 << rng.randrange(8)
        elif change == 1:
            del stream[at : at + rng.randint(1, 8)]
        elif change == 2:
            stream[at:at] = stream[at : at + rng.randint(1, 16)]
        else:
            stream[at:at] = rng.randbytes(rng.randint(1, 4))
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
    rng = random.Random(seed)
    for number in range(inputs):
        stream = mutated(rng)
        whole = outcome(stream, len(stream) + 1)
        split = outcome(stream, rng.choice([1, 2, 3, 5, 16, 64]))
        assert whole == split, (seed, number, stream)


if __name__ == "__main__":
    fuzz(
        inputs=int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000,
        seed=int(sys.argv[2]) if len(sys.argv) > 2 else 0,
    )
