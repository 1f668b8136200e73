"""Measures the generator: runs with and without a cache, growth with the protocol, and dispatch."""

from __future__ import annotations

import math
import shutil
import sys
import timeit
from pathlib import Path

import protocols
from measure import Row, alternate, command, mebibytes, peak_memory, seconds

ROOT = Path(__file__).resolve().parents[1]
_PYTHON = sys.executable
_BIN = Path(sys.executable).parent


def rows(folder: Path) -> list[Row]:
    """Measures everything; takes about two minutes."""
    return [*_unchanged(folder), _cold(folder), *_growth(folder), _dispatch()]


def _checkout(folder: Path) -> Path:
    target = folder / "contract"
    target.mkdir(parents=True)
    for name in ("proto", "overrides", "vocabularies"):
        shutil.copytree(ROOT / name, target / name)
    shutil.copy(ROOT / "codegen.toml", target)
    return target / "codegen.toml"


def _protoc(folder: Path, *outputs: str) -> list[str]:
    arguments = [_PYTHON, "-m", "grpc_tools.protoc", f"-I{ROOT / 'proto'}"]
    for output in outputs:
        plugin = f"protoc-gen-{output}"
        if (_BIN / plugin).exists():
            arguments.append(f"--plugin={plugin}={_BIN / plugin}")
        out = folder / output
        out.mkdir(parents=True, exist_ok=True)
        arguments.append(f"--{output}_out={out}")
    return [*arguments, "agent_session.proto"]


def _sessiongen(config: Path, *arguments: str) -> list[str]:
    return [str(_BIN / "sessiongen"), "--config", str(config), *arguments]


def _unchanged(folder: Path) -> list[Row]:
    config = _checkout(folder)
    command(*_sessiongen(config, "generate"))()
    generate, check, parity, protoc = alternate(
        15,
        command(*_sessiongen(config, "generate")),
        command(*_sessiongen(config, "check")),
        command(*_sessiongen(ROOT / "codegen.toml", "parity")),
        command(*_protoc(folder, "python", "mypy")),
    )
    peer = ("protoc with mypy-protobuf", seconds(protoc))

    def row(name: str, time: float) -> Row:
        return Row(name, seconds(time), peer, time / protoc, 1.0, chart=name)

    return [
        row("`generate`, nothing changed", generate),
        row("`check`, cached", check),
        Row("`parity` with two SDKs", seconds(parity), None, parity, 0.3, " s"),
    ]


def _cold(folder: Path) -> Row:
    config = folder / "contract" / "codegen.toml"
    cold, peer = alternate(
        9,
        command(*_sessiongen(config, "generate", "--no-cache")),
        command(*_protoc(folder, "python_betterproto2")),
    )
    name = "`generate`, everything, no cache"
    beside = ("betterproto2_compiler", seconds(peer))
    return Row(name, seconds(cold), beside, cold / peer, 1.2, chart=name)


def _growth(folder: Path) -> list[Row]:
    elapsed = {}
    for times in (1, 10, 100):
        config = protocols.write(folder / f"times-{times}", times)
        arguments = _sessiongen(config, "generate", "--no-cache")
        elapsed[times] = alternate(3, command(*arguments))[0]
    memory = peak_memory(arguments)
    result = []
    for small, large in ((1, 10), (10, 100)):
        exponent = math.log10(elapsed[large] / elapsed[small])
        name = f"growth from {small} × to {large} × the arms, as an exponent"
        peer = (f"{small} × the arms", seconds(elapsed[small]))
        result.append(Row(name, seconds(elapsed[large]), peer, exponent, 1.1, ""))
    name = "peak memory at 100 × the arms, all processes together"
    result.append(Row(name, mebibytes(memory), None, memory, 300, " MiB"))
    return [*result, _memory_of_both_languages(folder)]


def _memory_of_both_languages(folder: Path) -> Row:
    config = protocols.write(folder / "both-languages", 100, typescript=True)
    memory = peak_memory(_sessiongen(config, "generate", "--no-cache"))
    name = "peak memory at 100 × the arms, Python and TypeScript"
    return Row(name, mebibytes(memory), None, memory, 400, " MiB")


def _dispatch() -> Row:
    from agent_session_protocol import agent_session_pb2 as pb
    from agent_session_protocol.dispatch import (
        SESSION_REQUEST_ARMS,
        SessionRequestHandlers,
        dispatch_session_request,
    )

    arms = list(SESSION_REQUEST_ARMS)
    handlers = SessionRequestHandlers(**{arm: lambda payload: None for arm in arms})
    requests = []
    for arm in (arms[0], arms[-1]):
        request = pb.SessionRequest(request_id="r")
        getattr(request, arm).SetInParent()
        requests.append(request)
    calls = 20_000

    def run(request: pb.SessionRequest) -> float:
        return timeit.timeit(lambda: dispatch_session_request(request, handlers), number=calls)

    # In turn, so that both arms see the same machine.
    rounds = [[run(request) for request in requests] for _ in range(40)]
    first, last = (min(times) / calls for times in zip(*rounds, strict=True))
    ratio = max(first, last) / min(first, last)
    name = "dispatch of a request, last arm against first"
    return Row(name, seconds(last), ("first arm", seconds(first)), ratio, 1.3)
