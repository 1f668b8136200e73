"""The commands of the README that install the distribution elsewhere, without their dependencies."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from pages import ROOT, blocks
from sessiongen_command import project

COMMANDS = [
    command
    for block in blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    for command, _ in block.runs()
    if command.startswith("pip install ")
]
OPTIONS = ("--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check")


def requirement(command: str, revision: str) -> str:
    """Returns what a command installs, with this checkout in place of the placeholders."""
    address = ROOT.as_uri().replace("file://", "git+file://localhost")
    places = {
        "git+https://ADDRESS/agent-session-protocol.git@REVISION": f"{address}@{revision}",
        "path/to/agent-session-protocol": str(ROOT),
    }
    [_, _, text] = shlex.split(command)
    [placeholder] = [item for item in places if item in text]
    return text.replace(placeholder, places[placeholder])


def run(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True
    )


def test_the_readme_installs_from_a_checkout_and_from_git() -> None:
    assert ["git+" in command for command in COMMANDS] == [False, True]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_installs_everything(command: str, tmp_path: Path) -> None:
    revision = run(ROOT, "git", "rev-parse", "HEAD").stdout.strip()
    if "git+" in command and not revision:
        pytest.skip("this is not a git repository")
    target = tmp_path / "target"
    pip = (sys.executable, "-m", "pip", "install", *OPTIONS, "--target", str(target))
    done = run(tmp_path, *pip, requirement(command, revision))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "does not provide the extra" not in done.stdout + done.stderr

    code = "import agent_session, sessiongen; print(agent_session.__file__, sessiongen.__file__)"
    files = run(tmp_path, sys.executable, "-c", code, PYTHONPATH=str(target)).stdout.split()
    assert [Path(file).parent for file in files] == [
        target / "agent_session",
        target / "sessiongen",
    ]

    small_project = project(tmp_path / "small")
    for program, *arguments in (("sessiongen", "generate"), ("agent-session", "--version")):
        script = (sys.executable, str(target / "bin" / program), *arguments)
        done = run(small_project.root, *script, PYTHONPATH=str(target))
        assert done.returncode == 0, done.stderr
    assert (small_project.package / "client.py").exists()
