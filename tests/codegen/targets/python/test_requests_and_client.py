"""Tests of the contract's request handler and client.

They need only the contract's package, not the generator.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
from types import ModuleType
from typing import Any, TypeAlias

import pytest
import package_walk
from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol import dispatch, events
from agent_session_protocol.client import SessionRequestClient
from agent_session_protocol.errors import RequestError, UnexpectedArmError
from agent_session_protocol.requests import (
    PartialSessionRequestHandler,
    SessionRequestHandler,
    answer,
)

Request: TypeAlias = pb.SessionRequest
Response: TypeAlias = pb.SessionResponse
FACTS = package_walk.Facts("request_id", "error", "created_at", {"ping": "pong"})


class Contract:
    """The contract's package."""

    def module(self, name: str) -> ModuleType:
        return importlib.import_module(f"agent_session_protocol.{name}")


def test_every_arm_of_every_union_round_trips() -> None:
    # Counted off the descriptor: the messages' real oneofs, synthetic ones left out.
    todo, arms = list(pb.DESCRIPTOR.message_types_by_name.values()), 0
    while todo:
        message = todo.pop()
        todo += message.nested_types
        real = [oneof for oneof in message.oneofs if not oneof.name.startswith("_")]
        arms += sum(len(oneof.fields) for oneof in real)
    assert arms >= 58
    assert package_walk.check_dispatch(Contract()) == arms


def test_every_request_round_trips() -> None:
    package_walk.check_requests(Contract(), FACTS)


def test_every_event_round_trips() -> None:
    package_walk.check_events(Contract(), FACTS)


# ---------------------------------------------------------------------------------------
# answer().


class Host(PartialSessionRequestHandler):
    """Handles run_input as `result` says: a value to return, or an exception to raise."""

    def __init__(self, result: object) -> None:
        self.result = result

    async def run_input(self, request: Request.RunInput) -> Response.RunInputResponse:
        if isinstance(self.result, BaseException):
            raise self.result
        return self.result  # type: ignore[return-value]


RUN = Request(request_id="r1", run_input=Request.RunInput(text="hi"))


def answered(result: object, request: Request = RUN) -> Response:
    return asyncio.run(answer(Host(result), request))


def test_response_has_the_id_of_its_request() -> None:
    item = pb.ChatContext.ChatItem(message=pb.ChatMessage(id="m"))
    payload = Response.RunInputResponse(items=[item])
    assert answered(payload) == Response(request_id="r1", run_input=payload)


@pytest.mark.parametrize(
    "result",
    [
        Response.RunInputResponse(items=[pb.ChatContext.ChatItem()]),
        Response.RunInputResponse(),
        RequestError("no"),
        RequestError("half done", Response.RunInputResponse()),
        RequestError("no", Response.Pong()),
        Response.Pong(),
        LookupError("x"),
    ],
    ids=str,
)
def test_given_response_is_filled(result: object) -> None:
    envelope = pb.AgentSessionMessage()
    filled = asyncio.run(answer(Host(result), RUN, envelope.response))
    assert envelope == pb.AgentSessionMessage(response=answered(result))
    assert filled is envelope.response


def test_an_empty_result_sets_its_arm() -> None:
    response = answered(Response.RunInputResponse())
    assert response.WhichOneof("response") == "run_input"
    assert not response.HasField("error")


def test_error_without_a_payload_answers_with_text() -> None:
    assert answered(RequestError("text is empty")) == Response(
        request_id="r1", error="text is empty"
    )


def test_error_with_a_payload_answers_with_it() -> None:
    payload = Response.RunInputResponse(items=[pb.ChatContext.ChatItem()])
    assert answered(RequestError("half done", payload)) == Response(
        request_id="r1", error="half done", run_input=payload
    )


def test_empty_error_text() -> None:
    response = answered(RequestError(""))
    assert response.HasField("error")
    assert response.WhichOneof("response") is None


def test_error_text_that_is_not_valid_unicode() -> None:
    assert answered(RequestError("bad \udc80 byte")).error == "bad \ufffd byte"
    assert answered(RequestError(ValueError("x"))).error == "x"  # type: ignore[arg-type]


@pytest.mark.parametrize("payload", [Response.Pong(), pb.ChatMessage(), 7, "text", {}])
def test_error_payload_of_another_type(payload: Any, caplog: pytest.LogCaptureFixture) -> None:
    assert answered(RequestError("no", payload)) == Response(
        request_id="r1", error="internal error"
    )
    assert "the payload of a RequestError does not fit the response run_input" in caplog.text


@pytest.mark.parametrize("result", [Response.Pong(), pb.ChatMessage(), None, "text", 7, object()])
def test_a_result_of_another_type(result: object, caplog: pytest.LogCaptureFixture) -> None:
    assert answered(result) == Response(request_id="r1", error="internal error")
    assert "the handler of run_input failed" in caplog.text


def test_exception_is_logged_and_not_sent(caplog: pytest.LogCaptureFixture) -> None:
    response = answered(LookupError("the password is swordfish"))
    assert response == Response(request_id="r1", error="internal error")
    (record,) = caplog.records
    assert (record.levelno, record.name) == (logging.ERROR, "agent_session_protocol.requests")
    assert record.getMessage() == "the handler of run_input failed"
    assert record.exc_info is not None
    assert str(record.exc_info[1]) == "the password is swordfish"


