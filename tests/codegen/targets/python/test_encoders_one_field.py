"""Tests of adding a field to the contract, with and without a source in the SDK's class.

The contract is copied and edited; `parity` and the coverage tests run against the result.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sessiongen_command import invoke
from generated_packages import ROOT

HERE = Path(__file__).parent


def contract_with_field(root: Path, message: str, field: str) -> None:
    """Copies the input of sessiongen, adds a field to a message, and generates."""
    for name in ("proto", "vocabularies", "overrides"):
        shutil.copytree(ROOT / name, root / name)
    shutil.copy(ROOT / "codegen.toml", root)
    proto = root / "proto" / "agent_session.proto"
    text = proto.read_text(encoding="utf-8")
    head = f"\nmessage {message} {{\n"
    assert text.count(head) == 1
    proto.write_text(text.replace(head, f"{head}  // One more.\n  {field}\n"), encoding="utf-8")
    outcome = invoke(root, "generate")
    assert outcome.status == 0, outcome.all


def coverage(root: Path, message: str) -> tuple[int, str]:
    """Runs the coverage tests of one message against the package of a folder."""
    path = os.pathsep.join([str(root / "generated" / "python"), *sys.path])
    name = f"test_every_field_is_on_the_wire[agent_session.{message}]"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, f"{HERE / 'test_encoders_sdk_objects.py'}::{name}"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_new_field_with_a_source(tmp_path: Path) -> None:
    contract_with_field(tmp_path, "FunctionCall", "optional string group_id = 7;")
    assert coverage(tmp_path, "FunctionCall")[0] == 0
    shown = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sdk_items as o\nfrom agent_session_protocol import encoders"
            "\nprint(encoders.encode_function_call(o.CALL).group_id)",
        ],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(tmp_path / "generated/python"), *sys.path]),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout == "group_1\n"
    # The declared gap is stale now, which is another finding.
    outcome = invoke(tmp_path, "parity")
    assert outcome.status == 1
    assert "FunctionCall.group_id" in outcome.all and "group_id has no source" not in outcome.all


@pytest.mark.parametrize("message", ["FunctionCall", "FunctionCallOutput", "AgentHandoff"])
def test_new_field_without_a_source(message: str, tmp_path: Path) -> None:
    contract_with_field(tmp_path, message, "string nickname = 77;")
    status, output = coverage(tmp_path, message)
    assert status == 1
    assert "has no attribute 'nickname'" in output
    outcome = invoke(tmp_path, "parity")
    assert outcome.status == 1
    assert f"livekit-agents: {message}.nickname " in outcome.all
