"""The send buffer: order, limit, and dropped frames."""

from __future__ import annotations

from agent_session.transport.framing import encode_frame
from agent_session.transport.send_buffer import SendBuffer
from agent_session.transport.session import SESSION_FORMAT
from hypothesis import given
from hypothesis import strategies as st
from transport_messages import audio, ping

LIMIT = 500
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("audio"), st.integers(1, 200)),
        st.tuples(st.just("other"), st.integers(0, 1 << 20)),
        st.tuples(st.just("take"), st.integers(1, 400)),
    ),
    max_size=60,
)


def reference(waiting: list[bytes], frame: bytes) -> bool:
    """Implements the rule in the simplest way: drops the oldest audio until the rest fits."""
    waiting.append(frame)
    while sum(map(len, waiting)) > LIMIT:
        oldest = next((each for each in waiting if SESSION_FORMAT.is_droppable(each)), None)
        if oldest is None:
            waiting.pop()
            return False
        waiting.remove(oldest)
    return True


@given(STEPS)
def test_the_queue_keeps_order_and_drops_the_oldest_audio(steps: list[tuple[str, int]]) -> None:
    queue, waiting, put, taken = (
        SendBuffer(LIMIT, SESSION_FORMAT),
        list[bytes](),
        0,
        list[bytes](),
    )
    refused = 0
    for kind, number in steps:
        if kind == "take":
            received = queue.take(number)
            assert received == waiting[: len(received)] and (received or not waiting)
            del waiting[: len(received)]
            taken += received
        else:
            frame = encode_frame(audio(number) if kind == "audio" else ping(number))
            put += 1
            fits = queue.put(frame)
            assert fits == reference(waiting, frame)
            refused += not fits
        assert queue.size == sum(map(len, waiting)) <= LIMIT
    assert queue.take(LIMIT) == waiting
    assert put == len(taken) + len(waiting) + queue.dropped + refused


def test_new_audio_is_dropped_if_no_other_audio_can_be() -> None:
    queue = SendBuffer(40, SESSION_FORMAT)
    others = [encode_frame(ping(number)) for number in range(3)]
    assert all(map(queue.put, others))
    assert queue.put(encode_frame(audio(30))) and queue.dropped == 1
    assert not queue.put(encode_frame(ping(3)))
    assert queue.take(40) == others
