"""Tests of the contract with `buf lint` and `buf breaking`.

Each exception in buf.yaml must be needed. Edits are made in copies. The binary comes from the
PyPI package buf-bin.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

REPO = Path(__file__).resolve().parents[2]
CONTRACT = "proto/agent_session.proto"


class Finding(NamedTuple):
    rule: str
    path: str


def buf(folder: Path, *command: str) -> set[Finding]:
    """Runs buf and returns its findings."""
    binary = Path(sys.executable).with_name("buf")
    assert binary.is_file(), f"no {binary}: install buf-bin"
    arguments = [str(binary), *command, "--error-format=json"]
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False)
    # The status 100 means findings; any other status is an error, such as an invalid buf.yaml.
    assert done.returncode == (100 if done.stdout else 0), done.stderr
    findings = [json.loads(line) for line in done.stdout.splitlines()]
    return {Finding(finding["type"], finding["path"]) for finding in findings}


def copy_to(folder: Path) -> Path:
    shutil.copytree(REPO / "proto", folder / "proto")
    shutil.copy(REPO / "buf.yaml", folder)
    return folder


def config_lines() -> list[str]:
    return (REPO / "buf.yaml").read_text(encoding="utf-8").splitlines()


def exceptions() -> list[tuple[int, Finding]]:
    """Returns each exception in buf.yaml with its line number; no path means all files."""
    result, key = [], ""
    for number, line in enumerate(config_lines()):
        if heading := re.fullmatch(r" *(\w+):", line):
            key = heading[1]
        elif item := re.fullmatch(r" *- (\S+)", line):
            if key == "except":
                result.append((number, Finding(item[1], "")))
            elif key.isupper():
                result.append((number, Finding(key, item[1])))
    return result


def test_contract_passes_lint() -> None:
    assert buf(REPO, "lint") == set()


@pytest.mark.parametrize(("line", "excepted"), exceptions(), ids=[e.rule for _, e in exceptions()])
def test_each_lint_exception_is_needed(line: int, excepted: Finding, tmp_path: Path) -> None:
    without = config_lines()
    del without[line]
    (copy_to(tmp_path) / "buf.yaml").write_text("\n".join(without), encoding="utf-8")
    findings = buf(tmp_path, "lint")
    assert {finding.rule for finding in findings} == {excepted.rule}
    assert not excepted.path or {finding.path for finding in findings} == {excepted.path}


def test_all_lint_exceptions_are_checked(tmp_path: Path) -> None:
    plain = {"version": "v2", "modules": [{"path": "proto"}]}
    lint = {"use": ["STANDARD", "COMMENTS"], "disallow_comment_ignores": True}
    config = json.dumps({**plain, "lint": lint})
    (copy_to(tmp_path) / "buf.yaml").write_text(config, encoding="utf-8")
    assert {f.rule for f in buf(tmp_path, "lint")} == {e.rule for _, e in exceptions()}


def test_every_element_needs_a_comment(tmp_path: Path) -> None:
    contract = copy_to(tmp_path) / CONTRACT
    bare = re.sub(r"(?m)^ *//.*\n", "", contract.read_text(encoding="utf-8"))
    contract.write_text(bare, encoding="utf-8")
    kinds = {"COMMENT_MESSAGE", "COMMENT_FIELD", "COMMENT_ONEOF", "COMMENT_ENUM"}
    assert {f.rule for f in buf(tmp_path, "lint")} == kinds | {"COMMENT_ENUM_VALUE"}


NEW_ARM = "RunInput run_input = 5;"
EDITS = [
    ("string agent_id = 3;", "string agent_id = 6;", "FIELD_NO_DELETE"),
    ("string agent_id = 3;", "string agent = 3;", "FIELD_SAME_NAME"),
    ("bool resumed = 1;", "string resumed = 1;", "FIELD_SAME_TYPE"),
    ("    bool resumed = 1;", "    optional bool resumed = 1;", "FIELD_SAME_CARDINALITY"),
    ("  AS_IDLE = 1;", "  AS_RESTING = 1;", "ENUM_VALUE_SAME_NAME"),
    ("CR_TASK_COMPLETED = 5;", "CR_DONE = 5;", "ENUM_VALUE_SAME_NAME"),
    ("    Pong pong = 3;", "", "FIELD_NO_DELETE"),
    (NEW_ARM, f"{NEW_ARM}\n    // New.\n    Ping new_arm = 1000;", ""),
    ("  AS_IDLE = 1;", "  AS_IDLE = 1;\n  // New.\n  AS_NEW = 1000;", ""),
    ("// The agent is running ", "// The agent is there ", ""),
]


@pytest.mark.parametrize(("old", "new", "rule"), EDITS)
def test_breaking_edits_are_reported_and_additions_are_not(
    old: str, new: str, rule: str, tmp_path: Path
) -> None:
    copy_to(tmp_path)
    contract = tmp_path / CONTRACT
    text = contract.read_text(encoding="utf-8")
    assert text.count(old) == 1
    contract.write_text(text.replace(old, new), encoding="utf-8")
    rules = {finding.rule for finding in buf(tmp_path, "breaking", f"--against={REPO}")}
    assert rule in rules if rule else rules == set()
