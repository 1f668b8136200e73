"""Two transports connected in memory, with chunks down to one byte."""

from __future__ import annotations

import asyncio
import logging

import pytest
from agent_session import (
    FrameTooLarge,
    MemorySessionTransport,
    SessionTransport,
    SlowConsumer,
    StreamLimits,
    TransportClosed,
    TransportError,
    TruncatedFrame,
    memory_pair,
)
from agent_session.transport.framing import encode_frame
from agent_session_protocol.agent_session_pb2 import AgentSessionMessage
from transport_messages import Collector, audio, framed, ping, read_all, run, transcript
from memory_transports import closed


@pytest.mark.parametrize("chunk", [1, 3, 1 << 16])
def test_messages_arrive_in_order_both_ways(chunk: int) -> None:
    async def main() -> None:
        left, right = memory_pair(chunk=chunk)
        async with left, right:
            numbers = range(50)
            for number in numbers:
                await left.send(ping(number))
                right.send_nowait(transcript(str(number)))
            async for message in right:
                assert message == ping(int(message.request.request_id))
                if message == ping(numbers[-1]):
                    break
            for number in numbers:
                assert await left.__anext__() == transcript(str(number))

    run(main())


@pytest.mark.parametrize("chunk", [1, 1 << 16])
def test_messages_sent_before_a_close_arrive(chunk: int) -> None:
    async def main() -> None:
        left, right = memory_pair(chunk=chunk)
        for number in range(20):
            left.send_nowait(ping(number))
        messages, _ = await asyncio.gather(read_all(right), left.close())
        assert messages == [ping(number) for number in range(20)]
        assert right.reason is None and right.closed and left.closed
        assert await read_all(right) == [] and await read_all(left) == []
        for transport in (left, right):
            with pytest.raises(TransportClosed) as caught:
                await transport.send(ping())
            assert caught.value.reason is None
            with pytest.raises(TransportClosed):
                transport.send_nowait(ping())
            with pytest.raises(TransportClosed):
                transport.send_threadsafe(ping())
            with pytest.raises(TransportClosed):
                await transport.start()
        await closed(left, right)

    run(main())


def test_an_echo_answers_messages_received_before_eof() -> None:
    async def main() -> None:
        left, right = memory_pair()

        async def echo() -> None:
            async for message in right:
                await right.send(message)

        echoing = asyncio.ensure_future(echo())
        for number in range(100):
            await left.send(ping(number))
            assert await left.__anext__() == ping(number)
        await closed(left, right)
        await echoing

    run(main())


def test_a_receiver_gets_buffered_messages_and_one_end() -> None:
    async def main() -> None:
        left, right = memory_pair()
        await left.send(ping(1))
        assert await right.__anext__() == ping(1)
        for number in (2, 3):
            await left.send(ping(number))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        collector = Collector()
        right.deliver_to(collector)
        await left.send(ping(4))
        await left.close()
        assert collector.messages == [ping(2), ping(3), ping(4)]
        await closed(right)
        assert collector.ends == [None]
        with pytest.raises(RuntimeError):
            right.deliver_to(collector)
        late = Collector()
        left.deliver_to(late)
        assert late.ends == [None] and not late.messages

    run(main())


@pytest.mark.parametrize("kind", [ValueError, asyncio.CancelledError])
def test_exceptions_of_a_receiver_are_logged(
    kind: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(Collector):
        def message_received(self, message: AgentSessionMessage) -> None:
            super().message_received(message)
            raise kind

        def transport_ended(self, reason: TransportError | None) -> None:
            super().transport_ended(reason)
            raise kind

    async def main() -> None:
        left, right = memory_pair()
        broken = Broken()
        right.deliver_to(broken)
        await left.send(ping(1))
        await left.send(ping(2))
        await closed(left)
        assert broken.messages == [ping(1), ping(2)] and broken.ends == [None]
        await closed(right)

    run(main())
    assert caplog.text.count("a receiver failed on a message") == 2
    assert caplog.text.count("a receiver failed when its transport ended") == 1


def test_a_second_reader_is_refused() -> None:
    async def main() -> None:
        left, right = memory_pair()
        waiting = asyncio.ensure_future(read_all(right))
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError):
            await right.__anext__()
        await closed(left, right)
        assert await waiting == []

    run(main())


