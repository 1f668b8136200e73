"""Tests of ids that are strings and not UTF-8, which protobuf allows in proto2 and editions.

The pure Python implementation of protobuf does not parse a message with such a string.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import case_protocols
import generated_packages
import pytest
from exchanges import Modules, run
from google.protobuf.internal import api_implementation
from google.protobuf.message import DecodeError
from peer_case import PeerCase, echo, forever, queue_transports, run_test

# The id is the bytes FF FE: field 1 of a request and field 300 of a response.
REQUEST = b"\x0a\x02\xff\xfe" + b"\x2a\x03\x0a\x01x"
RESPONSE = b"\x2a\x03\x0a\x01x" + b"\xe2\x12\x02\xff\xfe"
BUSY = b"\x12\x04busy" + b"\xe2\x12\x02\xff\xfe"

pytestmark = pytest.mark.skipif(
    api_implementation.Type() == "python", reason="the implementation parses only UTF-8"
)


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> PeerCase:
    root = tmp_path_factory.mktemp("peer_text")
    package = case_protocols.make("peer_text", root / "in", root / "out")
    return PeerCase("peer_text", package.module)


def envelope(case: PeerCase, arm: bytes, content: bytes) -> Any:
    """Returns an envelope with the bytes of a request (arm 0A) or response (arm 12)."""
    return case.pb.Envelope.FromString(arm + bytes([len(content)]) + content)


def test_a_response_has_the_id_of_its_request_byte_for_byte(case: PeerCase) -> None:
    request = case.pb.Request.FromString(REQUEST)
    response = run(case.requests.answer(case.handler(echo), request))
    assert response.SerializeToString() == RESPONSE
    text = run(case.requests.answer(case.handler(echo), case.pb.Request(id="é")))
    assert text.id == "é"
    assert not run(case.requests.answer(case.handler(echo), case.pb.Request())).HasField("id")


def test_a_host_answers_and_refuses_such_requests(case: PeerCase) -> None:
    async def test() -> None:
        host_end, other = queue_transports()
        async with case.peer.HostPeer(host_end, case.handler(echo)):
            await other.send(envelope(case, b"\x0a", REQUEST))
            assert await other.received.get() == envelope(case, b"\x12", RESPONSE)
        host_end, other = queue_transports()
        async with case.peer.HostPeer(host_end, case.handler(forever), max_in_flight=0):
            await other.send(envelope(case, b"\x0a", REQUEST))
            assert await other.received.get() == envelope(case, b"\x12", BUSY)

    run_test(test)


def test_a_client_ignores_a_response_with_such_an_id(case: PeerCase) -> None:
    async def test() -> None:
        client_end, other = queue_transports()
        async with case.peer.ClientPeer(client_end, timeout=10) as client:
            answer = asyncio.ensure_future(client.requests.ask(text="x"))
            sent = (await other.received.get()).request
            await other.send(envelope(case, b"\x12", RESPONSE))
            response = case.pb.Response(id=sent.id, ask=case.pb.Ask(text="mine"))
            await other.send(case.pb.Envelope(response=response))
            assert (await answer).text == "mine"

    run_test(test)


@pytest.mark.parametrize("feature", ["NONE", "VERIFY"])
def test_an_edition_whose_features_allow_such_strings(feature: str, tmp_path: Path) -> None:
    name = f"edition_{feature.lower()}"
    text = (
        case_protocols.small(f"trap.{name}", "message Ping {}")
        .replace('syntax = "proto3"', 'edition = "2023"')
        .replace("request_id = 1", f"request_id = 1 [features.utf8_validation = {feature}]")
    )
    (tmp_path / f"{name}.proto").write_text(text, encoding="utf-8")
    source = generated_packages.protos([tmp_path / f"{name}.proto"], [tmp_path])
    config = generated_packages.configured(tmp_path, f"{name}_protocol", source)
    made = Modules(generated_packages.generate(config))
    assert hasattr(made.requests, "copy_correlation") == (feature == "NONE")
    if feature == "VERIFY":
        with pytest.raises(DecodeError):
            made.pb.Request.FromString(b"\x0a\x01\xff\x12\x00")
        return

    class Handler(made.requests.RequestHandler):  # type: ignore[misc, name-defined]
        async def ping(self, request: Any) -> Any:
            return request

    request = made.pb.Request.FromString(b"\x0a\x01\xff\x12\x00")
    response = run(made.requests.answer(Handler(), request))
    assert response.SerializeToString() == b"\x0a\x01\xff\x12\x00"


REQUESTS = """syntax = "proto2";
package trap.mixed_requests;
message Ask { optional string text = 1; }
message Request { optional string id = 1; oneof request { Ask ask = 5; } }
"""
RESPONSES = """syntax = "proto3";
package trap.mixed;
import "mixed_requests.proto";
message Response {
  string id = 1; string error = 2;
  oneof response { trap.mixed_requests.Ask ask = 5; }
}
message Event { oneof event { trap.mixed_requests.Ask asked = 1; } }
message Envelope {
  oneof payload { trap.mixed_requests.Request request = 1; Response response = 2; Event event = 3; }
}
"""


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> PeerCase:
    """A protocol whose requests are in proto2 and whose responses are in proto3."""
    root = tmp_path_factory.mktemp("mixed")
    (root / "mixed_requests.proto").write_text(REQUESTS, encoding="utf-8")
    (root / "mixed.proto").write_text(RESPONSES, encoding="utf-8")
    source = generated_packages.protos([root / "mixed.proto"], [root])
    config = generated_packages.configured(root, "mixed_protocol", source)
    return PeerCase("mixed", generated_packages.generate(config).module)


def test_a_response_that_cannot_have_the_id_is_sent_without_it(
    mixed: PeerCase, caplog: pytest.LogCaptureFixture
) -> None:
    async def test() -> None:
        host_end, other = queue_transports()
        async with mixed.peer.HostPeer(host_end, mixed.handler(echo)):
            await other.send(envelope(mixed, b"\x0a", REQUEST))
            response = (await other.received.get()).response
            assert (response.id, response.ask.text) == ("", "x")
            await other.send(envelope(mixed, b"\x0a", b"\x0a\x02\xc3\xa9\x2a\x00"))
            assert (await other.received.get()).response.id == "é"
        host_end, other = queue_transports()
        async with mixed.peer.HostPeer(host_end, mixed.handler(forever), max_in_flight=0):
            await other.send(envelope(mixed, b"\x0a", REQUEST))
            assert (await other.received.get()).response.error == "busy"

    run_test(test)
    message = "a response has no id, as that of its request is not UTF-8: b'\\xff\\xfe'"
    assert [item.message for item in caplog.records] == [message, message]
