"""Tests of the peer layer: the end of a connection."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from peer_case import PeerCase, echo, forever, queue_transports, run_test


async def pending_call(client: Any, host: Any) -> asyncio.Task[Any]:
    """Returns a call that the host is working on."""
    call = asyncio.create_task(client.requests.ask(text="x"))
    while not host._in_flight:
        await asyncio.sleep(0)
    return call


def test_the_end_of_the_transport_fails_what_is_pending(peer_case: PeerCase) -> None:
    async def test() -> None:
        client, host = peer_case.pair(forever)
        call = await pending_call(client, host)
        client._transport.received.put_nowait(None)
        with pytest.raises(peer_case.peer.PeerClosed, match="the other peer closed") as caught:
            await call
        assert caught.value.reason is None
        await client.wait_ended()
        with pytest.raises(peer_case.peer.PeerClosed):
            await client.requests.ask(text="later")
        await client.close()
        await host.close(timeout=0)

    run_test(test)


def test_reason_of_the_end_is_raised(number_case: PeerCase) -> None:
    async def test() -> None:
        client, host = number_case.pair(forever)
        call = await pending_call(client, host)
        reason = ConnectionResetError("reset by peer")
        client._transport.received.put_nowait(reason)
        with pytest.raises(number_case.peer.PeerClosed, match="reset by peer") as caught:
            await call
        assert caught.value.reason is reason is client.reason is caught.value.__cause__
        await client.close()
        await host.close(timeout=0)

    run_test(test)


def test_a_transport_that_cancels_its_own_task_ends_the_connection(peer_case: PeerCase) -> None:
    async def test() -> None:
        client, host = peer_case.pair(forever)
        call = await pending_call(client, host)
        for peer in (client, host):
            peer._transport.received.put_nowait(asyncio.CancelledError())
            await peer.wait_ended()
        with pytest.raises(peer_case.peer.PeerClosed):
            await call
        await client.close()
        await host.close(timeout=0)
        assert not host._in_flight

    run_test(test)


def test_a_send_that_is_cancelled_ends_the_connection(peer_case: PeerCase) -> None:
    async def test() -> None:
        client, host = peer_case.pair(echo)
        client._transport.failure = asyncio.CancelledError()
        with pytest.raises(peer_case.peer.PeerClosed):
            await client.requests.ask(text="x")
        await client.wait_ended()
        await client.close()
        await host.close(timeout=0)

    run_test(test)


def test_a_client_that_closes_fails_its_calls_at_once(number_case: PeerCase) -> None:
    async def test() -> None:
        client, host = number_case.pair(forever)
        call = await pending_call(client, host)
        await client.close()
        with pytest.raises(number_case.peer.PeerClosed, match="this peer closed"):
            await call
        with pytest.raises(number_case.peer.PeerClosed, match="this peer closed"):
            await client.requests.ask(text="later")
        await host.wait_ended()
        # The host's work was for nobody.
        while host._in_flight:
            await asyncio.sleep(0)
        with pytest.raises(number_case.peer.PeerClosed, match="the other peer closed"):
            host.events.asked(text="x")
        await host.close()

    run_test(test)


def test_a_host_that_closes_finishes_what_is_in_progress(number_case: PeerCase) -> None:
    async def test() -> None:
        release = asyncio.Event()

        async def ask(request: Any) -> Any:
            await release.wait()
            return request

        client, host = number_case.pair(ask)
        call = await pending_call(client, host)
        closing = asyncio.create_task(host.close(timeout=10))
        while host._closing is None:
            await asyncio.sleep(0)
        with pytest.raises(number_case.errors.RequestError, match="the host is closing"):
            await client.requests.ask(text="later")
        release.set()
        assert (await call).text == "x"
        await closing
        await client.wait_ended()
        await client.close()

    run_test(test)


def test_a_host_cancels_what_takes_longer_than_its_close(number_case: PeerCase) -> None:
    async def test() -> None:
        client, host = number_case.pair(forever)
        call = await pending_call(client, host)
        await host.close(timeout=0.01)
        with pytest.raises(number_case.errors.RequestError, match="the request was cancelled"):
            await call
        await client.close()

    run_test(test)


def test_close_is_bounded_by_its_timeout(
    number_case: PeerCase, caplog: pytest.LogCaptureFixture
) -> None:
    async def stubborn(request: Any) -> Any:
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if released:
                    raise

    released: list[bool] = []

    async def test() -> None:
        client, host = number_case.pair(stubborn)
        call = await pending_call(client, host)
        transport = host._transport
        transport.gate.clear()
        host.events.asked(text="never sent")
        transport.close = forever_closing
        start = asyncio.get_running_loop().time()
        await asyncio.gather(host.close(timeout=0.05), host.close())
        assert asyncio.get_running_loop().time() - start < 5
        released.append(True)
        for task in host._in_flight.values():
            task.cancel()
        await client.close()
        with pytest.raises(number_case.peer.PeerClosed):
            await call

    async def forever_closing() -> None:
        await asyncio.Event().wait()

    run_test(test)
    assert "did not close in time" in caplog.text


def test_a_peer_that_does_not_read_ends_the_connection(number_case: PeerCase) -> None:
    async def test() -> None:
        host_end, _ = queue_transports()
        host_end.gate.clear()
        host = number_case.peer.HostPeer(host_end, number_case.handler(echo))
        with pytest.raises(number_case.peer.PeerClosed, match="reads too slowly"):
            for _ in range(10_000):
                host.events.asked(text="x")
        await host.wait_ended()
        assert isinstance(host.reason, ConnectionAbortedError)
        await host.close(timeout=0)

    run_test(test)
