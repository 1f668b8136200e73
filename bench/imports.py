"""Measures what importing the typed layers costs beyond importing the messages."""

from __future__ import annotations

import sys

from measure import Row, alternate, command, seconds

_MESSAGES = "import agent_session_protocol.agent_session_pb2"
_LAYERS = "from agent_session_protocol import dispatch, encoders, enums, events, requests"
_ROUNDS = 31


def row() -> Row:
    """Measures both; takes a few seconds."""
    messages, layers = alternate(
        _ROUNDS,
        command(sys.executable, "-c", _MESSAGES),
        command(sys.executable, "-c", f"{_MESSAGES}; {_LAYERS}"),
    )
    name = "import of dispatch, requests, events, enums and encoders, in addition to the messages"
    peer = ("the messages alone, with the interpreter", seconds(messages))
    return Row(name, seconds(layers - messages), peer, (layers - messages) * 1000, 30.0, " ms")
