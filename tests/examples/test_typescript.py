"""The TypeScript example: its messages are those of the contract, and its steps as
docs/typescript.md prints them, in a copy of the folder.
"""

from __future__ import annotations

import base64
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from interop_peers import OURS, program, running_peer
from interop_typescript import OWN_MESSAGES, run_tool, settings, typescript_is_missing, unformatted
from pages import ROOT, blocks, matches
from sessiongen_command import invoke

PAGE = (ROOT / "docs" / "typescript.md").read_text(encoding="utf-8")
INSTALL = "npm ci --ignore-scripts"
DRIVER = "node out/driver.js 24024"


def commands() -> Iterator[tuple[str, str]]:
    """Yields each command of the page, and what it prints."""
    for block in blocks(PAGE):
        yield from block.runs()


def test_the_generated_modules_are_current() -> None:
    outcome = invoke(OWN_MESSAGES, "check", "--no-cache")
    assert outcome.status == 0, outcome.all


def test_the_messages_are_those_of_the_contract(tmp_path: Path) -> None:
    """The descriptor in the module, without Node."""
    text = (OWN_MESSAGES / "src" / "agent_session_pb.ts").read_text(encoding="utf-8")
    [encoded] = re.findall(r'fileDesc\("([^"]+)"', text)
    padded = encoded + "=" * (-len(encoded) % 4)
    found = FileDescriptorProto.FromString(base64.b64decode(padded))
    assert invoke(OWN_MESSAGES, "descriptors", str(tmp_path / "set.binpb")).status == 0
    files = FileDescriptorSet.FromString((tmp_path / "set.binpb").read_bytes()).file
    assert "sessiongen/annotations.proto" not in {item.name for item in files}
    [contract] = [item for item in files if item.name == "agent_session.proto"]
    contract.ClearField("source_code_info")
    for message in contract.message_type:
        clear_json_names(message)
    # The names of imports are in the module's own imports.
    contract.ClearField("dependency")
    found.ClearField("dependency")
    assert found == contract


def clear_json_names(message: object) -> None:
    for item in message.field:  # type: ignore[attr-defined]
        item.ClearField("json_name")
    for nested in message.nested_type:  # type: ignore[attr-defined]
        clear_json_names(nested)


def test_descriptors_that_cannot_be_written(tmp_path: Path) -> None:
    outcome = invoke(OWN_MESSAGES, "descriptors", str(tmp_path / "missing" / "set.binpb"))
    assert outcome.status == 2
    assert "cannot write the descriptors: No such file or directory" in outcome.errors


def test_the_steps(tmp_path: Path) -> None:
    if reason := typescript_is_missing(2):
        pytest.skip(reason)
    for name in ("proto", "vocabularies"):
        shutil.copytree(ROOT / name, tmp_path / name)
    folder = tmp_path / "examples" / "typescript"
    shutil.copytree(
        OWN_MESSAGES, folder, ignore=shutil.ignore_patterns("node_modules", "out", ".s*")
    )
    (folder / "node_modules").symlink_to(OWN_MESSAGES / "node_modules")
    messages = folder / "src" / "agent_session_pb.ts"
    committed = messages.read_bytes()
    messages.unlink()
    steps = list(commands())
    assert (steps[0], steps[-1][0]) == ((INSTALL, ""), DRIVER)
    for command, printed in steps[1:-1]:
        output = run(command, folder)
        assert matches(printed, output), f"{command}\n{output}"
    assert messages.read_bytes() == committed
    assert_conversation(folder, steps[-1][1])


def run(command: str, folder: Path) -> str:
    """Runs a command of the page, and returns what it prints."""
    name, *arguments = shlex.split(command)
    if name == "sessiongen":
        return invoke(folder, *arguments).all
    if name == "npx":
        return run_tool(folder, *arguments)[1]
    assert name == "python"
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, timeout=60
    )
    return done.stdout + done.stderr


def assert_conversation(folder: Path, printed: str) -> None:
    """Runs the driver of the example with this repository's host, and compares what it prints."""
    command = ["node", "out/driver.js", "0"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        first = driver.stdout.readline()
        port = first.split()[-1]
        with running_peer(program("host", OURS)) as host:
            host.note("ready")
            host.call("start", port=int(port))
            output = first.replace(port, "24024") + driver.stdout.read()
        assert driver.wait() == 0
    assert matches(printed, output), output


def test_the_modules_are_formatted(tmp_path: Path) -> None:
    if reason := typescript_is_missing(2):
        pytest.skip(reason)
    folder = settings(tmp_path, 2)
    ignored = shutil.ignore_patterns("agent_session_pb.ts")
    shutil.copytree(OWN_MESSAGES / "src", folder / "src", ignore=ignored)
    assert unformatted(folder, "src/**/*.ts") == []
    assert run_tool(folder, "eslint", "src") == (0, "")
