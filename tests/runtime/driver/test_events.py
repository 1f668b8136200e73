"""Events of a RemoteSession, by listener and by iteration, over a pair in memory."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from typing import Any

import pytest
from agent_session import EventsMissed, ReceivedEvent, RemoteSession
from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.dispatch import AGENT_SESSION_EVENT_ARMS, AgentSessionEventArm
from scripted_host import UNKNOWN_ARM, closed_event, driven, pong, transcript_event
from transport_messages import run


def event_of(arm: str) -> pb.AgentSessionEvent:
    event = pb.AgentSessionEvent()
    getattr(event, arm).SetInParent()
    event.created_at.FromSeconds(1_700_000_000)
    return event


@pytest.mark.parametrize("arm", AGENT_SESSION_EVENT_ARMS)
def test_every_event_reaches_its_listeners_and_all_iterators(arm: AgentSessionEventArm) -> None:
    """RemoteSession names no event, so that new events of the protocol work as well."""

    async def main() -> None:
        async with driven(chunk=1) as (session, host):
            delivered: list[tuple[str, Any, pb.AgentSessionEvent]] = []
            removers = [listen_to(session, each, delivered) for each in AGENT_SESSION_EVENT_ARMS]
            streams = session.events(), session.events()
            event = event_of(arm)
            host.emit(event)
            number = AGENT_SESSION_EVENT_ARMS[arm].number
            for stream in streams:
                assert await stream.__anext__() == ReceivedEvent(arm, number, event)
            assert delivered == [(arm, getattr(event, arm), event)]
            for remove in removers:
                remove()
            host.emit(event)
            pending_call = asyncio.ensure_future(session.ping())
            host.respond(pong(await host.request()))
            await pending_call
            assert len(delivered) == 1

    def listen_to(session: RemoteSession, arm: str, delivered: list[Any]) -> Callable[[], None]:
        add = getattr(session, f"on_{arm}")
        remove: Callable[[], None] = add(
            lambda payload, event: delivered.append((arm, payload, event))
        )
        return remove

    run(main())


def test_iteration_ends_after_session_closed() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            stream = session.events()
            host.emit(transcript_event("bye"))
            host.say_closed()
            host.emit(transcript_event("after the end"))
            items = [received.event async for received in stream]
            assert items == [transcript_event("bye"), closed_event()]
            assert [received async for received in stream] == []
            assert [received async for received in session] == []  # as it is over

    run(main())


@pytest.mark.parametrize(("content", "number"), [(UNKNOWN_ARM, 99), (b"", None)])
def test_an_event_with_an_unknown_arm(content: bytes, number: int | None) -> None:
    async def main() -> None:
        async with driven() as (session, host):
            delivered: list[tuple[int | None, pb.AgentSessionEvent]] = []
            session.on_unknown(lambda number, event: delivered.append((number, event)))
            stream = session.events()
            event = pb.AgentSessionEvent.FromString(content)
            event.created_at.FromSeconds(5)
            host.emit(event)
            assert await stream.__anext__() == ReceivedEvent(None, number, event)
            assert delivered == [(number, event)]
            host.emit(transcript_event("on"))  # the session continues
            assert (await stream.__anext__()).arm == "user_input_transcribed"

    run(main())


def test_exceptions_of_a_listener_are_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        async with driven() as (session, host):
            delivered: list[str] = []

            @session.on_user_input_transcribed
            def broken(payload: object, event: object) -> None:
                raise ValueError("oh no")

            session.on_user_input_transcribed(lambda sent, _: delivered.append(sent.transcript))
            pending_call = asyncio.ensure_future(session.ping())
            request = await host.request()
            host.emit(transcript_event("secret"))
            host.respond(pong(request))
            await pending_call
            assert delivered == ["secret"]
            broken()  # removes it
            host.emit(transcript_event("two"))
            host.say_closed()
            await session.wait_ended()
            assert delivered == ["secret", "two"]

    run(main())
    errors = [record for record in caplog.records if "a listener of" in record.getMessage()]
    assert len(errors) == 1 and "secret" not in caplog.text


def test_a_slow_reader_gets_the_place_and_number_of_missed_events() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            weight = 512 + transcript_event("0").ByteSize()
            slow, quick = session.events(limit=3 * weight), session.events()
            for number in range(8):
                host.emit(transcript_event(str(number)))
            assert [(await quick.__anext__()).event for _ in range(8)] == [
                transcript_event(str(number)) for number in range(8)
            ]
            assert (await slow.__anext__()).event == transcript_event("0")
            # There is space again: event 8 follows the gap, and event 9 causes another gap.
            for number in (8, 9):
                host.emit(transcript_event(str(number)))
            host.say_closed()
            await session.wait_ended()
            items: list[object] = []
            while True:
                try:
                    async for received in slow:
                        items.append(received.event)
                    break
                except EventsMissed as error:
                    items.append(error.count)
            texts = [transcript_event(text) for text in "128"]
            assert items == [texts[0], texts[1], 5, texts[2], 1, closed_event()]

    run(main())


def test_unread_events_are_bounded_by_their_size() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            stream = session.events(limit=1 << 20)
            for _ in range(40):
                await host.transport.send(
                    pb.AgentSessionMessage(event=transcript_event("x" * 100_000))
                )
            host.say_closed()
            await session.wait_ended()
            events = [each for each in stream._queue if isinstance(each, ReceivedEvent)]
            assert len(events) == 10 + 1 and list(stream._queue)[10] == 30

    run(main())


def test_an_iterator_that_was_deleted_gets_no_events() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            host.emit(transcript_event("one"))
            host.emit(transcript_event("two"))
            async for received in session:
                assert received.event == transcript_event("one")
                break
            gc.collect()
            assert not session._streams

    run(main())


def test_a_second_reader_of_an_iterator_is_refused() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            stream = session.events()
            first = asyncio.ensure_future(stream.__anext__())
            await asyncio.sleep(0)
            with pytest.raises(RuntimeError, match="already have a reader"):
                await stream.__anext__()
            first.cancel()
            await asyncio.wait([first])
            host.emit(transcript_event("still here"))
            assert (await stream.__anext__()).event == transcript_event("still here")

    run(main())


def test_iteration_ends_with_the_connection() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            stream = session.events()
            reading = asyncio.ensure_future(stream.__anext__())
            await asyncio.sleep(0)
            await host.transport.close()
            with pytest.raises(StopAsyncIteration):
                await reading

    run(main())
