"""Responses with fields beside their arms: a handler sets them by returning the whole response."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import case_protocols
import generated_packages
import pytest
from exchanges import Exchange, Modules, raising, returning, run


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Modules:
    root = tmp_path_factory.mktemp("response_fields")
    return Modules(case_protocols.make("response_fields", root / "in", root / "out"))


def answered(modules: Modules, arm: str, result: Any) -> Any:
    """Returns the response to a request whose handler returns or raises something."""
    method = raising(result) if isinstance(result, Exception) else returning(result)
    exchange = Exchange(modules, {arm: method})
    request = modules.pb.Request(request_id="r1")
    if arm == "name":
        request.name = "n"
    else:
        getattr(request, arm).SetInParent()
    return run(modules.requests.answer(exchange.handler, request))


def test_a_whole_response_is_sent_with_the_id_of_the_request(modules: Modules) -> None:
    pb = modules.pb
    whole = pb.Response(ping=pb.Empty(), server_time=7, costs={"a": 1}, cpu=0, request_id="own")
    response = answered(modules, "ping", whole)
    assert response == pb.Response(
        request_id="r1", ping=pb.Empty(), server_time=7, costs={"a": 1}, cpu=0
    )
    assert response.WhichOneof("load") == "cpu"
    # The handler's own message is not changed.
    assert whole.request_id == "own"


def test_a_whole_response_answers_with_a_value(modules: Modules) -> None:
    pb = modules.pb
    response = answered(modules, "name", pb.Response(name="", idle=pb.Empty()))
    assert response == pb.Response(request_id="r1", name="", idle=pb.Empty())
    assert (response.WhichOneof("response"), response.WhichOneof("load")) == ("name", "idle")


def test_a_payload_alone_is_sent_as_before(modules: Modules) -> None:
    pb = modules.pb
    assert answered(modules, "ping", pb.Empty()) == pb.Response(request_id="r1", ping=pb.Empty())
    assert answered(modules, "name", "x") == pb.Response(request_id="r1", name="x")


def test_a_payload_that_is_a_response_itself(modules: Modules) -> None:
    pb = modules.pb
    inner = pb.Response(ping=pb.Empty(), server_time=3)
    assert answered(modules, "nested", inner) == pb.Response(request_id="r1", nested=inner)


@pytest.mark.parametrize("arm", ["name", None])
def test_a_whole_response_with_another_arm_is_an_internal_error(
    arm: str | None, modules: Modules, caplog: pytest.LogCaptureFixture
) -> None:
    pb = modules.pb
    whole = pb.Response(server_time=7, **({arm: "x"} if arm else {}))
    with caplog.at_level(logging.ERROR):
        response = answered(modules, "ping", whole)
    assert response == pb.Response(request_id="r1", error="internal error")
    assert f"the response has the arm {arm}, and the request is answered by ping" in caplog.text


def test_a_client_reads_the_other_fields_through_send(modules: Modules) -> None:
    pb = modules.pb
    whole = pb.Response(ping=pb.Empty(), server_time=7)
    exchange = Exchange(modules, {"ping": returning(whole)})
    client = exchange.client()
    assert run(client.ping()) == pb.Empty()
    assert run(client.send(pb.Request(ping=pb.Empty()))).server_time == 7
    names = "server_time, costs, cpu, idle"
    assert names in str(type(client).__mro__[1].__doc__).replace("\n    ", " ")
    assert names in str(modules.requests.RequestHandler.__doc__).replace("\n    ", " ")


HANDLER = """\
from {package} import response_fields_pb2 as pb
from {package}.requests import PartialRequestHandler


class Handler(PartialRequestHandler):
    async def ping(self, request: pb.Empty) -> pb.Response:
        return pb.Response(ping=request, server_time=1)

    async def name(self, request: str) -> str:
        return request

    async def again(self, request: pb.Request) -> pb.Empty | pb.Response:
        return pb.Empty()

    async def nested(self, request: pb.Empty) -> {nested}:
        return {nested}()
"""


def test_type_checkers_take_a_payload_or_a_whole_response(modules: Modules, tmp_path: Path) -> None:
    package = modules.package
    path = tmp_path / "handler.py"
    handler = HANDLER.format(package=package.name, nested="pb.Response")
    path.write_text(handler, encoding="utf-8")
    assert generated_packages.mypy([path], [package.out], tmp_path / "mypy") == ""
    assert generated_packages.pyright([path], [package.out], tmp_path / "pyright") == ""
    handler = HANDLER.format(package=package.name, nested="pb.Request")
    path.write_text(handler, encoding="utf-8")
    assert "incompatible with return type" in generated_packages.mypy(
        [path], [package.out], tmp_path / "mypy2"
    )


def test_responses_without_other_fields_are_unchanged(tmp_path: Path) -> None:
    package = case_protocols.make("tiny", tmp_path / "in", tmp_path / "out")
    text = package.text("requests.py")
    assert "whole" not in text and "_merge" not in text
