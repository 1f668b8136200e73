"""Requests of a RemoteSession and their responses, over a pair in memory."""

from __future__ import annotations

import asyncio
import inspect
import logging
from typing import Any

import pytest
from agent_session import (
    FrameTooLarge,
    NotStarted,
    RemoteSession,
    RequestTimedOut,
    memory_pair,
)
from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.client import SessionRequestClient
from agent_session_protocol.dispatch import SESSION_REQUEST_ARMS
from agent_session_protocol.errors import RequestError, UnexpectedArmError
from agent_session_protocol.requests import PartialSessionRequestHandler, answer
from scripted_host import UNKNOWN_ARM, Host, run_until_waiting, driven, pong
from transport_messages import run


def required_fields(arm: str) -> dict[str, Any]:
    """Returns a value for each argument that the method of a request requires."""
    payload = getattr(pb.SessionRequest(), arm)
    parameters = inspect.signature(getattr(SessionRequestClient, arm)).parameters.values()
    names = {item.name for item in parameters if item.default is item.empty} - {"self"}
    return {
        field.name: getattr(payload, field.name)
        for field in payload.DESCRIPTOR.fields
        if field.name in names
    }


@pytest.mark.parametrize("arm", SESSION_REQUEST_ARMS)
def test_each_request_of_the_protocol_has_a_method(arm: str) -> None:
    """RemoteSession names no request, so that new requests of the protocol work as well."""

    async def main() -> None:
        async with driven() as (session, host):
            pending_call = asyncio.ensure_future(getattr(session, arm)(**required_fields(arm)))
            request = await host.request()
            assert request.WhichOneof("request") == arm
            host.respond(await answer(PartialSessionRequestHandler(), request))
            with pytest.raises(RequestError, match=f"unimplemented request: {arm}"):
                await pending_call

    run(main())


def test_a_request_carries_its_fields_and_returns_the_payload() -> None:
    async def main() -> None:
        async with driven(chunk=1) as (session, host):
            pending_call = asyncio.ensure_future(session.run_input(text="grüß dich"))
            request = await host.request()
            assert request.run_input.text == "grüß dich"
            response = pb.SessionResponse(request_id=request.request_id)
            response.run_input.items.add().message.content.add().text = "ja"
            host.respond(response)
            assert await pending_call == response.run_input

    run(main())


def test_a_new_request_is_sent_without_a_copy_and_others_are_copied() -> None:
    """Each has an id of its own, whatever was done with the request before."""

    async def main() -> None:
        async with driven() as (session, host):
            first = session.requests.new_request()
            second = session.requests.new_request()
            for request in (first, second):
                request.ping.SetInParent()
            ids = []
            for request in (second, first, second):
                pending_call = asyncio.ensure_future(session.requests.send(request))
                received = await host.request()
                assert received.WhichOneof("request") == "ping"
                ids.append(received.request_id)
                host.respond(pong(received))
                assert (await pending_call).request_id == received.request_id
            assert len(set(ids)) == 3
            # Only the newest one is in an envelope.
            assert (first.request_id, second.request_id) == ("", ids[0])

    run(main())


def test_responses_may_arrive_in_any_order() -> None:
    async def main() -> None:
        async with driven() as (session, host), driven() as (other, other_host):
            calls = [asyncio.ensure_future(session.run_input(text=str(i))) for i in range(100)]
            further = asyncio.ensure_future(other.ping())
            requests = [await host.request() for _ in calls]
            ids = {request.request_id for request in requests}
            assert len(ids) == 100 and "" not in ids
            # The ids of two drivers differ, since drivers of one room receive all responses.
            assert (await other_host.request()).request_id not in ids
            for request in reversed(requests):
                response = pb.SessionResponse(request_id=request.request_id)
                response.run_input.items.add().message.id = request.run_input.text
                host.respond(response)
            answers = await asyncio.gather(*calls)
            assert [each.items[0].message.id for each in answers] == [str(i) for i in range(100)]
            further.cancel()

    run(main())


