"""Inputs other than .proto files: descriptor sets of protoc and buf, and installed modules
of messages, with the stubs of mypy-protobuf and of protoc."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import generated_packages
import package_walk
from generated_packages import CASES, ROOT, Package
from package_walk import Facts

FFI = """[roles]
event = "FfiEvent"
request = "FfiRequest"
response = "FfiResponse"

[annotations."livekit.proto.FfiRequest.edit_chat_message"]
response = "send_chat_message"
"""

PING = """[annotations."livekit.agent.SessionRequest.ping"]
response = "pong"
"""

Bound = dict[str, Package]


@pytest.fixture(scope="module")
def bound(tmp_path_factory: pytest.TempPathFactory) -> Bound:
    """Typed layers over two published modules of messages."""
    root = tmp_path_factory.mktemp("bound")
    ffi = 'messages = "livekit.rtc._proto.ffi_pb2"'
    session = 'messages = "livekit.protocol.agent_pb.agent_session"'
    return {
        "ffi": generated_packages.generate(
            generated_packages.configured(root / "ffi", "bound_ffi", ffi, root / "out", FFI)
        ),
        "session": generated_packages.generate(
            generated_packages.configured(
                root / "session", "bound_session", session, root / "out", PING
            )
        ),
    }


def test_no_messages_are_generated(bound: Bound) -> None:
    names = [path.name for item in bound.values() for path in item.folder.iterdir()]
    assert [name for name in names if "_pb2" in name] == []


def test_mypy_reports_no_error(bound: Bound, tmp_path: Path) -> None:
    folders = [item.folder for item in bound.values()]
    assert generated_packages.mypy(folders, [folders[0].parent], tmp_path) == ""


def test_pyright_reports_no_error(bound: Bound, tmp_path: Path) -> None:
    folders = [item.folder for item in bound.values()]
    assert generated_packages.pyright(folders, [folders[0].parent], tmp_path) == ""


def arms(module: str, message: str, oneof: str) -> list[str]:
    """Returns the arms of an installed oneof, read without the generator."""
    import importlib

    oneof_descriptor = getattr(importlib.import_module(module), message).DESCRIPTOR.oneofs_by_name[
        oneof
    ]
    return [item.name for item in oneof_descriptor.fields]


def test_protocol_of_rooms_round_trips(bound: Bound) -> None:
    package = bound["ffi"]
    pairs = {"edit_chat_message": "send_chat_message"}
    assert package_walk.check_dispatch(package) > 200
    package_walk.check_requests(package, Facts(None, pairs=pairs))
    package_walk.check_events(package, Facts(None))
    module = "livekit.rtc._proto.ffi_pb2"
    dispatch = package.module("dispatch")
    for message in ("FfiRequest", "FfiResponse", "FfiEvent"):
        table = next(v for k, v in vars(dispatch).items() if k == f"FFI_{message[3:].upper()}_ARMS")
        assert list(table) == arms(module, message, "message")


def test_published_session_messages_round_trip(bound: Bound) -> None:
    package = bound["session"]
    facts = Facts("request_id", "error", "created_at", {"ping": "pong"})
    assert package_walk.check_dispatch(package) == 57
    package_walk.check_requests(package, facts)
    package_walk.check_events(package, facts)


# ---------------------------------------------------------------------------------------
# Descriptor sets.


def layers(package: Package) -> dict[str, str]:
    """Returns the texts of the typed layers."""
    return {
        path.name: path.read_text(encoding="utf-8")
        for path in sorted(package.folder.glob("*.py*"))
        if path.name != "sessiongen.json"
    }


def protoc_set(folder: Path, name: str, target: Path) -> None:
    """Writes a descriptor set as protoc does."""
    arguments = [f"-I{folder}", f"-I{ROOT / 'proto'}", "--include_imports", "--include_source_info"]
    command = [sys.executable, "-m", "grpc_tools.protoc", *arguments]
    subprocess.run([*command, f"--descriptor_set_out={target}", name], check=True)


def buf_set(folder: Path, name: str, target: Path) -> None:
    """Writes a descriptor set as buf does; it wants a module of its own."""
    buf = Path(sys.executable).parent / "buf"
    copy = target.parent / "module"
    for path in [*folder.rglob("*.proto"), *(ROOT / "proto" / "sessiongen").glob("*.proto")]:
        root = folder if path.is_relative_to(folder) else ROOT / "proto"
        place = copy / path.relative_to(root)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(path.read_bytes())
    (copy / "buf.yaml").write_text("version: v2\n", encoding="utf-8")
    subprocess.run([str(buf), "build", "-o", str(target), "--path", name], cwd=copy, check=True)


SOURCES = [
    ("contract", ROOT / "proto", "agent_session.proto"),
    ("imports", CASES / "imports", "dispatch.proto"),
    ("annotated", CASES, "shared_response.proto"),
]


@pytest.fixture(scope="module")
def from_protos(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Package]:
    """The package of each source, generated from its .proto."""
    root = tmp_path_factory.mktemp("protos")
    return {
        name: generated_packages.generate(
            generated_packages.configured(
                root / name, "made", generated_packages.protos([folder / file], [folder])
            )
        )
        for name, folder, file in SOURCES
    }


@pytest.mark.parametrize("name, folder, file", SOURCES, ids=[item[0] for item in SOURCES])
@pytest.mark.parametrize("writer", [protoc_set, buf_set])
def test_descriptor_sets_give_the_same_code(
    name: str,
    folder: Path,
    file: str,
    writer: Any,
    from_protos: dict[str, Package],
    tmp_path: Path,
) -> None:
    first = from_protos[name]
    only = tmp_path / "only"
    only.mkdir()
    for path in folder.rglob("*.proto"):
        is_main = name == "imports" or path.name == file
        if is_main:
            place = only / path.relative_to(folder)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(path.read_bytes())
    target = tmp_path / "protocol.binpb"
    writer(only, file, target)
    source = f'descriptor_set = "{target.as_posix()}"'
    second = generated_packages.generate(
        generated_packages.configured(tmp_path / "set", "made", source)
    )
    assert len(layers(first)) > 8
    assert layers(first) == layers(second)


def test_a_descriptor_set_without_positions_loses_comments_only(tmp_path: Path) -> None:
    target = tmp_path / "bare.binpb"
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{CASES}", "--include_imports"]
    subprocess.run([*command, f"--descriptor_set_out={target}", "scalar_arms.proto"], check=True)
    source = f'descriptor_set = "{target.as_posix()}"'
    without_positions = generated_packages.generate(
        generated_packages.configured(tmp_path / "set", "case_bare", source)
    )
    proto = generated_packages.protos([CASES / "scalar_arms.proto"], [CASES])
    other = generated_packages.generate(
        generated_packages.configured(tmp_path / "proto", "case_bare", proto)
    )
    assert layers(without_positions).keys() == layers(other).keys()
    assert layers(without_positions)["dispatch.py"] == layers(other)["dispatch.py"]


def test_a_client_of_the_rooms_protocol_reads_typed_results(bound: Bound) -> None:
    package = bound["ffi"]
    client_module = package.module("client")
    from livekit.rtc._proto import ffi_pb2

    sent = []

    async def send(_: Any, request: Any, timeout: float | None = None) -> Any:
        sent.append(request)
        return ffi_pb2.FfiResponse(dispose=ffi_pb2.DisposeResponse(async_id=7))

    client = type("Client", (client_module.FfiRequestClient,), {"send": send})()
    result = asyncio.run(client.dispose(async_=True))
    assert (result.async_id, sent[0].dispose) == (7, ffi_pb2.DisposeRequest(**{"async": True}))
