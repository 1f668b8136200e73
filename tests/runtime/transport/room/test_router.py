"""Transports that serve all participants of a room: the routing of messages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from agent_session import FrameTooLarge, RoomSessionTransport, TransportClosed
from agent_session.transport.room import receiver
from agent_session.transport.room import router
from agent_session.transport.room.router import Routes
from agent_session_protocol.agent_session_pb2 import AgentSessionMessage
from livekit import rtc
from room_stand_in import StandIn, stand_in
from room_transports import QUICK, RawReader, open_raw, response, send_raw, send_unlisted, take
from transport_messages import audio, ping, run, transcript


@asynccontextmanager
async def open_host() -> AsyncIterator[tuple[StandIn, RoomSessionTransport, rtc.Room, rtc.Room]]:
    """Yields a host without a remote identity, and two other participants."""
    async with stand_in() as server:
        agent = RoomSessionTransport(await server.join("agent"), limits=QUICK)
        async with agent:
            yield server, agent, await server.join("ann"), await server.join("bob")


def body(message: AgentSessionMessage) -> bytes:
    return message.SerializeToString()


def test_events_go_to_all_and_a_response_to_the_sender_of_the_request() -> None:
    async def main() -> None:
        async with open_host() as (server, host, ann, bob):
            at_ann, at_bob = RawReader(ann), RawReader(bob)
            await send_raw(ann, body(ping(1)), "agent")
            await send_raw(bob, body(ping(2)), "agent")
            assert sorted(await take(host, 2), key=str) == [ping(1), ping(2)]
            await host.send(transcript("for all"))
            host.send_nowait(response("2"))
            host.send_nowait(response("1"))
            await host.send(transcript("too"))
            events = [transcript("for all"), transcript("too")]
            assert await at_ann.messages(3) == [events[0], response("1"), events[1]]
            assert await at_bob.messages(3) == [events[0], response("2"), events[1]]
            to = [list(options.destination_identities) for who, options in server.opened[2:]]
            assert to == [[], ["bob"], ["ann"], []]

    run(main())


def test_a_response_to_a_hidden_participant_goes_to_all() -> None:
    """Its messages come without an identity."""

    async def main() -> None:
        async with open_host() as (server, host, ann, bob):
            at_ann, at_bob = RawReader(ann), RawReader(bob)
            send_unlisted(server, "", body(ping(1)))
            assert await host.__anext__() == ping(1)
            await at_ann.messages(1)  # the request itself
            await at_bob.messages(1)
            await host.send(response("1"))
            assert await at_ann.messages(1) == await at_bob.messages(1) == [response("1")]

    run(main())


def test_two_participants_may_use_the_same_request_id() -> None:
    async def main() -> None:
        async with open_host() as (_, host, ann, bob):
            at_ann, at_bob = RawReader(ann), RawReader(bob)
            await send_raw(ann, body(ping(7)), "agent")
            first = await host.__anext__()
            await send_raw(bob, body(ping(7)), "agent")
            ids = [each.request.request_id for each in (first, await host.__anext__())]
            assert ids[0] == "7" and ids[1] != "7"
            answer = response(ids[1], "for bob")
            await host.send(answer)
            assert answer.response.request_id == ids[1]  # the caller's message is not changed
            await host.send(response(ids[0], "for ann"))
            assert await at_bob.messages(1) == [response("7", "for bob")]
            assert await at_ann.messages(1) == [response("7", "for ann")]
            await host.flush()
            assert at_ann.received.empty() and at_bob.received.empty()

    run(main())


def test_a_participant_that_uses_an_id_twice_gets_both_responses() -> None:
    async def main() -> None:
        async with open_host() as (_, host, ann, _):
            at_ann = RawReader(ann)
            await send_raw(ann, body(ping(7)), "agent")
            await send_raw(ann, body(ping(7)), "agent")
            assert [each.request.request_id for each in await take(host, 2)] == ["7", "7"]
            await host.send(response("7", "twice"))
            await host.send(response("7"))
            assert await at_ann.messages(2) == [response("7", "twice"), response("7")]

    run(main())


def test_requests_without_an_id_are_answered_in_order() -> None:
    async def main() -> None:
        async with open_host() as (_, host, ann, bob):
            at_ann, at_bob = RawReader(ann), RawReader(bob)
            nameless = ping(1)
            nameless.request.request_id = ""
            for room in (ann, bob):
                await send_raw(room, body(nameless), "agent")
                assert await host.__anext__() == nameless
            await host.send(response("", "first"))
            await host.send(response("", "second"))
            assert await at_ann.messages(1) == [response("", "first")]
            assert await at_bob.messages(1) == [response("", "second")]

    run(main())


def test_a_response_without_a_request_is_dropped(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with open_host() as (server, host, ann, _):
            await send_raw(ann, body(ping(1)), "agent")
            await host.__anext__()
            await host.send(response("1"))
            await host.send(response("1"))
            host.send_nowait(response("unheard of"))
            await host.flush()
            assert len(server.opened) == 2

    run(main())
    assert caplog.text.count("a response was dropped") == 2


def test_a_request_can_be_answered_after_a_response_over_the_limit() -> None:
    async def main() -> None:
        async with open_host() as (_, host, ann, _):
            at_ann = RawReader(ann)
            await send_raw(ann, body(ping(1)), "agent")
            await host.__anext__()
            with pytest.raises(FrameTooLarge):
                await host.send(response("1", "x" * (16 << 20)))
            await host.send(response("1", "too long"))
            assert await at_ann.messages(1) == [response("1", "too long")]

    run(main())


def test_no_participant_ends_the_sessions_of_others(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with open_host() as (server, host, ann, bob):
            announced = await open_raw(ann, (16 << 20) + 1)
            await announced.write(bytes(10))
            announced_nothing = await open_raw(ann)
            for _ in range(17):
                await announced_nothing.write(bytes(1 << 20))
            await send_raw(bob, body(ping(1)), "agent")
            assert await host.__anext__() == ping(1)
            await ann.disconnect()
            await send_raw(bob, body(ping(2)), "agent")
            assert await host.__anext__() == ping(2)
            assert host.refused_frames == 2 and not host.closed

    run(main())
    assert caplog.text.count("limit of 16777216 bytes; refused") == 2


def test_an_unfinished_stream_delays_only_its_sender() -> None:
    async def main() -> None:
        async with open_host() as (_, host, ann, bob):
            writer = await open_raw(ann)
            await writer.write(body(ping(1))[:3])
            await send_raw(ann, body(ping(2)), "agent")
            for number in range(10):
                await send_raw(bob, body(ping(10 + number)), "agent")
            assert await take(host, 10) == [ping(10 + number) for number in range(10)]
            await writer.write(body(ping(1))[3:])
            await writer.aclose()
            assert await take(host, 2) == [ping(1), ping(2)]

    run(main())


def test_messages_of_a_participant_over_the_limit_are_refused(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(receiver, "MAX_WAITING", 5)

    async def main() -> None:
        async with open_host() as (_, host, ann, bob):
            await open_raw(ann)
            for number in range(7):
                await send_raw(ann, body(ping(number)), "agent")
            await send_raw(bob, body(ping(10)), "agent")
            assert await host.__anext__() == ping(10)
            assert host.refused_frames == 3 and not host.closed

    run(main())
    assert caplog.text.count("5 messages are waiting to be read") == 3


def test_only_a_disconnect_of_the_room_ends_it() -> None:
    async def main() -> None:
        async with open_host() as (server, host, ann, bob):
            await send_raw(ann, body(ping(1)), "agent")
            await ann.disconnect()
            await bob.disconnect()
            assert await host.__anext__() == ping(1)
            waiting = asyncio.ensure_future(host.__anext__())
            await asyncio.sleep(0)
            assert not host.closed
            await server.delete_room()
            with pytest.raises(StopAsyncIteration):
                await waiting
            assert host.closed and host.reason is None

    run(main())


def test_audio_goes_to_all() -> None:
    async def main() -> None:
        async with open_host() as (_, host, ann, bob):
            readers = RawReader(ann), RawReader(bob)
            await host.send(audio(100_000))
            assert [await each.messages(1) for each in readers] == [[audio(100_000)]] * 2

    run(main())


def test_routes_of_unanswered_requests_are_removed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(router, "MAX_ROUTES", 3)
    routes = Routes()
    for number in range(5):
        routes.add(str(number), "ann")
    assert [routes.get(str(number)) is not None for number in range(5)] == [False] * 2 + [True] * 3
    keys = {routes.add("4", f"guest {number}") for number in range(2)}
    assert len(keys) == 2 and "4" not in keys


@asynccontextmanager
async def open_driver() -> (
    AsyncIterator[tuple[StandIn, RoomSessionTransport, RoomSessionTransport, RoomSessionTransport]]
):
    """Yields a driver without a remote identity, and the transports of two hosts."""
    async with stand_in() as server:
        driver = RoomSessionTransport(await server.join("driver"), limits=QUICK)
        first = RoomSessionTransport(await server.join("first"), limits=QUICK)
        second = RoomSessionTransport(await server.join("second"), limits=QUICK)
        async with driver, first, second:
            yield server, driver, first, second


def test_an_open_driver_ends_with_the_last_of_its_hosts() -> None:
    async def main() -> None:
        async with open_driver() as (_, driver, first, second):
            for host in (first, second):
                await host.send(transcript("hello"))
            await take(driver, 2)
            await driver.send(ping(1))
            first.send_end()
            await take(second, 2)
            await second.send(response("1"))
            assert (await take(driver, 1))[0].response.request_id == "1" and not driver.closed
            second.send_end()
            assert [message async for message in driver] == []
            assert driver.closed and driver.reason is None
            with pytest.raises(TransportClosed):
                await driver.send(ping(2))

    run(main())


def test_an_open_driver_whose_host_has_ended_refuses_its_first_request() -> None:
    async def main() -> None:
        async with open_driver() as (_, driver, first, second):
            await first.send(transcript("hello"))
            first.send_end()
            await first.flush()
            await second.send(audio(1))
            await take(driver, 2)
            await driver.send(ping(1))
            assert not driver.closed
            second.send_end()
            assert [message async for message in driver] == []

        async with open_driver() as (_, driver, first, _):
            await first.send(transcript("hello"))
            first.send_end()
            await take(driver, 1)
            while not driver._router._responder_ended:
                await asyncio.sleep(0)
            assert not driver.closed
            with pytest.raises(TransportClosed):
                driver.send_nowait(ping(1))

    run(main())


def test_an_open_driver_continues_with_a_host_that_starts_again() -> None:
    async def main() -> None:
        async with open_driver() as (_, driver, first, _):
            first.send_end()
            await first.send(transcript("again"))
            await take(driver, 1)
            await driver.send(ping(1))
            assert await take(first, 1) == [ping(1)] and not driver.closed

    run(main())


def test_the_end_of_another_host_does_not_end_an_open_host() -> None:
    async def main() -> None:
        async with open_driver() as (_, driver, first, second):
            await first.send(transcript("hello"))
            first.send_end()
            await first.flush()
            await second.send(transcript("hello"))
            await take(driver, 2)
            await driver.send(ping(1))
            assert ping(1) in await take(second, 2)
            await second.send(response("1"))
            assert not second.closed

    run(main())


def test_a_participant_that_leaves_awaits_no_response_until_it_is_back() -> None:
    async def main() -> None:
        async with open_host() as (server, host, ann, bob):
            for room, number in ((ann, 1), (bob, 2)):
                await send_raw(room, body(ping(number)), "agent")
            await take(host, 2)
            assert host.awaits_response("1") and host.awaits_response("2")
            await ann.disconnect()
            while host.awaits_response("1"):
                await asyncio.sleep(0)
            assert host.awaits_response("2") and host.awaits_response("unknown")
            await server.join("ann")
            while not host.awaits_response("1"):
                await asyncio.sleep(0)

    run(main())
