"""The kinds of peers, and pairs of a host and a driver, connected over TCP or in a room."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from interop_subprocesses import Peer
from interop_node import NODE_FOLDER, node_is_missing
from interop_typescript import compiled, typescript_is_missing

HERE = Path(__file__).parent

OURS = "ours"
PYTHON = "python"
JS = "js"
# Programs that are made of the generated TypeScript, with scripted answers and events.
TYPESCRIPT = "typescript"
# The same with messages that protoc-gen-es 2 made of the contract.
TYPESCRIPT_2 = "typescript_2"
# The classes of examples/agents-js in place of the SDK's own.
EXAMPLE = "example"
# The classes of examples/livekit-agents in place of the SDK's own.
PYTHON_EXAMPLE = "python_example"
# Kinds that run on Node with the published messages, and kinds whose code is generated.
JAVASCRIPT = (JS, EXAMPLE)
GENERATED = (OURS, EXAMPLE, PYTHON_EXAMPLE)
KINDS = (OURS, PYTHON, JS)
TITLES = {
    OURS: "agent-session",
    PYTHON: "livekit-agents 1.8.9",
    JS: "@livekit/agents 1.9.0",
    TYPESCRIPT: "generated TypeScript",
    TYPESCRIPT_2: "generated TypeScript on protobuf-es 2",
    EXAMPLE: "examples/agents-js",
    PYTHON_EXAMPLE: "examples/livekit-agents",
}

# The version of protobuf-es of the kinds that are compiled.
_VERSIONS = {TYPESCRIPT: 1, EXAMPLE: 1, TYPESCRIPT_2: 2}

_PROGRAMS = {
    "host": {
        OURS: "our_host.py",
        PYTHON: "sdk_python_host.py",
        JS: "host.mjs",
        TYPESCRIPT: "host.js",
        TYPESCRIPT_2: "host.js",
        EXAMPLE: "../js/example_host.mjs",
        PYTHON_EXAMPLE: "example_python_host.py",
    },
    "driver": {
        OURS: "our_driver.py",
        PYTHON: "sdk_python_driver.py",
        JS: "driver.mjs",
        TYPESCRIPT: "driver.js",
        TYPESCRIPT_2: "driver.js",
        EXAMPLE: "example_driver.js",
        PYTHON_EXAMPLE: "example_python_driver.py",
    },
}


@dataclass(frozen=True)
class RoomAccess:
    """What a pair needs to meet in a room, where the identity of the host is "agent"."""

    url: str
    host_token: str
    driver_token: str


@dataclass(frozen=True)
class Pair:
    """A connected host and driver.

    Attributes:
        requests: the requests for which the driver has a method.
        listens: the events for which the driver has a listener.
    """

    host: Peer
    driver: Peer
    requests: frozenset[str]
    listens: frozenset[str]


def missing(kind: str) -> str | None:
    """Returns why peers of a kind cannot run; None if they can."""
    if kind in _VERSIONS:
        return typescript_is_missing(_VERSIONS[kind])
    return node_is_missing() if kind == JS else None


def skip_if_missing(*kinds: str) -> None:
    """Skips the current test if a kind of peer cannot run."""
    for kind in kinds:
        if reason := missing(kind):
            pytest.skip(f"no {TITLES[kind]}: {reason}")


def program(role: str, kind: str, *arguments: str) -> list[str]:
    """Returns the command line of a peer."""
    name = _PROGRAMS[role][kind]
    if kind == JS or kind in _VERSIONS:
        folder = NODE_FOLDER if kind == JS else compiled(_VERSIONS[kind])
        return ["node", str(folder / name), *arguments]
    return [sys.executable, "-W", "always::ResourceWarning", str(HERE / name), *arguments]


@contextmanager
def running_peer(command: list[str]) -> Iterator[Peer]:
    """Runs a peer. On exit, checks that it exits with status 0 unless it was killed."""
    peer = Peer(command)
    try:
        yield peer
    except BaseException:
        peer.stop()
        raise
    code = peer.stop()
    assert code == 0 or peer.killed, f"{command[-1]} exited with {code}"


@contextmanager
def paired(
    host_kind: str, driver_kind: str, verdict: str | None = None, room: RoomAccess | None = None
) -> Iterator[Pair]:
    """Yields a connected host and driver. With a verdict, the host runs in a simulation."""
    arguments = [] if verdict is None else [verdict]
    address = [] if room is None else [room.url, room.driver_token]
    with running_peer(program("driver", driver_kind, *address)) as driver:
        with running_peer(program("host", host_kind, *arguments)) as host:
            host.note("ready")
            if room is None:
                host.call("start", port=driver.note("listening")["port"])
            else:
                driver.note("connected")
                host.call("start_in_room", url=room.url, token=room.host_token)
            connected = driver.note("connected")
            requests, events = connected["requests"], connected["events"]
            yield Pair(host, driver, frozenset(requests), frozenset(events))