def test_cancellation_passes_through(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(asyncio.CancelledError):
        answered(asyncio.CancelledError())
    assert caplog.records == []


def test_an_unset_arm() -> None:
    assert answered(None, Request(request_id="r2")) == Response(
        request_id="r2", error="unimplemented request: no arm is set"
    )


@pytest.mark.parametrize("number, data", [(999, b"\xba\x3e\x00"), (2000, b"\x82\x7d\x02\x08\x01")])
def test_an_unknown_arm(number: int, data: bytes) -> None:
    request = Request.FromString(b"\x0a\x02r3" + data)
    assert answered(None, request) == Response(
        request_id="r3", error=f"unimplemented request: field {number}"
    )


def test_the_last_unknown_message_is_the_arm() -> None:
    # A varint field 98, the messages 95 and 97, then a varint field 96.
    first, last = b"\xfa\x05\x00", b"\x8a\x06\x00"
    request = Request.FromString(b"\x90\x06\x01" + first + last + b"\x80\x06\x01")
    assert answered(None, request).error == "unimplemented request: field 97"


def test_partial_handler_answers_missing_requests() -> None:
    request = Request(request_id="r4", update_io=Request.UpdateIO())
    assert answered(None, request) == Response(
        request_id="r4", error="unimplemented request: update_io (field 11)"
    )


def test_handler_is_abstract() -> None:
    with pytest.raises(TypeError, match="abstract"):
        SessionRequestHandler()  # type: ignore[abstract]
    with pytest.raises(TypeError, match="send"):
        SessionRequestClient()  # type: ignore[abstract]
    with pytest.raises(TypeError, match="emit"):
        events.AgentSessionEventSink()  # type: ignore[abstract]


# ---------------------------------------------------------------------------------------
# The client.


class Client(SessionRequestClient):
    """Answers each request with one response, and keeps the requests."""

    def __init__(self, response: Response | BaseException) -> None:
        self.response = response
        self.sent: list[tuple[Request, float | None]] = []

    async def send(self, request: Request, timeout: float | None = None) -> Response:
        self.sent.append((request, timeout))
        if isinstance(self.response, BaseException):
            raise self.response
        return self.response


def run_input(response: Response | BaseException) -> Response.RunInputResponse:
    return asyncio.run(Client(response).run_input(text="hi"))


def test_a_request_is_built_from_keywords() -> None:
    client = Client(Response(pong=Response.Pong()))
    assert asyncio.run(client.ping(timeout=1.5)) == Response.Pong()
    assert client.sent == [(Request(ping=Request.Ping()), 1.5)]


def test_a_request_without_fields_is_made_by_new_request() -> None:
    class InEnvelope(Client):
        def new_request(self) -> Request:
            self.envelope = pb.AgentSessionMessage()
            return self.envelope.request

    client = InEnvelope(Response(pong=Response.Pong()))
    asyncio.run(client.ping())
    assert client.sent[0][0] is client.envelope.request
    assert client.envelope == pb.AgentSessionMessage(request=Request(ping=Request.Ping()))


def test_timeout_is_passed_to_send() -> None:
    client = Client(Response(run_input=Response.RunInputResponse()))
    asyncio.run(client.run_input(text=""))
    assert client.sent == [(Request(run_input=Request.RunInput(text="")), None)]


def test_an_error_without_a_payload() -> None:
    with pytest.raises(RequestError) as caught:
        run_input(Response(error="busy"))
    assert (caught.value.message, caught.value.payload) == ("busy", None)


def test_an_error_with_a_payload() -> None:
    payload = Response.RunInputResponse(items=[pb.ChatContext.ChatItem()])
    with pytest.raises(RequestError) as caught:
        run_input(Response(error="half done", run_input=payload))
    assert (caught.value.message, caught.value.payload) == ("half done", payload)


def test_present_but_empty_error_is_an_error() -> None:
    with pytest.raises(RequestError) as caught:
        run_input(Response(error="", run_input=Response.RunInputResponse()))
    assert (str(caught.value), type(caught.value.payload)) == ("", Response.RunInputResponse)


def test_the_wrong_arm() -> None:
    with pytest.raises(UnexpectedArmError) as caught:
        run_input(Response(pong=Response.Pong()))
    error = caught.value
    assert (error.expected, error.arm, error.number) == ("run_input", "pong", None)
    assert str(error) == "expected the response run_input, got pong"


def test_no_arm() -> None:
    with pytest.raises(UnexpectedArmError) as caught:
        run_input(Response(request_id="r"))
    assert (caught.value.arm, caught.value.number) == (None, None)
    assert str(caught.value) == "expected the response run_input, got nothing"


def test_unknown_response_arm() -> None:
    with pytest.raises(UnexpectedArmError) as caught:
        run_input(Response.FromString(b"\x9a\x06\x00"))
    assert (caught.value.arm, caught.value.number) == (None, 99)
    assert str(caught.value) == "expected the response run_input, got the unknown field 99"


def test_exception_of_send_is_raised() -> None:
    with pytest.raises(ConnectionError, match="gone"):
        run_input(ConnectionError("gone"))


# ---------------------------------------------------------------------------------------
# Tables.


def test_arms_cannot_be_changed() -> None:
    """The tables are typed as Mapping, so that type checkers report changes of them."""
    arm: Any = dispatch.SESSION_REQUEST_ARMS["ping"]
    with pytest.raises(AttributeError):
        arm.number = 1


def test_tables_have_number_and_class() -> None:
    arm = dispatch.SESSION_REQUEST_ARMS["run_input"]
    assert (arm.number, arm.type) == (5, Request.RunInput)
    content = dispatch.CHAT_MESSAGE_CHAT_CONTENT_ARMS["text"]
    assert (content.number, content.type) == (1, str)


def test_handler_table_is_checked_at_run_time() -> None:
    with pytest.raises(TypeError, match="agent_config_update"):
        dispatch.ChatContextChatItemHandlers[None](  # type: ignore[call-arg]
            message=print, function_call=print, function_call_output=print, agent_handoff=print
        )
