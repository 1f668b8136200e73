"""Tests of the peer layer: the answers of a host."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from peer_case import PeerCase, QueueTransport, echo, forever, queue_transports, run_test


async def answers(other: QueueTransport, *messages: Any) -> list[Any]:
    """Sends messages, and returns as many that come back."""
    for message in messages:
        await other.send(message)
    return [await other.received.get() for _ in messages]


def test_unknown_requests_are_answered(peer_cases: dict[str, PeerCase]) -> None:
    # Field 9, a message, which the request does not have.
    unknown = b"\x4a\x00"

    async def test() -> None:
        number_case, plain = peer_cases["peer_number"], peer_cases["peer_bytes"]
        host_end, other = queue_transports()
        async with number_case.peer.HostPeer(host_end, number_case.handler(echo)):
            request = number_case.pb.Request.FromString(b"\x08\x03" + unknown)
            message = number_case.pb.Envelope(request=request)
            (response,) = await answers(other, message)
            text = "unimplemented request: field 9"
            assert response == number_case.pb.Envelope(
                response=number_case.pb.Response(number=3, error=text)
            )
        host_end, other = queue_transports()
        async with plain.peer.HostPeer(host_end, plain.handler(echo)):
            message = plain.pb.Envelope(**{"from": plain.pb.Request.FromString(unknown)})
            (response,) = await answers(other, message)
            # There is no field for an error text: the response has no arm.
            assert response == plain.pb.Envelope(**{"class": plain.pb.Response()})
            assert response.WhichOneof("payload") == "class"

    run_test(test)


def test_a_handler_that_raises(number_case: PeerCase, caplog: pytest.LogCaptureFixture) -> None:
    async def ask(request: Any) -> Any:
        if request.text == "refuse":
            raise number_case.errors.RequestError("not now")
        raise LookupError("a secret")

    async def test() -> None:
        client, host = number_case.pair(ask)
        async with client, host:
            with pytest.raises(number_case.errors.RequestError, match="^not now$"):
                await client.requests.ask(text="refuse")
            with pytest.raises(number_case.errors.RequestError, match="^internal error$"):
                await client.requests.ask(text="fail")

    run_test(test)
    assert "a secret" in caplog.text


def test_a_handler_that_raises_without_a_field_for_errors(
    peer_cases: dict[str, PeerCase], caplog: pytest.LogCaptureFixture
) -> None:
    peer_case = peer_cases["peer_bytes"]

    async def ask(request: Any) -> Any:
        raise LookupError("a secret")

    async def test() -> None:
        client, host = peer_case.pair(ask)
        async with client, host:
            with pytest.raises(peer_case.errors.UnexpectedArmError, match="got nothing"):
                await client.requests.ask(text="fail")

    run_test(test)
    assert "a secret" in caplog.text


def test_a_handler_that_cancels_itself_is_answered(number_case: PeerCase) -> None:
    async def ask(request: Any) -> Any:
        raise asyncio.CancelledError

    async def test() -> None:
        client, host = number_case.pair(ask)
        async with client, host:
            with pytest.raises(number_case.errors.RequestError, match="the request was cancelled"):
                await client.requests.ask(text="x")

    run_test(test)


def test_requests_over_the_limit_are_refused(number_case: PeerCase) -> None:
    async def test() -> None:
        release = asyncio.Event()

        async def ask(request: Any) -> Any:
            await release.wait()
            return request

        client, host = number_case.pair(ask, max_in_flight=2)
        async with client, host:
            calls = [asyncio.create_task(client.requests.ask(text="x")) for _ in range(2)]
            while len(host._in_flight) < 2:
                await asyncio.sleep(0)
            with pytest.raises(number_case.errors.RequestError, match="^busy$"):
                await client.requests.ask(text="x")
            release.set()
            assert [answer.text for answer in await asyncio.gather(*calls)] == ["x", "x"]
            assert (await client.requests.ask(text="y")).text == "y"

    run_test(test)


def test_quick_requests_that_arrive_together_are_all_answered(number_case: PeerCase) -> None:
    async def test() -> None:
        client, host = number_case.pair(echo, max_in_flight=8)
        async with client, host:
            calls = [client.requests.ask(text=str(count)) for count in range(200)]
            assert [item.text for item in await asyncio.gather(*calls)] == [
                str(count) for count in range(200)
            ]

    run_test(test)


def test_an_id_that_is_in_use_is_refused(number_case: PeerCase) -> None:
    async def test() -> None:
        host_end, other = queue_transports()
        host = number_case.peer.HostPeer(host_end, number_case.handler(forever))
        request = number_case.pb.Request(number=4, ask=number_case.pb.Ask(text="x"))
        for _ in range(2):
            await other.send(number_case.pb.Envelope(request=request))
        response = (await other.received.get()).response
        assert response == number_case.pb.Response(
            number=4, error="another request with this id is in progress"
        )
        await host.close(timeout=0)

    run_test(test)


def test_a_response_that_cannot_be_sent_is_replaced(number_case: PeerCase) -> None:
    async def test() -> None:
        client, host = number_case.pair(echo)
        async with client, host:
            host._transport.failure = ValueError("too large")
            with pytest.raises(
                number_case.errors.RequestError, match="the response cannot be sent"
            ):
                await client.requests.ask(text="x")

    run_test(test)
