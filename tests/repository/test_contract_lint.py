"""What buf says of the contract.

In: proto/ and buf.yaml. Out: a failure for whatever `buf lint` finds, for an exception in
buf.yaml that nothing needs, and for a breaking edit that `buf breaking` lets pass. Edits
are tried on copies. The binary comes from the PyPI package buf-bin.
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


def buf(where: Path, *command: str) -> set[Finding]:
    """Runs buf, which comes from the package buf-bin, and gives back what it found."""
    binary = Path(sys.executable).with_name("buf")
    assert binary.is_file(), f"no {binary}: install buf-bin"
    arguments = [str(binary), *command, "--error-format=json"]
    done = subprocess.run(arguments, cwd=where, capture_output=True, text=True, check=False)
    # 100 is the code for findings; any other failure, as of a bad buf.yaml, is none.
    assert done.returncode == (100 if done.stdout else 0), done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return {Finding(finding["type"], finding["path"]) for finding in found}


def copy_to(folder: Path) -> Path:
    shutil.copytree(REPO / "proto", folder / "proto")
    shutil.copy(REPO / "buf.yaml", folder)
    return folder


def config_lines() -> list[str]:
    return (REPO / "buf.yaml").read_text(encoding="utf-8").splitlines()


def exceptions() -> list[tuple[int, Finding]]:
    """Each exception of buf.yaml with the number of its line; no path means all files."""
    found, key = [], ""
    for number, line in enumerate(config_lines()):
        if heading := re.fullmatch(r" *(\w+):", line):
            key = heading[1]
        elif item := re.fullmatch(r" *- (\S+)", line):
            if key == "except":
                found.append((number, Finding(item[1], "")))
            elif key.isupper():
                found.append((number, Finding(key, item[1])))
    return found


def test_the_contract_passes_lint() -> None:
    assert buf(REPO, "lint") == set()


@pytest.mark.parametrize(("line", "excepted"), exceptions(), ids=[e.rule for _, e in exceptions()])
def test_each_lint_exception_is_needed(line: int, excepted: Finding, tmp_path: Path) -> None:
    without = config_lines()
    del without[line]
    (copy_to(tmp_path) / "buf.yaml").write_text("\n".join(without), encoding="utf-8")
    found = buf(tmp_path, "lint")
    assert {finding.rule for finding in found} == {excepted.rule}
    assert not excepted.path or {finding.path for finding in found} == {excepted.path}


def test_no_lint_exception_is_overlooked(tmp_path: Path) -> None:
    plain = {"version": "v2", "modules": [{"path": "proto"}]}
    lint = {"use": ["STANDARD", "COMMENTS"], "disallow_comment_ignores": True}
    config = json.dumps({**plain, "lint": lint})
    (copy_to(tmp_path) / "buf.yaml").write_text(config, encoding="utf-8")
    assert {f.rule for f in buf(tmp_path, "lint")} == {e.rule for _, e in exceptions()}


def test_every_kind_of_element_must_have_its_comment(tmp_path: Path) -> None:
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
def test_breaking_edits_are_found_and_additions_are_not(
    old: str, new: str, rule: str, tmp_path: Path
) -> None:
    copy_to(tmp_path)
    contract = tmp_path / CONTRACT
    text = contract.read_text(encoding="utf-8")
    assert text.count(old) == 1
    contract.write_text(text.replace(old, new), encoding="utf-8")
    found = {finding.rule for finding in buf(tmp_path, "breaking", f"--against={REPO}")}
    assert rule in found if rule else found == set()
