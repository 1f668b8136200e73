"""Tests of the peer layer: requests and responses."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from peer_case import PeerCase, echo, forever, queue_transports, run_test


def test_each_response_reaches_the_call_that_it_answers(peer_case: PeerCase) -> None:
    async def slowest_first(request: Any) -> Any:
        # Later requests are answered earlier.
        for _ in range(20 - int(request.text)):
            await asyncio.sleep(0)
        return request

    async def test() -> None:
        client, host = peer_case.pair(slowest_first)
        async with client, host:
            texts = [str(number) for number in range(20)]
            answers = await asyncio.gather(*(client.requests.ask(text=text) for text in texts))
            assert [answer.text for answer in answers] == texts

    run_test(test)


def test_ids_are_distinct_and_have_the_type_of_the_field(peer_cases: dict[str, PeerCase]) -> None:
    async def test() -> None:
        for name, field, expected in (
            ("peer_number", "number", [1, 2]),
            ("peer_bytes", "yield", [b"\0\0\0\1", b"\0\0\0\2"]),
        ):
            client, host = peer_cases[name].pair(echo)
            async with client, host:
                await client.requests.ask(text="")
                await client.requests.ask(text="")
                sent = client._transport.sent
                arm = "from" if name == "peer_bytes" else "request"
                assert [getattr(getattr(message, arm), field) for message in sent] == expected

    run_test(test)


def test_numbers_start_again_after_the_largest_one(number_case: PeerCase) -> None:
    async def test() -> None:
        client, host = number_case.pair(echo)
        client._last_number = 2**31 - 2
        async with client, host:
            for _ in range(2):
                assert (await client.requests.ask(text="x")).text == "x"
            assert [item.request.number for item in client._transport.sent] == [2**31 - 1, 1]

    run_test(test)


def test_request_named_like_a_method_of_the_client(peer_case: PeerCase) -> None:
    async def test() -> None:
        client, host = peer_case.pair(echo)
        async with client, host:
            assert (await client.requests.close(text="")).text == "closed"
            assert (await client.requests.ask(text="open")).text == "open"

    run_test(test)


def test_a_request_times_out_and_its_late_response_is_ignored(peer_case: PeerCase) -> None:
    async def test() -> None:
        release = asyncio.Event()

        async def ask(request: Any) -> Any:
            if request.text == "slow":
                await release.wait()
            return request

        client, host = peer_case.pair(ask)
        async with client, host:
            with pytest.raises(peer_case.peer.RequestTimedOut, match="no response within 0.01 s"):
                await client.requests.ask(text="slow", timeout=0.01)
            release.set()
            assert (await client.requests.ask(text="next")).text == "next"
            assert not client._pending

    run_test(test)


def test_a_timeout_that_is_nan_is_refused(number_case: PeerCase) -> None:
    nan = float("nan")

    async def test() -> None:
        client, host = number_case.pair(echo)
        async with client, host:
            with pytest.raises(ValueError, match="not nan"):
                number_case.peer.ClientPeer(client._transport, timeout=nan)
            with pytest.raises(ValueError, match="not nan"):
                await client.requests.ask(text="x", timeout=nan)
            for peer in (client, host):
                with pytest.raises(ValueError, match="not nan"):
                    await peer.close(timeout=nan)
            assert (await client.requests.ask(text="next")).text == "next"
            assert [item.request.number for item in client._transport.sent] == [1]

    run_test(test)


def test_a_request_that_waits_to_be_sent_times_out_and_is_not_sent(number_case: PeerCase) -> None:
    async def test() -> None:
        client, host = number_case.pair(echo)
        async with client, host:
            client._transport.gate.clear()
            first = asyncio.create_task(client.requests.ask(text="first"))
            await asyncio.sleep(0)
            with pytest.raises(number_case.peer.RequestTimedOut):
                await client.requests.ask(text="second", timeout=0.01)
            client._transport.gate.set()
            assert (await first).text == "first"
            assert [item.request.ask.text for item in client._transport.sent] == ["first"]

    run_test(test)


def test_a_cancelled_call_leaves_the_others_alone(peer_case: PeerCase) -> None:
    async def test() -> None:
        async def ask(request: Any) -> Any:
            return await (forever if request.text == "slow" else echo)(request)

        client, host = peer_case.pair(ask)
        async with client:
            call = asyncio.create_task(client.requests.ask(text="slow"))
            await asyncio.sleep(0)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert (await client.requests.ask(text="next")).text == "next"
            assert not client._pending
        await host.close()

    run_test(test)


def test_a_request_that_cannot_be_sent_raises_to_its_caller(number_case: PeerCase) -> None:
    async def test() -> None:
        client, host = number_case.pair(echo)
        async with client, host:
            client._transport.failure = ValueError("too large")
            with pytest.raises(ValueError, match="too large"):
                await client.requests.ask(text="x")
            assert (await client.requests.ask(text="next")).text == "next"

    run_test(test)


def test_responses_without_a_request_are_ignored(number_case: PeerCase) -> None:
    async def test() -> None:
        client_end, other = queue_transports()
        async with number_case.peer.ClientPeer(client_end) as client:
            call = asyncio.create_task(client.requests.ask(text="x"))
            await other.received.get()
            response = number_case.pb.Response(number=7, ask=number_case.pb.Ask(text="unknown id"))
            await other.send(number_case.pb.Envelope(response=response))
            for text in ("first", "duplicate"):
                response = number_case.pb.Response(number=1, ask=number_case.pb.Ask(text=text))
                await other.send(number_case.pb.Envelope(response=response))
            assert (await call).text == "first"

    run_test(test)


def test_a_response_of_another_request_is_an_error(number_case: PeerCase) -> None:
    async def test() -> None:
        client_end, other = queue_transports()
        async with number_case.peer.ClientPeer(client_end) as client:
            call = asyncio.create_task(client.requests.ask(text="x"))
            await other.received.get()
            response = number_case.pb.Response(number=1, close=number_case.pb.Ask())
            await other.send(number_case.pb.Envelope(response=response))
            with pytest.raises(number_case.errors.UnexpectedArmError) as caught:
                await call
            assert (caught.value.expected, caught.value.arm) == ("ask", "close")

    run_test(test)
