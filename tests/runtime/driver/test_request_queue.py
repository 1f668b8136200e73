"""The flow control of requests."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from agent_session import (
    DriverClosed,
    FrameTooLarge,
    MemorySessionTransport,
    RemoteSession,
    RequestTimedOut,
    SessionLost,
    SlowConsumer,
    StreamLimits,
    memory_pair,
)
from agent_session_protocol import agent_session_pb2 as pb
from driver_process import answer_all
from scripted_host import Host, run_until_waiting
from transport_messages import run

KIB_500 = "x" * 500_000


@asynccontextmanager
async def congested() -> AsyncIterator[tuple[RemoteSession, Host, MemorySessionTransport]]:
    """Yields a session with a congested transport, whose host reads when the event is set."""
    driver_end, host_end = memory_pair(StreamLimits(close_timeout=0.05))
    host = Host(host_end)
    host.answer = answer_all
    async with host_end, RemoteSession(driver_end) as session:
        host_end._stream.pause_reading()
        first = [asyncio.ensure_future(session.run_input(text=KIB_500)) for _ in range(3)]
        await run_until_waiting(*first)
        yield session, host, host_end
        for call in first:
            call.cancel()
        await asyncio.wait(first)


def waiting_in(session: RemoteSession) -> int:
    """Returns the number of bytes in the send buffer."""
    transport = session._transport
    assert isinstance(transport, MemorySessionTransport)
    return transport._send_buffer.size


def test_queued_requests_keep_their_order() -> None:
    async def main() -> None:
        async with congested() as (session, host, host_end):
            received: list[str] = []

            def answer(request: pb.SessionRequest) -> pb.SessionResponse:
                received.append(request.run_input.text)
                return answer_all(request)

            host.answer = answer
            calls = [
                asyncio.ensure_future(session.run_input(text=f"{n:<100000}")) for n in range(100)
            ]
            await run_until_waiting(*calls)
            assert waiting_in(session) < 2 << 20
            host_end._stream.resume_reading()
            await asyncio.gather(*calls)
            assert [int(text) for text in received if text != KIB_500] == [*range(100)]
            # The next request is sent at once.
            assert session._request_queue._task is None
            await session.ping()

    run(main())


def test_a_queued_request_times_out() -> None:
    async def main() -> None:
        async with congested() as (session, host, host_end):
            calls = [session.run_input(text="late", timeout=0.05) for _ in range(100)]
            results = await asyncio.gather(*calls, return_exceptions=True)
            assert {type(result) for result in results} == {RequestTimedOut}
            cancelled = asyncio.ensure_future(session.run_input(text="cancelled"))
            await run_until_waiting(cancelled)
            cancelled.cancel()
            pending_call = asyncio.ensure_future(session.ping())
            await run_until_waiting(pending_call)
            host.answer = None
            host_end._stream.resume_reading()
            # A request that has timed out is not sent.
            requests = [await host.request() for _ in range(4)]
            assert [each.WhichOneof("request") for each in requests] == ["run_input"] * 3 + ["ping"]
            host.respond(answer_all(requests[-1]))
            await pending_call

    run(main())


def test_only_a_request_over_the_size_limit_fails() -> None:
    async def main() -> None:
        async with congested() as (session, _, host_end):
            large = asyncio.ensure_future(session.run_input(text=KIB_500 * 3))
            small = asyncio.ensure_future(session.run_input(text="small"))
            await run_until_waiting(large, small)
            host_end._stream.resume_reading()
            with pytest.raises(FrameTooLarge):
                await large
            assert (await small).items[0].message.id == "small"

    run(main())


def test_a_close_fails_queued_requests() -> None:
    async def main() -> None:
        async with congested() as (session, _, _):
            calls = [asyncio.ensure_future(session.run_input(text="x")) for _ in range(100)]
            await run_until_waiting(*calls)
            await session.close()
            assert session._request_queue._task is None
            results = await asyncio.gather(*calls, return_exceptions=True)
            assert {type(result) for result in results} == {DriverClosed}

    run(main())


def test_a_request_that_overflows_the_transport() -> None:
    """The transport ends while it sends the request, and the request fails like all others."""

    async def main() -> None:
        driver_end, host_end = memory_pair(StreamLimits(send_queue=(1 << 20) + 4))
        host_end._stream.pause_reading()
        async with host_end, RemoteSession(driver_end) as session:
            sizes = (200_000, 800_000, 900_000)
            calls = [session.run_input(text="x" * size) for size in sizes]
            for error in await asyncio.gather(*calls, return_exceptions=True):
                assert isinstance(error, SessionLost) and isinstance(error.reason, SlowConsumer)

    run(main())


def test_the_end_of_the_connection_fails_queued_requests(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        async with congested() as (session, _, host_end):
            calls = [asyncio.ensure_future(session.run_input(text="x")) for _ in range(100)]
            await run_until_waiting(*calls)
            await host_end.close(0.01)
            results = await asyncio.gather(*calls, return_exceptions=True)
            assert {type(result) for result in results} == {SessionLost}
            while session._request_queue._task is not None:
                await asyncio.sleep(0)

    with caplog.at_level(logging.ERROR):
        run(main())
    assert not caplog.records