def test_a_cancelled_reader_loses_no_message() -> None:
    async def main() -> None:
        left, right = memory_pair()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(right.__anext__(), 0.01)
        await left.send(ping(5))
        assert await right.__anext__() == ping(5)
        await closed(left, right)

    run(main())


def test_malformed_frames_are_refused_and_logged_without_payload(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        left, right = memory_pair()
        bad = framed(b"\x22\x08\x0a\x06secre\xff")
        left._put(bad * 100 + framed(b"") + encode_frame(ping(1)))
        assert await right.__anext__() == ping(1)
        assert right.refused_frames == 100 and right.reason is None
        await right.send(ping(2))
        assert await left.__anext__() == ping(2)
        await closed(left, right)

    run(main())
    refusals = [record for record in caplog.records if "refused" in record.getMessage()]
    assert len(refusals) == 8 + 3  # 16, 32, 64
    assert "secre" not in caplog.text


def test_an_oversized_header_ends_the_transport() -> None:
    async def main() -> None:
        left, right = memory_pair()
        left._put(encode_frame(ping(1)) + b"\x00\x10\x00\x01")
        assert await read_all(right) == [ping(1)]
        assert isinstance(right.reason, FrameTooLarge)
        with pytest.raises(TransportClosed) as caught:
            await right.send(ping())
        assert caught.value.reason is right.reason
        assert await read_all(left) == []
        await closed(left, right)

    run(main())


def test_an_oversized_message_raises_and_the_transport_stays_open() -> None:
    async def main() -> None:
        left, right = memory_pair()
        with pytest.raises(FrameTooLarge):
            await left.send(audio(1 << 20))
        await left.send(ping(1))
        assert await right.__anext__() == ping(1)
        await closed(left, right)

    run(main())


def test_an_end_inside_a_frame_is_a_truncated_frame() -> None:
    async def main() -> None:
        left, right = memory_pair()
        left._put(encode_frame(ping(1)) + encode_frame(ping(2))[:-1])
        await left.close()
        assert await read_all(right) == [ping(1)]
        assert isinstance(right.reason, TruncatedFrame)
        await closed(right)

    run(main())


def test_a_slow_reader_blocks_its_peer_and_gets_all_messages() -> None:
    async def main() -> None:
        left, right = memory_pair(StreamLimits(receive_queue=1 << 16))
        total = 400
        sending = asyncio.ensure_future(send_all(left, total))
        for _ in range(50):
            await asyncio.sleep(0)
        assert not sending.done() and left._write_paused and right._read_paused
        received = [await right.__anext__() for _ in range(total)]
        assert [len(message.event.user_input_transcribed.transcript) for message in received] == [
            10_000
        ] * total
        await sending
        await closed(left, right)

    async def send_all(transport: MemorySessionTransport, total: int) -> None:
        for _ in range(total):
            await transport.send(transcript("x" * 10_000))

    run(main())


def test_a_peer_that_does_not_read_loses_audio_then_its_transport() -> None:
    async def main() -> None:
        limits = StreamLimits(send_queue=2 << 20, receive_queue=1 << 16)
        left, right = memory_pair(limits)
        for _ in range(1000):
            await left.send(audio(64_000))
        assert left.dropped_frames > 900 and not left.closed
        events = 0
        with pytest.raises(TransportClosed) as caught:
            for events in range(10_000):  # noqa: B007
                left.send_nowait(transcript("x" * 1000))
        assert isinstance(caught.value.reason, SlowConsumer) and events > 1900
        assert left.reason is caught.value.reason and left.closed
        assert left._send_buffer.size == 0
        await closed(left, right)

    run(main())


def test_events_between_dropped_audio_keep_their_order() -> None:
    async def main() -> None:
        left, right = memory_pair(StreamLimits(send_queue=2 << 20, receive_queue=1 << 16))
        for number in range(100):
            left.send_nowait(audio(100_000))
            left.send_nowait(ping(number))
            await asyncio.sleep(0)
        assert left.dropped_frames
        received, _ = await asyncio.gather(read_all(right), left.close())
        requests = [each for each in received if each.HasField("request")]
        assert requests == [ping(number) for number in range(100)]
        assert len(received) - len(requests) == 100 - left.dropped_frames
        await closed(right)

    run(main())


def test_a_waiting_send_fails_when_the_peer_does_not_read() -> None:
    async def main() -> None:
        left, right = memory_pair(StreamLimits(receive_queue=1 << 16, stall_timeout=0.05))
        with pytest.raises(TransportClosed) as caught:
            while True:
                await left.send(transcript("x" * 10_000))
        assert isinstance(caught.value.reason, SlowConsumer)
        await closed(left, right)

    run(main())


def test_a_close_or_a_cancellation_ends_waiting_sends() -> None:
    async def flood(transport: MemorySessionTransport) -> None:
        while True:
            await transport.send(transcript("x" * 10_000))

    async def main() -> None:
        left, right = memory_pair(StreamLimits(receive_queue=1 << 16))
        floods = [asyncio.ensure_future(flood(left)) for _ in range(3)]
        for _ in range(100):
            await asyncio.sleep(0)
        assert left._write_paused
        floods[0].cancel()
        await left.close(0.05)
        results = await asyncio.gather(*floods, return_exceptions=True)
        assert isinstance(results[0], asyncio.CancelledError)
        assert all(isinstance(result, TransportClosed) for result in results[1:])
        await closed(right)

    run(main())


def test_sends_of_audio_never_wait_or_end_the_transport(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)

    async def main() -> None:
        left, right = memory_pair(StreamLimits(receive_queue=1 << 16, stall_timeout=0.01))
        for _ in range(2000):
            await left.send(audio(32_000))
        await asyncio.sleep(0.03)
        assert not left.closed and left.dropped_frames > 1000
        await left.close(0.05)
        await closed(right)

    run(main())
    assert 5 <= caplog.text.count("frames dropped so far") <= 13


def test_a_flush_waits_for_a_slow_peer_and_fails_at_its_end() -> None:
    async def main() -> None:
        left, right = memory_pair(StreamLimits(receive_queue=1 << 16))
        for _ in range(60):
            left.send_nowait(transcript("x" * 10_000))
        flushing = asyncio.ensure_future(left.flush())
        for _ in range(50):
            await asyncio.sleep(0)
        assert not flushing.done()
        for _ in range(60):
            await right.__anext__()
        await flushing
        assert left._send_buffer.size == 0
        for _ in range(60):
            left.send_nowait(transcript("x" * 10_000))
        flushing = asyncio.ensure_future(left.flush())
        await asyncio.sleep(0)
        await left.close(0.02)
        for ended in (flushing, left.flush()):
            with pytest.raises(TransportClosed):
                await ended
        await closed(right)

    run(main())


class Replay(SessionTransport):
    """A transport with only the required methods."""

    def __init__(self, messages: list[AgentSessionMessage]) -> None:
        self._messages = messages

    async def start(self) -> None: ...

    async def send(self, message: AgentSessionMessage) -> None:
        self.send_nowait(message)

    def send_nowait(self, message: AgentSessionMessage) -> int:
        self._messages.append(message)
        return message.ByteSize()

    async def flush(self) -> None: ...

    async def close(self, timeout: float | None = None) -> None: ...

    @property
    def closed(self) -> bool:
        return False

    @property
    def reason(self) -> SlowConsumer:
        return SlowConsumer(2, 1)

    async def __anext__(self) -> AgentSessionMessage:
        if not self._messages:
            raise StopAsyncIteration
        return self._messages.pop(0)


def test_any_transport_delivers_to_a_receiver() -> None:
    async def main() -> None:
        async with Replay([ping(1), ping(2)]) as transport:
            collector = Collector()
            task = transport.deliver_to(collector)
            assert task is not None
            await task
            assert collector.messages == [ping(1), ping(2)]
            assert isinstance(collector.ends[0], SlowConsumer)

    run(main())
