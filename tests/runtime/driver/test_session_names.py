"""Requests with the names of methods of the session."""

from __future__ import annotations

import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import create_autospec

import pytest
from agent_session import RemoteSession, memory_pair
from agent_session_protocol.client import SessionRequestClient
from agent_session_protocol.events import AgentSessionEventListeners
from transport_messages import run

ROOT = Path(__file__).resolve().parents[3]

# Text to insert before a line of the contract.
ADDED = {
    "  message FinalizeSimulation {": "  // Close.\n  message Close {}\n\n",
    "    FinalizeSimulation finalize_simulation = 12;": "    // Close.\n    Close close = 1001;\n\n",
    "  message FinalizeSimulationResponse {": "  // Closed.\n  message CloseResponse {}\n\n",
    "    FinalizeSimulationResponse finalize_simulation = 13;": (
        "    // Closed.\n    CloseResponse close = 1001;\n\n"
    ),
}
PROGRAM = """
import asyncio
from agent_session import RemoteSession, memory_pair
from agent_session_protocol import agent_session_pb2 as pb

class Peer:
    def __init__(self, transport):
        self.transport, self.arms, self.ended = transport, [], asyncio.Event()

    def message_received(self, message):
        self.arms.append(message.request.WhichOneof("request"))
        answer = pb.AgentSessionMessage()
        answer.response.request_id = message.request.request_id
        answer.response.close.SetInParent()
        self.transport.send_nowait(answer)

    def transport_ended(self, reason):
        self.ended.set()

async def main():
    driver_end, host_end = memory_pair()
    peer = Peer(host_end)
    await host_end.start()
    host_end.deliver_to(peer)
    session = RemoteSession(driver_end)
    await session.start()
    print(type(await session.requests.close()).__name__, peer.arms, session.outcome)
    await session.close()
    await asyncio.wait_for(peer.ended.wait(), 10)
    print(peer.arms, session.outcome.by_driver)

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder generated from a copy of the contract with a request named `close`."""
    root = tmp_path_factory.mktemp("close")
    for name in ("templates", "generated", "overrides", "proto", "vocabularies"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "codegen.toml", root)
    contract = root / "proto" / "agent_session.proto"
    text = contract.read_text(encoding="utf-8")
    for line, added in ADDED.items():
        assert text.count(line) == 1, line
        text = text.replace(line, added + line)
    contract.write_text(text, encoding="utf-8")
    subprocess.run([sys.executable, "-m", "sessiongen", "generate"], cwd=root, check=True)
    return root / "generated" / "python"


def test_a_request_named_close_does_not_replace_the_close_of_the_session(generated: Path) -> None:
    paths = [generated, ROOT / "runtime"]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines() == [
        "CloseResponse ['close'] None",
        "['close'] True",
    ], done.stderr


def test_each_request_is_also_a_method_of_the_session() -> None:
    async def main() -> None:
        session = RemoteSession(memory_pair()[0])
        assert session.ping == session.requests.ping
        assert session.run_input == session.requests.run_input
        assert "run_input" in dir(session) and "close" in dir(session)
        with pytest.raises(AttributeError, match="'RemoteSession' object has no attribute 'fly'"):
            getattr(session, "fly")

    run(main())


def test_the_class_has_the_methods_of_the_requests() -> None:
    """As documentation tools and mocks of the class look for them."""
    assert RemoteSession.run_input is SessionRequestClient.run_input
    assert "text" in inspect.signature(RemoteSession.run_input).parameters
    assert "run_input" in dir(RemoteSession)
    assert create_autospec(RemoteSession).run_input
    with pytest.raises(AttributeError, match="has no attribute 'fly'"):
        getattr(RemoteSession, "fly")


def test_no_event_replaces_a_method_of_the_session() -> None:
    listeners = {name for name in vars(AgentSessionEventListeners) if not name.startswith("__")}
    session = {name for name in vars(RemoteSession) if not name.startswith("__")}
    assert not listeners & session
    assert not issubclass(RemoteSession, SessionRequestClient)
