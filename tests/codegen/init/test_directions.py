"""Names of messages that opposite sides send."""

from __future__ import annotations

import pytest
from sessiongen.diagnostics import Span
from sessiongen.init.directions import opposite
from sessiongen.ir.schema import Message


def message(name: str) -> Message:
    return Message(name, (name,), "a.proto", (), (), "", Span("a.proto"))


# The first message has the requests.
PAIRS = [
    ("ClientMessage", "ServerMessage"),
    ("client_message", "server_message"),
    ("ToRadio", "FromRadio"),
    ("ToServer", "FromServer"),
    ("FromClient", "ToClient"),
    ("ToServer", "ToClient"),
    ("FromClient", "FromServer"),
    ("ClientToServer", "ServerToClient"),
    ("HostToDeviceFrame", "DeviceToHostFrame"),
    ("C2S", "S2C"),
    ("C2SMessage", "S2CMessage"),
    ("Upstream", "Downstream"),
    ("UplinkFrame", "DownlinkFrame"),
    ("StreamIn", "StreamOut"),
    ("InboundMessage", "OutboundMessage"),
    ("ControllerMessage", "AgentMessage"),
    ("WorkerMessage", "ServerMessage"),
    ("GameClientEvent", "GameServerEvent"),
]


@pytest.mark.parametrize("first, second", PAIRS)
def test_the_message_with_requests_comes_first(first: str, second: str) -> None:
    request, other, third = message(first), message(second), message("ServerStatus")
    assert opposite(request, [third, request, other]) is other
    assert opposite(other, [third, request, other]) is None


@pytest.mark.parametrize(
    "first, second",
    [
        ("ClientMessage", "ServerFrame"),
        ("ClientMessage", "ClientMessage"),
        ("Torrent", "Fromrent"),
        ("Inbox", "Outbox"),
        ("Cat", "Dog"),
    ],
)
def test_names_without_a_direction(first: str, second: str) -> None:
    one, other = message(first), message(second)
    assert opposite(one, [one, other]) is opposite(other, [one, other]) is None
