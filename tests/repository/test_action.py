"""Tests of the GitHub Action and the hooks for the repository of an SDK.

The commands of the action's steps run in a folder with a small SDK, with the environment that the
action gives them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import livekit.agents
import pytest
from pages import blocks
from sdk_repository import Repository

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
HOOKS: list[dict[str, Any]] = yaml.safe_load(
    (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
)
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
EVENTS = "livekit/agents/voice/events.py"
STATES = 'State = Literal["idle", "busy"]'


def value(expression: str, inputs: dict[str, str]) -> str:
    """Returns the value of an environment variable of a step."""
    contexts = {
        "github.action_path": str(ROOT),
        "steps.python.outputs.python-path": sys.executable,
        **{f"inputs.{name}": str(item["default"]) for name, item in ACTION["inputs"].items()},
        **{f"inputs.{name}": text for name, text in inputs.items()},
    }
    return re.sub(r"\$\{\{ (.+?) \}\}", lambda match: contexts[match[1]], expression)


def run_step(
    step: dict[str, Any], folder: Path, temporary: Path, inputs: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Runs the command of a step as GitHub does."""
    assert step["shell"] == "bash"
    variables = {name: value(text, inputs) for name, text in step["env"].items()}
    summary = {"GITHUB_STEP_SUMMARY": str(temporary / "summary.md")}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env={**os.environ, "RUNNER_TEMP": str(temporary), **summary, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def step(name: str) -> dict[str, Any]:
    [match] = [item for item in STEPS if item.get("name") == name]
    return match


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """Returns the runner's temporary folder, with the generator of this checkout installed."""
    folder = tmp_path / "runner"
    command = folder / "sessiongen/bin/sessiongen"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sessiongen "$@"\n')
    command.chmod(0o755)
    return folder


@pytest.fixture
def sdk(tmp_path: Path) -> Repository:
    """Returns the repository of an SDK that differs from the protocol in no declared way."""
    repository = Repository(tmp_path / "sdk").add_sdk().add_protocol()
    run_sessiongen(repository, "vocabulary", "update", "--python-path", ".")
    run_sessiongen(repository, "parity", "--declare")
    repository.edit("vocabularies/small-sdk.gaps.toml", 'reason = ""', 'reason = "Known."')
    repository.commit()
    return repository


def run_sessiongen(repository: Repository, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sessiongen", *arguments],
        cwd=repository.folder,
        capture_output=True,
        text=True,
        check=False,
    )


def compare(sdk: Repository, temporary: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    named = {name.replace("_", "-"): text for name, text in inputs.items()}
    step_ = step("Compare the SDK with the protocol")
    return run_step(step_, sdk.folder, temporary, {"config": "codegen.toml", **named})


def test_every_input_is_used_and_nothing_else() -> None:
    used = set(re.findall(r"inputs\.([\w-]+)", json.dumps(STEPS)))
    assert used == set(ACTION["inputs"])
    assert ACTION["runs"]["using"] == "composite"
    # An expression in a command would run what an input contains.
    assert not [item["name"] for item in STEPS if "${{" in item.get("run", "")]
    actions = [item["uses"] for item in STEPS if "uses" in item]
    # A tag can be moved, so the commit is named.
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", item) for item in actions)


def test_a_change_is_annotated_at_its_line(sdk: Repository, temporary: Path) -> None:
    assert compare(sdk, temporary, python_path=".").returncode == 0
    sdk.edit(EVENTS, STATES, 'State = Literal["idle", "busy", "gone"]')
    done = compare(sdk, temporary, python_path=".", since="HEAD", sarif_file="out.sarif")
    assert done.returncode == 1
    line, note = done.stdout.splitlines()
    assert line.startswith(f"::error file={EVENTS},line=5,col=1,title=SG050::")
    assert note.startswith(f"::notice file={EVENTS},line=5,col=1,title=SG058::")
    log = json.loads((sdk.folder / "out.sarif").read_text(encoding="utf-8"))
    [result] = [item for item in log["runs"][0]["results"] if item["level"] == "error"]
    [location] = result["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == EVENTS
    assert "has the value 'gone'" in (temporary / "summary.md").read_text(encoding="utf-8")


def test_the_workflow_of_the_page(sdk: Repository, temporary: Path) -> None:
    """The steps of docs/sdk-maintainer.md use this checkout by its path, with inputs that exist."""
    page = (ROOT / "docs" / "sdk-maintainer.md").read_text(encoding="utf-8")
    [text] = [
        block.text
        for block in blocks(page)
        if block.language == "yaml" and "codeql-action" in block.text
    ]
    code, action, compared, upload = yaml.safe_load(text)
    assert code["uses"] == action["uses"] and code["with"] == {"fetch-depth": 0}
    assert compared["uses"] == f"./{action['with']['path']}"
    # Code scanning gets the findings of a comparison that has failed.
    assert upload["if"] == "always()"
    assert upload["with"]["sarif_file"] == compared["with"]["sarif-file"]
    # The checkout of the action is in the SDK's folder, and is not read as its code.
    shutil.copytree(ROOT / "codegen", sdk.folder / action["with"]["path"] / "codegen")
    assert compared["with"].pop("since") == "origin/${{ github.base_ref }}"
    inputs = {name.replace("-", "_"): text for name, text in compared["with"].items()}
    done = compare(sdk, temporary, **inputs, since="HEAD")
    assert (done.returncode, done.stdout) == (0, "")
    summary = (temporary / "summary.md").read_text(encoding="utf-8")
    assert "since HEAD 0 rows changed, 0 new findings" in summary


def test_a_commit_that_a_shallow_clone_lacks(sdk: Repository, temporary: Path) -> None:
    done = compare(sdk, temporary, python_path=".", since="origin/main")
    assert done.returncode == 2
    assert "a shallow clone may lack one" in done.stdout
    # A name that looks like an option is one of a commit.
    done = compare(sdk, temporary, python_path=".", since="--help")
    assert done.returncode == 2 and "there is no such commit" in done.stdout


def test_the_protocol_of_the_action_is_the_default(tmp_path: Path, temporary: Path) -> None:
    """Without `config`, an SDK's sources are compared with the contract."""
    package = Path(livekit.agents.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(package, tmp_path / "sdk" / "livekit" / "agents", ignore=ignored)
    repository = Repository(tmp_path / "sdk")
    done = compare(repository, temporary, config="", python_path=".")
    assert done.returncode == 0, done.stdout + done.stderr
    repository.edit(
        "livekit/agents/voice/events.py", '"listening", "away"', '"listening", "away", "gone"'
    )
    done = compare(repository, temporary, config="", python_path=".")
    assert done.returncode == 1
    line, _ = done.stdout.splitlines()
    assert "'gone'" in line and line.startswith("::error file=livekit/agents/voice/events.py,")


def test_inputs_with_blanks_and_shell_characters(sdk: Repository, temporary: Path) -> None:
    (sdk.folder / "livekit").rename(sdk.folder / "$(touch bad) 'src'")
    folder = sdk.folder / "a b; touch bad"
    folder.mkdir()
    (sdk.folder / "$(touch bad) 'src'").rename(folder / "livekit")
    done = compare(sdk, temporary, python_path="a b; touch bad")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not list(sdk.folder.rglob("bad"))


def test_a_fault_fails_the_step(sdk: Repository, temporary: Path) -> None:
    done = compare(sdk, temporary, python_path="nowhere", sarif_file="out.sarif")
    assert done.returncode == 2 and "::error file=nowhere," in done.stdout
    assert not (sdk.folder / "out.sarif").exists()


def test_the_step_that_installs(tmp_path: Path) -> None:
    """The preset for livekit-agents needs its messages, which the page names as packages."""
    page = (ROOT / "docs" / "livekit-agents.md").read_text(encoding="utf-8")
    [text] = [
        block.text
        for block in blocks(page)
        if block.language == "yaml" and "python-path:" in block.text
    ]
    inputs = next(item["with"] for item in yaml.safe_load(text) if item["uses"].startswith("./"))
    assert set(inputs) <= set(ACTION["inputs"])
    done = run_step(step("Install the generator"), tmp_path, tmp_path, inputs)
    if "No matching distribution" in done.stderr or "connection" in done.stderr.lower():
        pytest.skip(f"pip can install nothing here: {done.stderr.strip().splitlines()[-1:]}")
    assert done.returncode == 0, done.stderr
    command = tmp_path / "sessiongen/bin/sessiongen"
    preset = tmp_path / "preset"
    preset.mkdir()
    for arguments in (["init", "--preset", "livekit-agents"], ["parity", "--quiet"]):
        subprocess.run([command, *arguments], cwd=preset, check=True, capture_output=True)
    # The action's own protocol and vocabularies are compared by default.
    shown = subprocess.run(
        [command, "--config", ROOT / "codegen.toml", "parity", "--quiet"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (shown.returncode, shown.stderr) == (0, "")


def hook(name: str) -> list[str]:
    [match] = [item for item in HOOKS if item["id"] == name]
    assert match["entry"] == "sessiongen" and not match["pass_filenames"]
    arguments: list[str] = match["args"]
    return arguments


def test_the_hooks_for_an_sdk(sdk: Repository) -> None:
    update, parity = hook("sessiongen-vocabulary"), hook("sessiongen-parity")
    assert [run_sessiongen(sdk, *each).returncode for each in (update, parity)] == [0, 0]
    assert sdk.git("status", "--short") == ""
    sdk.edit(EVENTS, STATES, 'State = Literal["idle", "busy", "gone"]')
    assert run_sessiongen(sdk, *parity).returncode == 1
    # pre-commit stops the commit, as the hook changed a file.
    assert run_sessiongen(sdk, *update).returncode == 0
    assert " M vocabularies/small-sdk.json\n" in sdk.git("status", "--short")
