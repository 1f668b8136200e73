"""Which peers there are, and pairs of them that talk.

Comes in: a kind of host and a kind of driver. Goes out: both as running processes, connected over
a loopback socket, or the reason why a kind cannot run here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from interop_children import Child
from interop_node import NODE_FOLDER, node_is_missing

HERE = Path(__file__).parent

OURS = "ours"
PYTHON = "python"
JS = "js"
TITLES = {OURS: "agent-session", PYTHON: "livekit-agents 1.8.9", JS: "@livekit/agents 1.9.0"}
KINDS = tuple(TITLES)

_PROGRAMS = {
    "host": {OURS: "our_host.py", PYTHON: "sdk_python_host.py", JS: "host.mjs"},
    "driver": {OURS: "our_driver.py", PYTHON: "sdk_python_driver.py", JS: "driver.mjs"},
}


@dataclass(frozen=True)
class Pair:
    """A host and a driver that are connected.

    Attributes:
        requests: the requests that the driver has a method for.
        listens: the events that the driver has a listener for.
    """

    host: Child
    driver: Child
    requests: frozenset[str]
    listens: frozenset[str]


def missing(kind: str) -> str | None:
    """Why peers of this kind cannot run here; None if they can."""
    return node_is_missing() if kind == JS else None


def skip_unless_there(*kinds: str) -> None:
    """Skip the test that calls this if it needs a kind of peer that cannot run here."""
    for kind in kinds:
        if reason := missing(kind):
            pytest.skip(f"no {TITLES[kind]}: {reason}")


def program(role: str, kind: str, *arguments: str) -> list[str]:
    """The command line of a peer."""
    name = _PROGRAMS[role][kind]
    if kind == JS:
        return ["node", str(NODE_FOLDER / name), *arguments]
    return [sys.executable, "-W", "always::ResourceWarning", str(HERE / name), *arguments]


@contextmanager
def child(command: list[str]) -> Iterator[Child]:
    """A peer that ends with the block: by itself, unless the block killed it."""
    peer = Child(command)
    try:
        yield peer
    except BaseException:
        peer.stop()
        raise
    code = peer.stop()
    assert code == 0 or peer.killed, f"{command[-1]} ended with {code}"


@contextmanager
def paired(host_kind: str, driver_kind: str, verdict: str | None = None) -> Iterator[Pair]:
    """A host and a driver, connected; the verdict is what the host's agent says of a simulation."""
    given = [] if verdict is None else [verdict]
    with child(program("driver", driver_kind)) as driver:
        with child(program("host", host_kind, *given)) as host:
            host.note("ready")
            host.ask("start", port=driver.note("listening")["port"])
            able = driver.note("connected")
            yield Pair(host, driver, frozenset(able["requests"]), frozenset(able["events"]))
