"""The key `input.oldest`: wheels and descriptor sets with the oldest supported messages."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from generated_packages import ROOT
from sessiongen_command import Outcome, invoke

from sessiongen import pipeline
from sessiongen.config import reader

MODULE = "livekit.protocol.agent_pb.agent_session"
DESCRIPTORS = ROOT / "presets" / "messages" / "livekit-protocol-1.1.21.binpb"
CONFIG = """\
[input]
messages = "{module}"
oldest = "{oldest}"

[output]
path = "out"
package = "bound"

[annotations]
"livekit.agent.SessionRequest.ping".response = "pong"
"""
# What version 1.1.29 adds to 1.1.21.
NEWER = {
    "livekit.agent.FunctionCall.extra",
    "livekit.agent.FunctionCall.ExtraEntry",
    "livekit.agent.FunctionCall.ExtraEntry.key",
    "livekit.agent.FunctionCall.ExtraEntry.value",
    "livekit.agent.CloseReason",
    *(
        f"livekit.agent.CloseReason.CR_{name}"
        for name in (
            "UNKNOWN ERROR JOB_SHUTDOWN PARTICIPANT_DISCONNECTED USER_INITIATED COMPLETED".split()
        )
    ),
}


def _config(folder: Path, oldest: str) -> Path:
    path = folder / "codegen.toml"
    path.write_text(CONFIG.format(module=MODULE, oldest=oldest), encoding="utf-8")
    return path


def _refused(folder: Path, oldest: str) -> Outcome:
    _config(folder, oldest)
    outcome = invoke(folder, "generate")
    assert outcome.status == 2 and not (folder / "out").exists()
    return outcome


def _wheel(path: Path, module: str, text: str) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{module.replace('.', '/')}.py", text)
        # Without these the folders would be namespaces, which come after the installed packages.
        for folder in Path(module.replace(".", "/")).parents[:-2]:
            archive.writestr(f"{folder.as_posix()}/__init__.py", "")
        archive.writestr(
            "acme_messages-1.0.dist-info/METADATA", "Name: acme-messages\nVersion: 1.0\n"
        )
        archive.writestr("acme_messages-1.0.dist-info/RECORD", f"{module.replace('.', '/')}.py,,\n")


def test_a_descriptor_set(tmp_path: Path) -> None:
    model = pipeline.model(reader.load(_config(tmp_path, DESCRIPTORS.as_posix())))
    assert model.oldest is not None
    assert model.oldest.name == "livekit-protocol-1.1.21"
    assert {name for name in model.oldest.newer if name.startswith("livekit.agent.")} == NEWER


def test_a_wheel(tmp_path: Path) -> None:
    data = DESCRIPTORS.read_bytes()
    text = (
        "from google.protobuf import descriptor_pb2, descriptor_pool\n"
        "from google.protobuf import struct_pb2, timestamp_pb2, duration_pb2\n"
        f"files = descriptor_pb2.FileDescriptorSet.FromString({data!r}).file\n"
        "file = files[0]\n"
        "kept = [item for item in file.dependency if item.startswith('google/')]\n"
        "del file.dependency[:], file.public_dependency[:], file.weak_dependency[:]\n"
        "file.dependency.extend(kept)\n"
        "for message in file.message_type:\n"
        "    for field in message.field:\n"
        "        field.ClearField('options')\n"
        "DESCRIPTOR = descriptor_pool.Default().AddSerializedFile(file.SerializeToString())\n"
    )
    _wheel(tmp_path / "acme.whl", MODULE, text)
    model = pipeline.model(reader.load(_config(tmp_path, "acme.whl")))
    assert model.oldest is not None
    assert model.oldest.name == "acme-messages 1.0"
    assert {name for name in model.oldest.newer if name.startswith("livekit.agent.")} == NEWER


def test_a_wheel_without_the_module(tmp_path: Path) -> None:
    _wheel(tmp_path / "acme.whl", "acme.messages", "")
    outcome = _refused(tmp_path, "acme.whl")
    assert "codegen.toml:3:1: error[SG004]: acme.whl does not contain the module" in outcome.errors


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (None, "error[SG002]: cannot read the oldest version of the messages: No such file"),
        (b"\xff", "error[SG002]: cannot read the oldest version of the messages: "),
        (b"PK\x05\x06" + bytes(18), f"'{MODULE}'"),
        (b"", f"error[SG004]: oldest has no message of {MODULE}"),
    ],
)
def test_files_of_another_kind(data: bytes | None, fault: str, tmp_path: Path) -> None:
    if data is not None:
        (tmp_path / "oldest").write_bytes(data)
    assert fault in _refused(tmp_path, "oldest").errors


def test_without_messages(tmp_path: Path) -> None:
    path = _config(tmp_path, "old.binpb")
    text = path.read_text(encoding="utf-8").replace(
        f'messages = "{MODULE}"', 'protos = ["a.proto"]'
    )
    path.write_text(text, encoding="utf-8")
    outcome = invoke(tmp_path, "generate")
    assert "codegen.toml:3:1: error[SG006]: input.oldest is a version of input.messages" in (
        outcome.errors
    )
