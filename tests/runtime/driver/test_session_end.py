"""The end of a RemoteSession: by session_closed, the end of the connection, or a close."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agent_session import (
    DriverClosed,
    Ended,
    FrameTooLarge,
    Lost,
    RemoteSession,
    SessionEnded,
    SessionLost,
    SlowConsumer,
    StreamLimits,
    TransportClosed,
    TruncatedFrame,
    memory_pair,
)
from agent_session_protocol import agent_session_pb2 as pb
from scripted_host import (
    Host,
    run_until_waiting,
    closed_event,
    driven,
    failed,
    pong,
    transcript_event,
)
from tcp_transports import raw_peer
from transport_messages import framed, run


def test_only_runs_fail_after_session_closed() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            ending = asyncio.ensure_future(session.wait_ended())
            run_1 = asyncio.ensure_future(session.run_input(text="one"))
            history = asyncio.ensure_future(session.get_chat_history())
            run_2 = asyncio.ensure_future(session.run_input(text="two"))
            first, second, third = [await host.request() for _ in range(3)]
            host.say_closed(pb.CR_ERROR, "the model is gone")
            ended = Ended(pb.CR_ERROR, "the model is gone")
            assert await ending == ended == session.outcome
            assert ended.reason_name == "CR_ERROR"
            for pending_call in (run_1, run_2):
                error = await failed(pending_call, SessionEnded)
                assert error.outcome == ended and "CR_ERROR" in str(error)
            # Later runs fail in the same way, and are not sent.
            await failed(session.run_input(text="three"), SessionEnded)
            # During the hold, the host answers earlier and new requests.
            response = pb.SessionResponse(request_id=second.request_id)
            response.get_chat_history.SetInParent()
            host.respond(response)
            assert await history == response.get_chat_history
            verdict = asyncio.ensure_future(
                session.finalize_simulation(provisional_success=True, provisional_reason="good")
            )
            request = await host.request()
            assert request.finalize_simulation.provisional_reason == "good"
            response = pb.SessionResponse(request_id=request.request_id)
            response.finalize_simulation.user_verdict.success = True
            host.respond(response)
            assert (await verdict).user_verdict.success
            # A response to a run that has failed is ignored.
            host.respond(pb.SessionResponse(request_id=first.request_id, error="superseded"))
            pinging = asyncio.ensure_future(session.ping())
            host.respond(pong(await host.request()))
            await pinging
            assert not third.request_id == first.request_id and not host.requests

    run(main())


@pytest.mark.parametrize(
    ("number", "name"),
    [(5, "CR_COMPLETED"), (4, "CR_USER_INITIATED"), (0, "CR_UNKNOWN"), (77, "CR_UNKNOWN")],
)
def test_the_outcome_has_the_number_and_name_of_the_reason(number: int, name: str) -> None:
    async def main() -> None:
        async with driven() as (session, host):
            # Enums are open: an unknown number is preserved.
            event = pb.AgentSessionEvent.FromString(bytes([0xC2, 1, 2, 8, number]))
            assert event.HasField("session_closed")
            host.emit(event)
            outcome = await session.wait_ended()
            assert isinstance(outcome, Ended)
            assert (outcome.reason, outcome.reason_name, outcome.error) == (number, name, None)

    run(main())


def test_the_first_outcome_is_kept() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            host.say_closed(pb.CR_JOB_SHUTDOWN)
            host.say_closed(pb.CR_ERROR, "again")
            host.emit(transcript_event("after the end"))
            await host.transport.close()
            assert await session.wait_ended() == Ended(pb.CR_JOB_SHUTDOWN, None)
            await failed(session.ping(), SessionLost)
            # A run fails with SessionEnded, not SessionLost.
            await failed(session.run_input(text="x"), SessionEnded)
        assert session.outcome == Ended(pb.CR_JOB_SHUTDOWN, None)

    run(main())


def test_a_driver_that_starts_after_session_closed_has_the_outcome() -> None:
    async def main() -> None:
        driver_end, host_end = memory_pair()
        host = Host(host_end)
        host.say_closed()
        await host_end.close()
        async with RemoteSession(driver_end) as session:
            assert session.outcome == Ended(pb.CR_COMPLETED, None)
            assert [event async for event in session] == []

    run(main())


def test_a_start_after_the_end_delivers_earlier_messages_and_raises() -> None:
    async def main() -> None:
        driver_end, host_end = memory_pair()
        host = Host(host_end)
        host.emit(transcript_event("hello"))
        await host_end.close()
        session, received = RemoteSession(driver_end), list[str]()
        session.on_user_input_transcribed(lambda message, _: received.append(message.transcript))
        stream = session.events()
        with pytest.raises(TransportClosed):
            await session.start()
        assert received == ["hello"] and session.outcome == Lost(None)
        assert [each.event async for each in stream] == [transcript_event("hello")]
        await session.close()

    run(main())


def test_a_clean_eof_fails_all_requests() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            calls: list[asyncio.Future[Any]] = [
                asyncio.ensure_future(session.ping()),
                asyncio.ensure_future(session.run_input(text="x")),
            ]
            await host.request()
            await run_until_waiting(*calls)
            await host.transport.close()
            for pending_call in calls:
                error = await failed(pending_call, SessionLost)
                assert error.reason is None and error.__cause__ is None
            assert await session.wait_ended() == Lost(None)
            await failed(session.get_rtc_stats(), SessionLost)
            with pytest.raises(SessionLost):
                session.send_audio_input(pb.AgentSessionMessage.ConsoleIO.AudioFrame())

    run(main())


@pytest.mark.parametrize(
    ("sent", "reason"),
    [(framed(bytes(9))[:8], TruncatedFrame), (bytes([0, 0x10, 0, 1]), FrameTooLarge)],
)
def test_session_lost_has_the_error_of_the_stream(
    sent: bytes, reason: type[TruncatedFrame | FrameTooLarge]
) -> None:
    async def main() -> None:
        async with raw_peer() as (transport, peer):
            async with RemoteSession(transport) as session:
                calls = [asyncio.ensure_future(session.ping()) for _ in range(64)]
                await run_until_waiting(*calls)
                peer.sendall(sent)
                if reason is TruncatedFrame:
                    peer.close()
                for pending_call in calls:
                    error = await failed(pending_call, SessionLost)
                    assert isinstance(error.reason, reason) and error.__cause__ is error.reason
                    assert session.outcome == Lost(error.reason)

    run(main())


def test_a_close_fails_pending_and_later_requests() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            ending = asyncio.ensure_future(session.wait_ended())
            stream = session.events()
            calls = [asyncio.ensure_future(session.run_input(text="x")) for _ in range(64)]
            await host.request()
            await asyncio.gather(session.close(), session.close())
            for pending_call in calls:
                await failed(pending_call, DriverClosed)
            assert await ending == Lost(None, by_driver=True) == await session.probe()
            assert [event async for event in stream] == [event async for event in session] == []
            await failed(session.ping(), DriverClosed)
            await failed(session.start(), DriverClosed)
            with pytest.raises(DriverClosed):
                session.send_audio_playback_finished()
            await session.close()

    run(main())


def test_a_close_of_a_session_before_its_start() -> None:
    async def main() -> None:
        driver_end, host_end = memory_pair()
        async with host_end:
            session = RemoteSession(driver_end)
            await session.close()
            for pending_call in (session.start(), session.ping(), session.wait_for_ready(1)):
                with pytest.raises(DriverClosed):
                    await pending_call
            assert await session.wait_ended() == Lost(None, by_driver=True)

    run(main())


def test_requests_sent_before_a_close_reach_the_host() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            calls = [asyncio.ensure_future(session.ping()) for _ in range(100)]
            await asyncio.sleep(0)
            await session.close()
            results = await asyncio.gather(*calls, return_exceptions=True)
            assert {type(result) for result in results} == {DriverClosed}
            assert len(host.requests) == 100
            await failed(session.ping(), DriverClosed)
            timer = session._pending._timer
            assert timer is not None and timer.cancelled()

    run(main())


def test_a_transport_that_is_closed_by_its_owner() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            pending_call = asyncio.ensure_future(session.ping())
            await host.request()
            await session._transport.close()
            await failed(pending_call, SessionLost)
            assert session.outcome == Lost(None)

    run(main())


def test_a_close_ends_at_its_timeout_if_the_host_does_not_read() -> None:
    async def main() -> None:
        async with raw_peer(StreamLimits(close_timeout=60)) as (transport, _):
            session = RemoteSession(transport)
            await session.start()
            calls = [asyncio.ensure_future(session.run_input(text="x" * 900_000)) for _ in range(6)]
            await run_until_waiting(*calls)
            await session.close(0.1)
            for pending_call in calls:
                await failed(pending_call, DriverClosed)

    run(main())


def test_a_host_that_does_not_read_is_a_slow_consumer() -> None:
    async def main() -> None:
        limits = StreamLimits(stall_timeout=0.2, close_timeout=0.2)
        async with raw_peer(limits) as (transport, _):
            async with RemoteSession(transport) as session:
                calls = [session.run_input(text="x" * 900_000) for _ in range(30)]
                results = await asyncio.gather(*calls, return_exceptions=True)
                for result in results:
                    assert isinstance(result, SessionLost)
                    assert isinstance(result.reason, SlowConsumer)
                assert isinstance(session.outcome, Lost)

    run(main())


def test_a_listener_sees_the_outcome_and_may_close_the_session() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            seen: list[object] = []
            closing: list[asyncio.Future[None]] = []

            def closed(payload: object, event: pb.AgentSessionEvent) -> None:
                seen.append((session.outcome, event))
                closing.append(asyncio.ensure_future(session.close()))

            session.on_session_closed(closed)
            host.say_closed()
            await session.wait_ended()
            assert seen == [(Ended(pb.CR_COMPLETED, None), closed_event())]
            await closing[0]

    run(main())


def test_a_transport_error_of_the_start_is_raised() -> None:
    async def main() -> None:
        driver_end, host_end = memory_pair()
        await asyncio.gather(driver_end.close(), host_end.close())
        session = RemoteSession(driver_end)
        with pytest.raises(TransportClosed):
            await session.start()
        await session.close()

    run(main())
