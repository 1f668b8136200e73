"""The frame codec: any split of a stream gives the same messages, and no input raises."""

from __future__ import annotations

import time
from typing import cast

import fuzz_framing
import pytest
from agent_session import (
    MAX_FRAME_SIZE,
    FrameTooLarge,
    MalformedFrame,
    TruncatedFrame,
    UnencodableMessage,
)
from agent_session.transport.framing import FrameDecoder, encode_frame
from agent_session.transport.session import SESSION_FORMAT
from agent_session_protocol.agent_session_pb2 import AgentSessionMessage
from google.protobuf.message import EncodeError
from hypothesis import given, settings
from hypothesis import strategies as st
from transport_messages import audio, framed, nested_struct, ping, transcript

MESSAGES = st.lists(
    st.one_of(
        st.builds(ping, st.integers(0, 1 << 30)),
        st.builds(transcript, st.text(max_size=200)),
        st.builds(audio, st.integers(0, 2000)),
        st.just(AgentSessionMessage()),  # zero length: ignored
    ),
    max_size=12,
)
BAD_UTF8 = b"\x22\x03\x0a\x01\xff"  # request.request_id


def decode(
    decoder: FrameDecoder[AgentSessionMessage], stream: bytes, cuts: list[int]
) -> list[AgentSessionMessage]:
    edges = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
    return [
        message
        for start, end in zip(edges, edges[1:], strict=False)
        for message in decoder.receive(stream[start:end])
    ]


@given(MESSAGES, st.lists(st.integers(0, 1 << 16), max_size=30))
def test_any_split_gives_the_same_messages(
    messages: list[AgentSessionMessage], cuts: list[int]
) -> None:
    stream = b"".join(map(encode_frame, messages))
    expected = [message for message in messages if message.ByteSize()]
    decoder = FrameDecoder(AgentSessionMessage)
    assert decode(decoder, stream, cuts) == expected
    assert decoder.receive_eof() is None and not decoder.refused
    decoder = FrameDecoder(AgentSessionMessage)
    assert decode(decoder, stream, list(range(len(stream)))) == expected


@given(st.binary(max_size=2000), st.lists(st.integers(0, 2000), max_size=8))
@settings(max_examples=300)
def test_random_bytes_never_raise(stream: bytes, cuts: list[int]) -> None:
    split, whole = FrameDecoder(AgentSessionMessage), FrameDecoder(AgentSessionMessage)
    assert decode(split, stream, cuts) == whole.receive(stream)
    assert str(split.receive_eof()) == str(whole.receive_eof())
    assert list(map(str, split.refused)) == list(map(str, whole.refused))


@given(MESSAGES, st.data())
@settings(max_examples=300)
def test_a_mutated_stream_never_raises(
    messages: list[AgentSessionMessage], data: st.DataObject
) -> None:
    stream = bytearray(b"".join(map(encode_frame, messages)))
    for _ in range(data.draw(st.integers(1, 5)) if stream else 0):
        stream[data.draw(st.integers(0, len(stream) - 1))] = data.draw(st.integers(0, 255))
    decoder = FrameDecoder(AgentSessionMessage)
    decoder.receive(bytes(stream))
    error = decoder.receive_eof()
    assert error is None or isinstance(error, FrameTooLarge | TruncatedFrame)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_short_run_of_the_fuzz(seed: int) -> None:
    fuzz_framing.fuzz(5000, seed)


def test_a_length_over_the_limit_is_refused_by_its_header() -> None:
    decoder = FrameDecoder(AgentSessionMessage)
    header = (MAX_FRAME_SIZE + 1).to_bytes(4, "big")
    good = encode_frame(ping(7))
    assert decoder.receive(good + header[:3]) == [ping(7)]
    assert decoder.error is None
    assert decoder.receive(header[3:] + bytes(1000)) == []
    assert isinstance(decoder.error, FrameTooLarge)
    assert (decoder.error.size, decoder.error.limit) == (MAX_FRAME_SIZE + 1, MAX_FRAME_SIZE)
    assert not decoder._partial
    assert decoder.receive(good) == []
    assert isinstance(decoder.receive_eof(), FrameTooLarge)


def test_messages_before_an_oversized_frame_arrive() -> None:
    decoder = FrameDecoder(AgentSessionMessage)
    assert decoder.receive(encode_frame(ping(1)) + b"\xff\xff\xff\xff") == [ping(1)]
    assert isinstance(decoder.error, FrameTooLarge)