def test_an_error_with_a_payload() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            pending_call = asyncio.ensure_future(
                session.finalize_simulation(provisional_success=True, provisional_reason="")
            )
            response = pb.SessionResponse(request_id=(await host.request()).request_id)
            response.error = "the judge fell over"
            response.finalize_simulation.user_verdict.reason = "rude"
            host.respond(response)
            with pytest.raises(RequestError, match="the judge fell over") as caught:
                await pending_call
            assert caught.value.payload == response.finalize_simulation

    run(main())


def test_a_response_with_another_arm_raises() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            pending_call = asyncio.ensure_future(session.get_chat_history())
            host.respond(pong(await host.request()))
            with pytest.raises(UnexpectedArmError) as caught:
                await pending_call
            assert (caught.value.expected, caught.value.arm) == ("get_chat_history", "pong")
            pending_call = asyncio.ensure_future(session.get_chat_history())
            unknown = pb.SessionResponse.FromString(UNKNOWN_ARM)
            unknown.request_id = (await host.request()).request_id
            host.respond(unknown)
            with pytest.raises(UnexpectedArmError) as caught:
                await pending_call
            assert (caught.value.arm, caught.value.number) == (None, 99)

    run(main())


def test_a_request_of_a_newer_protocol_can_be_sent() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            pending_call = asyncio.ensure_future(
                session.send(pb.SessionRequest.FromString(UNKNOWN_ARM))
            )
            request = await host.request()
            host.respond(await answer(PartialSessionRequestHandler(), request))
            assert (await pending_call).error == "unimplemented request: field 99"

    run(main())


def test_a_request_object_may_be_sent_twice_concurrently() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            request = pb.SessionRequest(request_id="mine", ping=pb.SessionRequest.Ping())
            calls = [asyncio.ensure_future(session.send(request)) for _ in range(2)]
            first, second = await host.request(), await host.request()
            assert first.request_id != second.request_id and request.request_id == "mine"
            host.respond(pong(second))
            host.respond(pong(first))
            answers = await asyncio.gather(*calls)
            assert [each.request_id for each in answers] == [first.request_id, second.request_id]

    run(main())


