"""Tests of the peer layer: transports of the runtime, and protocols without the layer."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import generated_packages
import pytest
from agent_session import FrameTooLarge
from agent_session.transport import MessageFormat, TcpTransport, memory_transports
from generated_packages import CASES
from peer_case import PeerCase, echo, run_test


def test_peers_over_a_memory_transport(peer_case: PeerCase) -> None:
    async def test() -> None:
        first, second = memory_transports(MessageFormat(peer_case.pb.Envelope), chunk=1)
        client = peer_case.peer.ClientPeer(first)
        host = peer_case.peer.HostPeer(second, peer_case.handler(echo))
        async with client, host:
            stream = client.events()
            host.events.asked(text="event")
            answered = await asyncio.gather(*(client.requests.ask(text=text) for text in "abc"))
            assert [answer.text for answer in answered] == ["a", "b", "c"]
            assert (await stream.__anext__()).asked.text == "event"

    run_test(test)


def test_a_message_over_the_limit_of_a_transport(number_case: PeerCase) -> None:
    async def test() -> None:
        async def ask(request: Any) -> Any:
            return number_case.pb.Ask(text="x" * (1 << 20))

        first, second = memory_transports(MessageFormat(number_case.pb.Envelope))
        client = number_case.peer.ClientPeer(first)
        async with client, number_case.peer.HostPeer(second, number_case.handler(ask)):
            with pytest.raises(FrameTooLarge):
                await client.requests.ask(text="x" * (1 << 20))
            with pytest.raises(
                number_case.errors.RequestError, match="the response cannot be sent"
            ):
                await client.requests.ask(text="x")

    run_test(test)


def test_a_broken_frame_over_tcp_ends_the_call_with_its_reason(number_case: PeerCase) -> None:
    async def announce_4_gib(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"\xff\xff\xff\xff")
        await reader.read()
        writer.close()

    async def test() -> None:
        server = await asyncio.start_server(announce_4_gib, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        transport = TcpTransport(MessageFormat(number_case.pb.Envelope), "127.0.0.1", port)
        async with server, transport, number_case.peer.ClientPeer(transport) as client:
            with pytest.raises(number_case.peer.PeerClosed) as caught:
                await client.requests.ask(text="x")
            assert isinstance(caught.value.reason, FrameTooLarge)
            assert client.reason is transport.reason is caught.value.reason

    run_test(test)


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("tiny.proto", "the protocol has no envelope"),
        ("correlation_bytes.proto", "the protocol has no envelope"),
    ],
)
def test_a_protocol_without_an_envelope_has_no_peer_layer(
    file: str, why: str, tmp_path: Path
) -> None:
    source = generated_packages.protos([CASES / file], [CASES])
    package = generated_packages.generate(
        generated_packages.configured(tmp_path / "all", "without_peer", source)
    )
    assert not (package.folder / "peer.py").exists()
    assert not (package.folder / "connection.py").exists()
    assert "`peer`" not in package.text("__init__.py")
    config = generated_packages.configured(
        tmp_path / "asked", "refused", source, rest='layers = ["peer"]'
    )
    (diagnostic,) = generated_packages.refusal(config)
    assert why in diagnostic.message
    assert diagnostic.span.file == str(config.path)


def test_layer_includes_its_dependencies(tmp_path: Path) -> None:
    source = generated_packages.protos([CASES / "peer_number.proto"], [CASES])
    config = generated_packages.configured(tmp_path, "only_peer", source, rest='layers = ["peer"]')
    package = generated_packages.generate(config)
    layers = {path.stem for path in package.folder.glob("*.py")} - {"__init__", "peer_number_pb2"}
    needed = "client connection dispatch errors events peer requests values"
    assert layers == set(needed.split())