def test_a_frame_of_the_limit_is_encoded_and_decoded() -> None:
    message = transcript("x" * (MAX_FRAME_SIZE - 100))
    message.event.user_input_transcribed.transcript += "x" * (MAX_FRAME_SIZE - message.ByteSize())
    assert message.ByteSize() == MAX_FRAME_SIZE
    assert FrameDecoder(AgentSessionMessage).receive(encode_frame(message)) == [message]
    message.event.user_input_transcribed.transcript += "x"
    with pytest.raises(FrameTooLarge) as caught:
        encode_frame(message)
    assert caught.value.size == MAX_FRAME_SIZE + 1


@pytest.mark.parametrize("body", [BAD_UTF8, nested_struct(200), b"\xff" * 9])
def test_only_the_malformed_frame_is_refused(body: bytes) -> None:
    stream = encode_frame(ping(1)) + framed(body) + encode_frame(ping(2))
    for chunk in (1, len(stream)):
        decoder = FrameDecoder(AgentSessionMessage)
        decoded_parts = [
            message
            for start in range(0, len(stream), chunk)
            for message in decoder.receive(stream[start : start + chunk])
        ]
        assert decoded_parts == [ping(1), ping(2)]
        (error,) = decoder.refused
        assert isinstance(error, MalformedFrame)
        assert (error.index, error.size) == (1, len(body))
        assert error.__cause__ is None and error.__context__ is None
        assert decoder.receive_eof() is None


def test_the_deepest_nesting_that_protobuf_parses_is_accepted() -> None:
    decoder = FrameDecoder(AgentSessionMessage)
    assert len(decoder.receive(framed(nested_struct(10)))) == 1 and not decoder.refused


def test_an_unknown_arm_is_preserved() -> None:
    (message,) = FrameDecoder(AgentSessionMessage).receive(framed(b"\xfa\x01\x02hi"))
    assert message.WhichOneof("message") is None
    assert message.SerializeToString() == b"\xfa\x01\x02hi"


def test_zero_length_frames_are_ignored() -> None:
    decoder = FrameDecoder(AgentSessionMessage)
    assert decoder.receive(bytes(400) + encode_frame(ping()) + bytes(4)) == [ping()]
    assert decoder.receive_eof() is None


@pytest.mark.parametrize(("received_bytes", "expected"), [(1, None), (3, None), (4, 11), (10, 11)])
def test_an_end_inside_a_frame_is_a_truncated_frame(
    received_bytes: int, expected: int | None
) -> None:
    frame = encode_frame(ping())
    assert len(frame) == 11
    decoder = FrameDecoder(AgentSessionMessage)
    decoder.receive(frame + frame[:received_bytes])
    error = decoder.receive_eof()
    assert isinstance(error, TruncatedFrame)
    assert (error.received, error.expected) == (received_bytes, expected)
    assert decoder.receive_eof() is error


def test_a_message_that_protobuf_cannot_encode_raises() -> None:
    class Unencodable:
        def SerializeToString(self) -> bytes:
            raise EncodeError("the secret payload")

    with pytest.raises(UnencodableMessage) as caught:
        encode_frame(cast(AgentSessionMessage, Unencodable()))
    assert "secret" not in str(caught.value)


def test_audio_is_recognised_by_its_frame() -> None:
    arms = AgentSessionMessage.DESCRIPTOR.oneofs_by_name["message"].fields
    for field in arms:
        message = AgentSessionMessage()
        getattr(message, field.name).SetInParent()
        message.MergeFromString(b"\xf8\x07\x01")  # a field that this build does not know
        assert SESSION_FORMAT.is_droppable(encode_frame(message)) == (
            field.name in ("audio_input", "audio_output")
        )
    assert not SESSION_FORMAT.is_droppable(encode_frame(AgentSessionMessage()))


def test_the_cost_of_a_frame_is_linear_in_its_chunks() -> None:
    def cost(size: int) -> float:
        stream = encode_frame(audio(size))
        best = 9.0
        for _ in range(3):
            decoder = FrameDecoder(AgentSessionMessage)
            start = time.process_time()
            for at in range(0, len(stream), 8):
                decoder.receive(stream[at : at + 8])
            best = min(best, time.process_time() - start)
        return best / size

    assert cost(1_000_000) < 4 * cost(60_000)