def test_a_timeout_names_the_request_and_a_late_response_is_ignored(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        async with driven(timeout=0.05) as (session, host):
            with pytest.raises(TimeoutError) as caught:
                await session.get_agent_info()
            error = caught.value
            assert isinstance(error, RequestTimedOut)
            assert (error.request, error.timeout) == ("get_agent_info", 0.05)
            late = await host.request()
            pending_call = asyncio.ensure_future(session.ping(timeout=20))
            ping = await host.request()
            response = pb.SessionResponse(request_id=late.request_id)
            response.get_agent_info.SetInParent()
            host.respond(response)
            host.respond(pong(ping))
            assert await pending_call == pb.SessionResponse.Pong()
            with pytest.raises(RequestTimedOut, match="an unknown request within 0.01 s"):
                await session.send(pb.SessionRequest(), 0.01)

    with caplog.at_level(logging.DEBUG):
        run(main())
    assert not [record for record in caplog.records if record.name == "agent_session"]


def test_each_call_has_its_own_timeout() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            order: list[float] = []

            async def call(timeout: float) -> None:
                with pytest.raises(RequestTimedOut):
                    await session.ping(timeout=timeout)
                order.append(timeout)

            patient = asyncio.ensure_future(session.ping(timeout=float("inf")))
            calls = [asyncio.ensure_future(call(each)) for each in (0.12, 0.04, 0.2, 0.0)]
            await asyncio.gather(*calls)
            assert order == [0.0, 0.04, 0.12, 0.2]
            await run_until_waiting(patient)
            host.respond(pong(await host.request()))
            await patient

    run(main())


def test_thousands_of_requests_time_out() -> None:
    async def main() -> None:
        async with driven() as (session, _):
            calls = [session.ping(timeout=0.1 + number / 50_000) for number in range(5000)]
            results = await asyncio.gather(*calls, return_exceptions=True)
            assert {type(result) for result in results} == {RequestTimedOut}

    run(main())


def test_a_cancelled_request_is_removed(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with driven() as (session, host):
            pending_call = asyncio.ensure_future(session.ping())
            request = await host.request()
            pending_call.cancel()
            host.respond(pong(request))  # arrives after the cancellation
            with pytest.raises(asyncio.CancelledError):
                await pending_call
            assert not session._pending._entries
            pending_call = asyncio.ensure_future(session.ping())
            host.respond(pong(await host.request()))
            await pending_call

    with caplog.at_level(logging.DEBUG):
        run(main())
    assert not [record for record in caplog.records if record.name == "agent_session"]


def test_a_request_cancelled_when_its_response_arrives() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            pending_call = asyncio.ensure_future(session.ping())
            response = pong(await host.request())
            pending_call.cancel()
            session.message_received(pb.AgentSessionMessage(response=response))
            with pytest.raises(asyncio.CancelledError):
                await pending_call

    run(main())


@pytest.mark.parametrize(
    "response_id",
    ["", "other", "{prefix}", "{prefix}-", "{prefix}-2", "{prefix}-0", "{prefix}-x", "{prefix}-²"],
)
def test_a_response_without_a_request_is_logged_once(
    response_id: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with driven() as (session, host):
            pending_call = asyncio.ensure_future(session.ping())
            request = await host.request()
            prefix, number = request.request_id.split("-")
            assert number == "1"
            for _ in range(3):
                request_id = response_id.format(prefix=prefix)
                host.respond(pb.SessionResponse(request_id=request_id, error="secret"))
            host.respond(pong(request))
            host.respond(pong(request))  # a second response is ignored
            await pending_call

    run(main())
    warnings = [record.getMessage() for record in caplog.records]
    assert len(warnings) == 1 and "never sent" in warnings[0] and "secret" not in warnings[0]


def test_a_response_id_with_thousands_of_digits_is_unknown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        async with driven() as (session, host):
            pending_call = asyncio.ensure_future(session.ping())
            request = await host.request()
            long = request.request_id + "9" * 5000
            host.respond(pb.SessionResponse(request_id=long))
            host.respond(pong(request))
            await pending_call

    run(main())
    assert ["never sent" in record.getMessage() for record in caplog.records] == [True]


def test_a_message_that_cannot_be_sent_raises_to_its_caller() -> None:
    async def main() -> None:
        async with driven() as (session, host):
            waiting = asyncio.ensure_future(session.ping())
            ping = await host.request()
            with pytest.raises(FrameTooLarge) as caught:
                await session.run_input(text="x" * (1 << 20))
            assert caught.value.size > caught.value.limit == 1 << 20
            assert len(session._pending._entries) == 1
            host.respond(pong(ping))
            await waiting

    run(main())


def test_requests_before_the_start_raise_not_started() -> None:
    async def main() -> None:
        driver_end, host_end = memory_pair()
        async with host_end:
            session = RemoteSession(driver_end)
            host = Host(host_end)
            for call in (session.ping(), session.run_input(text="x"), session.probe(1)):
                with pytest.raises(NotStarted):
                    await call
            with pytest.raises(NotStarted):
                session.send_audio_playback_finished()
            await asyncio.gather(session.start(), session.start())
            await session.start()
            pending_call = asyncio.ensure_future(session.ping())
            host.respond(pong(await host.request()))
            await pending_call
            await session.close()

    run(main())


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("\ud83d", "\ufffd"),
        ("a\ude00b", "a\ufffdb"),
        ("\ud83d\ude00", "\U0001f600"),
        ("na\u00efve", "na\u00efve"),
    ],
)
def test_a_text_that_utf_8_cannot_encode_is_repaired(given: str, sent: str) -> None:
    async def main() -> None:
        async with driven() as (session, host):
            calls: list[asyncio.Future[Any]] = [
                asyncio.ensure_future(session.run_input(text=given)),
                asyncio.ensure_future(
                    session.finalize_simulation(provisional_success=True, provisional_reason=given)
                ),
            ]
            assert (await host.request()).run_input.text == sent
            assert (await host.request()).finalize_simulation.provisional_reason == sent
            for pending_call in calls:
                pending_call.cancel()

    run(main())
