"""Tests of the peer layer: events."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from peer_case import PeerCase, echo, queue_transports, run_test


def test_events_reach_listeners_and_iterators_in_order(peer_case: PeerCase) -> None:
    async def test() -> None:
        hosts: list[Any] = []

        async def ask(request: Any) -> Any:
            for count in range(3):
                hosts[0].events.asked(text=f"{request.text}{count}")
            return request

        client, host = peer_case.pair(ask)
        hosts.append(host)
        heard: list[str] = []
        client.listeners.on_asked(lambda payload, event: heard.append(payload.text))
        stream = client.events()
        async with client, host:
            await client.requests.ask(text="a")
            # The events were emitted before the response, and so they arrive before it.
            assert heard == ["a0", "a1", "a2"]
        assert [event.asked.text async for event in stream] == heard
        assert [event async for event in client.events()] == []

    run_test(test)


def test_an_iterator_that_nobody_reads_drops_the_oldest_events(number_case: PeerCase) -> None:
    async def test() -> None:
        client, host = number_case.pair(echo)
        stream = client.events(limit=2)
        async with client, host:
            for count in range(5):
                host.events.asked(text=str(count))
            await client.requests.ask(text="")
        assert [event.asked.text async for event in stream] == ["3", "4"]
        assert stream.dropped == 3

    run_test(test)


def test_a_listener_that_raises_hurts_nothing(number_case: PeerCase) -> None:
    async def test() -> None:
        client, host = number_case.pair(echo)

        def fail(payload: Any, event: Any) -> None:
            raise LookupError("x")

        client.listeners.on_asked(fail)
        async with client, host:
            host.events.asked(text="1")
            assert (await client.requests.ask(text="2")).text == "2"

    run_test(test)


def test_messages_without_a_role(
    peer_cases: dict[str, PeerCase], caplog: pytest.LogCaptureFixture
) -> None:
    peer_case = peer_cases["peer_bytes"]

    async def test() -> None:
        first, second = queue_transports()
        heard: list[Any] = []
        host = peer_case.peer.HostPeer(second, peer_case.handler(echo), on_other=heard.append)
        client = peer_case.peer.ClientPeer(first)
        async with client, host:
            for text in ("a", "b"):
                other = peer_case.pb.Envelope(other=peer_case.pb.Ask(text=text))
                await first.send(other)
                await second.send(other)
            await client.requests.ask(text="x")
            assert [message.other.text for message in heard] == ["a", "b"]

    with caplog.at_level(logging.WARNING):
        run_test(test)
    assert caplog.text.count("ignored a message with other") == 1


def test_an_async_on_other_is_refused(
    peer_cases: dict[str, PeerCase], caplog: pytest.LogCaptureFixture
) -> None:
    """One that only returns a coroutine is logged, and does not end the connection."""
    peer_case = peer_cases["peer_bytes"]

    async def on_other(message: Any) -> None:
        raise AssertionError("nothing awaits this")

    class Listener:
        async def __call__(self, message: Any) -> None:
            raise AssertionError("nothing awaits this")

    def cancelled(message: Any) -> None:
        raise asyncio.CancelledError

    async def test() -> None:
        first, second = queue_transports()
        for refused in (on_other, Listener()):
            with pytest.raises(TypeError, match="which is async"):
                peer_case.peer.ClientPeer(first, on_other=refused)
            with pytest.raises(TypeError, match="which is async"):
                peer_case.peer.HostPeer(second, peer_case.handler(echo), on_other=refused)
        host = peer_case.peer.HostPeer(
            second, peer_case.handler(echo), on_other=lambda message: on_other(message)
        )
        client = peer_case.peer.ClientPeer(first, on_other=cancelled)
        async with client, host:
            for transport in (first, second):
                await transport.send(peer_case.pb.Envelope(other=peer_case.pb.Ask(text="a")))
            assert (await client.requests.ask(text="x")).text == "x"

    run_test(test)
    assert caplog.text.count("on_other failed on a message with other") == 2
    assert "on_other returned a coroutine" in caplog.text
