"""Measures the generator: start-up, a cold run, growth with the protocol, and dispatch."""

from __future__ import annotations

import math
import shutil
import sys
import timeit
from pathlib import Path

import protocols
from measure import Row, alternate, command, peak_memory

ROOT = Path(__file__).resolve().parents[1]
_PYTHON = sys.executable
_BIN = Path(sys.executable).parent


def rows(folder: Path) -> list[Row]:
    """Measure everything; takes about two minutes."""
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
        made = folder / output
        made.mkdir(parents=True, exist_ok=True)
        arguments.append(f"--{output}_out={made}")
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
    peer = f"protoc with python and mypy output, {_ms(protoc)}"
    return [
        Row("`generate`, nothing changed", _ms(generate), peer, generate / protoc, 1.0),
        Row("`check`, cached", _ms(check), peer, check / protoc, 1.0),
        Row("`parity` with two SDKs", _ms(parity), "-", parity, 0.3, " s"),
    ]


def _cold(folder: Path) -> Row:
    config = folder / "contract" / "codegen.toml"
    cold, peer = alternate(
        9,
        command(*_sessiongen(config, "generate", "--no-cache")),
        command(*_protoc(folder, "python_betterproto2")),
    )
    against = f"betterproto2_compiler, {_ms(peer)}"
    return Row("`generate`, everything, no cache", _ms(cold), against, cold / peer, 1.5)


def _growth(folder: Path) -> list[Row]:
    seconds = {}
    for times in (1, 10, 100):
        config = protocols.write(folder / f"times-{times}", times)
        arguments = _sessiongen(config, "generate", "--no-cache")
        seconds[times] = alternate(3, command(*arguments))[0]
    together = peak_memory(arguments)
    result = []
    for small, large in ((1, 10), (10, 100)):
        exponent = math.log10(seconds[large] / seconds[small])
        what = f"growth from {small} × to {large} × the arms, as an exponent"
        ours, peer = f"{seconds[large]:.1f} s", f"{seconds[small]:.1f} s at {small} ×"
        result.append(Row(what, ours, peer, exponent, 1.1, ""))
    what = "peak memory at 100 × the arms, all processes together"
    result.append(Row(what, f"{together:.0f} MiB", "-", together, 300, " MiB"))
    return result


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
    first, last = (min(times) for times in zip(*rounds, strict=True))
    ours, peer = (
        f"{last / calls * 1e9:.0f} ns, last arm",
        f"{first / calls * 1e9:.0f} ns, first arm",
    )
    ratio = max(first, last) / min(first, last)
    return Row("dispatch of a request, last arm against first", ours, peer, ratio, 1.3)


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms"
