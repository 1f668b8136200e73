"""RemoteSession over a transport that delivers messages in a task."""

from __future__ import annotations

import asyncio
import logging

import pytest
from agent_session import (
    ConnectionLost,
    DriverClosed,
    Lost,
    RemoteSession,
    SessionLost,
    SessionTransport,
    SlowConsumer,
    TransportClosed,
)
from agent_session_protocol import agent_session_pb2 as pb
from scripted_host import run_until_waiting, failed, transcript_event
from transport_messages import run


class Tasked(SessionTransport):
    """A transport that delivers the messages in its queue, or raises an error from it."""

    def __init__(self) -> None:
        self.inbound: asyncio.Queue[pb.AgentSessionMessage | Exception] = asyncio.Queue()
        self.sent: list[pb.AgentSessionMessage] = []
        self.refuses: TransportClosed | None = None
        self.closing = asyncio.Event()
        self.may_close = asyncio.Event()
        self.may_close.set()
        self.flushing = asyncio.Event()
        self.flush_fault: Exception | None = None

    async def start(self) -> None:
        pass

    async def send(self, message: pb.AgentSessionMessage) -> None:
        self.send_nowait(message)

    def send_nowait(self, message: pb.AgentSessionMessage) -> int:
        if self.refuses is not None:
            raise self.refuses
        self.sent.append(message)
        return message.ByteSize()

    async def flush(self) -> None:
        self.flushing.set()
        if self.flush_fault is not None:
            raise self.flush_fault
        await asyncio.Event().wait()

    async def close(self, timeout: float | None = None) -> None:
        self.closing.set()
        await self.may_close.wait()

    @property
    def closed(self) -> bool:
        return False

    @property
    def reason(self) -> None:
        return None

    async def __anext__(self) -> pb.AgentSessionMessage:
        raised = await self.inbound.get()
        if isinstance(raised, Exception):
            raise raised
        return raised


def test_a_transport_that_raises_during_delivery_is_lost(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        transport = Tasked()
        async with RemoteSession(transport) as session:
            transport.inbound.put_nowait(OSError("the wire is cut"))
            error = await failed(session.ping(), SessionLost)
            assert isinstance(error.reason, ConnectionLost)
            assert isinstance(error.reason.__cause__, OSError)

    with caplog.at_level(logging.ERROR):
        run(main())
    assert "the delivery of messages failed" in caplog.text


def test_the_session_ends_with_the_delivery_task() -> None:
    async def main() -> None:
        transport = Tasked()
        async with RemoteSession(transport) as session:
            assert session.outcome is None
        transport = Tasked()
        async with RemoteSession(transport) as session:
            transport.inbound.put_nowait(StopAsyncIteration())
            assert await session.wait_ended() == Lost(None)

    run(main())


def test_a_cancelled_delivery_is_a_lost_session() -> None:
    async def main() -> None:
        async with RemoteSession(Tasked()) as session:
            pending_call = asyncio.ensure_future(session.ping())
            await run_until_waiting(pending_call)
            assert session._delivery is not None
            session._delivery.cancel()
            error = await failed(pending_call, SessionLost)
            assert isinstance(error.reason, ConnectionLost)
            assert session.outcome == Lost(error.reason)

    run(main())


def test_a_flush_that_fails_does_not_block_requests(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        transport = Tasked()
        transport.flush_fault = OSError("the wire is cut")
        async with RemoteSession(transport) as session:
            calls = [asyncio.ensure_future(session.run_input(text="x" * 600_000)) for _ in range(4)]
            while len(transport.sent) < 4:
                await asyncio.sleep(0)
            for message in transport.sent:
                response = pb.SessionResponse(request_id=message.request.request_id)
                response.run_input.SetInParent()
                transport.inbound.put_nowait(pb.AgentSessionMessage(response=response))
            assert len(await asyncio.gather(*calls)) == 4

    with caplog.at_level(logging.ERROR):
        run(main())
    assert "the flush of a transport failed" in caplog.text


def test_queued_requests_fail_if_the_transport_ends_in_flush() -> None:
    lost = ConnectionLost("reset")

    class Ending(Tasked):
        async def flush(self) -> None:
            self.refuses = TransportClosed(lost)
            raise self.refuses

    async def main() -> None:
        async with RemoteSession(Ending()) as session:
            calls = [asyncio.ensure_future(session.run_input(text="x" * 600_000)) for _ in range(4)]
            for pending_call in calls[2:]:
                error = await failed(pending_call, SessionLost)
                assert error.reason is lost
            for pending_call in calls[:2]:
                pending_call.cancel()

    run(main())


def test_a_close_during_a_flush_leaves_no_task() -> None:
    async def main() -> None:
        transport = Tasked()
        async with RemoteSession(transport) as session:
            calls = [asyncio.ensure_future(session.run_input(text="x" * 600_000)) for _ in range(3)]
            await transport.flushing.wait()
            assert len(transport.sent) == 2
        for pending_call in calls:
            await failed(pending_call, DriverClosed)

    run(main())


def test_a_transport_that_refuses_sends_before_it_reports_its_end() -> None:
    async def main() -> None:
        transport = Tasked()
        async with RemoteSession(transport) as session:
            transport.refuses = TransportClosed(SlowConsumer(2, 1))
            error = await failed(session.ping(), SessionLost)
            assert error.reason is transport.refuses.reason
            with pytest.raises(SessionLost) as caught:
                session.send_audio_playback_finished()
            assert caught.value.reason is transport.refuses.reason

    run(main())


def test_messages_that_arrive_during_a_close_are_ignored(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        transport, received = Tasked(), list[object]()
        async with RemoteSession(transport) as session:
            session.on_user_input_transcribed(lambda messages, _: received.append(messages))
            transport.may_close.clear()
            closing = asyncio.ensure_future(session.close())
            await transport.closing.wait()
            flush = pb.AgentSessionMessage()
            flush.audio_playback_flush.SetInParent()
            event = pb.AgentSessionMessage(event=transcript_event("too late"))
            for message in (flush, event):
                transport.inbound.put_nowait(message)
            while not transport.inbound.empty():
                await asyncio.sleep(0)
            transport.may_close.set()
            await closing
            assert not received and not transport.sent

    run(main())
    assert not caplog.records
