"""Newer messages with a new request and a new event: mypy reports the two places of the host.

A folder in front of the installed livekit-protocol has a copy of it, in which the messages of the
agent session protocol have two more arms. The example is generated for these messages.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import generated_packages
import pytest
from google.protobuf import descriptor_pb2
from livekit import protocol
from livekit.protocol.agent_pb import agent_session as pb
from pages import blocks
from sessiongen_command import ROOT, invoke

EXAMPLE = ROOT / "examples" / "livekit-agents"
PROTO = "agent/livekit_agent_session.proto"
MODULE = "livekit/protocol/agent_pb/agent_session"
PACKAGE = ".livekit.agent."
# A number that the published messages do not have.
NEW_ARM = 1001
PAGE = (ROOT / "docs" / "livekit-agents.md").read_text(encoding="utf-8")

METHOD = """
    async def mute(self, request: Request.Mute) -> Response.MuteResponse:
        return Response.MuteResponse(was_muted=request.muted)
"""
FORWARDER = '            muted=self._forwarder("muted"),\n'


def add_arm(
    file: descriptor_pb2.FileDescriptorProto, message: str, payload: str, arm: str, field: str
) -> None:
    """Adds an arm to the first oneof of a message, with a nested message of one bool."""
    [parent] = [item for item in file.message_type if item.name == message]
    nested = parent.nested_type.add(name=payload)
    types = descriptor_pb2.FieldDescriptorProto
    nested.field.add(name=field, number=1, type=types.TYPE_BOOL, label=types.LABEL_OPTIONAL)
    parent.field.add(
        name=arm,
        number=NEW_ARM,
        type=types.TYPE_MESSAGE,
        label=types.LABEL_OPTIONAL,
        type_name=f"{PACKAGE}{message}.{payload}",
        oneof_index=0,
    )


def write_messages(folder: Path) -> None:
    """Writes a copy of livekit.protocol whose messages have new arms into a folder."""
    shutil.copytree(Path(protocol.__file__).parent, folder / "livekit" / "protocol")
    files = descriptor_pb2.FileDescriptorSet()
    for dependency in (*pb.DESCRIPTOR.dependencies, pb.DESCRIPTOR):
        dependency.CopyToProto(files.file.add())
    google = "google/protobuf/descriptor.proto"
    descriptor_pb2.DESCRIPTOR.CopyToProto(files.file.add(name=google))
    newest = next(item for item in files.file if item.name == PROTO)
    add_arm(newest, "SessionRequest", "Mute", "mute", "muted")
    add_arm(newest, "SessionResponse", "MuteResponse", "mute", "was_muted")
    add_arm(newest, "AgentSessionEvent", "Muted", "muted", "muted")
    (folder / "set.binpb").write_bytes(files.SerializeToString())
    command = [sys.executable, "-m", "grpc_tools.protoc", "--descriptor_set_in=set.binpb"]
    subprocess.run(
        [*command, "--python_out=.", "--pyi_out=.", PROTO], cwd=folder, check=True, text=True
    )
    for suffix in (".py", ".pyi"):
        written = folder / f"agent/livekit_agent_session_pb2{suffix}"
        text = written.read_text(encoding="utf-8")
        text = text.replace("from logger import options_pb2", "from ..logger_pb import options")
        (folder / f"{MODULE}{suffix}").write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a copy of the example that is generated for messages with new arms."""
    folder = tmp_path_factory.mktemp("new_arms")
    write_messages(folder)
    for path in EXAMPLE.glob("*.py"):
        shutil.copy(path, folder)
    config = (EXAMPLE / "codegen.toml").read_text(encoding="utf-8")
    config = config.replace('"../../', f'"{ROOT.as_posix()}/')
    (folder / "codegen.toml").write_text(config, encoding="utf-8")
    outcome = invoke(folder, "generate")
    assert outcome.status == 0 and "protocol: 11 requests, 15 events" in outcome.output
    return folder


def type_errors(folder: Path, tmp_path: Path) -> list[str]:
    """Returns the errors of mypy in the example, as `file:line: error: message`."""
    modules = [path for path in sorted(folder.glob("*.py")) if path.name != "adopt.py"]
    # mypy prefers an installed package to a folder of `mypy_path`, but not to a given file.
    paths = [*modules, folder / "session_protocol", folder / f"{MODULE}.pyi"]
    output = generated_packages.mypy(paths, [folder], tmp_path)
    errors = re.findall(r"^(?!.*agent_session\.pyi)(.+?):(\d+): error: (.*)$", output, re.MULTILINE)
    assert output == "" or "error:" in output, output
    return [f"{Path(file).name}:{line}: error: {message}" for file, line, message in errors]


def test_two_errors_for_a_new_request_and_a_new_event(example: Path, tmp_path: Path) -> None:
    expected = [
        (
            "self._requests = SessionRequests(session)",
            'Cannot instantiate abstract class "SessionRequests" with abstract attribute "mute"'
            "  [abstract]",
        ),
        (
            "return AgentSessionEventForwarders(",
            'Missing named argument "muted" for "AgentSessionEventForwarders"  [call-arg]',
        ),
    ]
    code = (example / "session_host.py").read_text(encoding="utf-8")
    reported = [
        f"session_host.py:{generated_packages.place_of(code, marker)[0]}: error: {message}"
        for marker, message in expected
    ]
    assert type_errors(example, tmp_path) == reported
    [printed] = [block.text for block in blocks(PAGE) if block.language == "text"]
    assert printed.splitlines() == reported
    requests, host = example / "session_requests.py", example / "session_host.py"
    text = requests.read_text(encoding="utf-8")
    start = "\n    async def get_chat_history("
    requests.write_text(text.replace(start, METHOD + start), encoding="utf-8")
    text = host.read_text(encoding="utf-8")
    start = "            debug_message="
    host.write_text(text.replace(start, FORWARDER + start), encoding="utf-8")
    assert type_errors(example, tmp_path) == []
