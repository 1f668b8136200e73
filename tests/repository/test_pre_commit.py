"""Tests of the pre-commit hooks, with real pre-commit and git.

The hooks run in a clone of this checkout, and in another project that uses the hook.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sessiongen_command import ROOT, Project, project

IDENTITY = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull,
}
BIN = Path(sys.executable).parent


def environment(home: Path) -> dict[str, str]:
    """Returns an environment without git variables and with another cache for pre-commit."""
    variables = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    path = os.pathsep.join([str(BIN), variables["PATH"]])
    return {**variables, **IDENTITY, "PATH": path, "PRE_COMMIT_HOME": str(home)}


def call(folder: Path, *command: str, home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def git(folder: Path, *arguments: str) -> str:
    done = call(folder, "git", *arguments, home=folder)
    assert done.returncode == 0, done.stdout
    return done.stdout.strip()


def commit_all(folder: Path, home: Path) -> subprocess.CompletedProcess[str]:
    git(folder, "add", "--all")
    return call(folder, "git", "commit", "--quiet", "--message", "a", home=home)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with one commit: this working tree, including uncommitted files."""
    folder = tmp_path_factory.mktemp("checkout")
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, listed.split("\0")):
        source, target = ROOT / name, folder / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    git(folder, "init", "--quiet", "--initial-branch=main")
    assert commit_all(folder, folder).returncode == 0
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pre-commit")


def require_packages(folder: Path) -> None:
    """Skips the test if pip cannot install packages, which the hook needs."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--retries=0"]
    done = subprocess.run(
        [*command, "--timeout=15", f"--dest={folder}", "jinja2==3.1.6"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip(f"pip can install nothing here: {done.stderr.strip().splitlines()[-1:]}")


def project_with_hook(root: Path, checkout: Path, home: Path) -> Project:
    """Returns another project with the hook installed and everything committed."""
    small_project = project(root).generated()
    revision = git(checkout, "rev-parse", "HEAD")
    (root / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {checkout}\n  rev: {revision}\n  hooks: [{{id: sessiongen-check}}]\n",
        encoding="utf-8",
    )
    git(root, "init", "--quiet", "--initial-branch=main")
    installed = call(root, "pre-commit", "install", home=home)
    assert installed.returncode == 0, installed.stdout
    return small_project


def test_the_hook_in_another_project(checkout: Path, home: Path, tmp_path: Path) -> None:
    require_packages(tmp_path / "probe")
    small_project = project_with_hook(tmp_path / "other", checkout, home)
    first = commit_all(small_project.root, home)
    assert first.returncode == 0, first.stdout
    assert re.search(r"generated code matches the protocol\.+Passed", first.stdout)

    small_project.add_arm()
    failed = commit_all(small_project.root, home)
    assert failed.returncode == 1
    assert re.search(r"generated code matches the protocol\.+Failed", failed.stdout)
    assert "out/small_protocol/events.py:" in failed.stdout
    assert "help: run `sessiongen generate` and commit the result" in failed.stdout
    assert "@@" not in failed.stdout  # without the diff

    small_project.generated()
    passed = commit_all(small_project.root, home)
    assert passed.returncode == 0, passed.stdout
    assert git(small_project.root, "status", "--short") == ""

    # A commit that only deletes a file is checked as well, although it passes no file names.
    (small_project.root / "out" / "small_protocol" / "events.py").unlink()
    deleted = commit_all(small_project.root, home)
    assert deleted.returncode == 1
    assert "out/small_protocol/events.py" in deleted.stdout


def clone_with_tools(checkout: Path, folder: Path) -> Path:
    """Returns a clone with the tools of this environment, so that make installs nothing.

    The command in the clone runs the generator of the clone.
    """
    git(folder.parent, "clone", "--quiet", str(checkout), str(folder))
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "bin" / "python").symlink_to(sys.executable)
    command = folder / ".venv" / "bin" / "sessiongen"
    command.write_text(
        f'#!/bin/sh\nPYTHONPATH="{folder}/codegen" exec "{sys.executable}" -m sessiongen "$@"\n',
        encoding="utf-8",
    )
    command.chmod(0o755)
    (folder / ".venv" / ".tools").touch()
    return folder


def test_the_hook_of_this_repository(checkout: Path, home: Path, tmp_path: Path) -> None:
    clone = clone_with_tools(checkout, tmp_path / "clone")
    assert call(clone, "pre-commit", "install", home=home).returncode == 0
    contract = clone / "proto" / "agent_session.proto"
    text = contract.read_text(encoding="utf-8")
    edited = text.replace(
        "message Ping {", "message Ping {\n    // Anything.\n    string note = 1;"
    )
    assert edited != text
    contract.write_text(edited, encoding="utf-8")
    failed = commit_all(clone, home)
    assert failed.returncode == 1
    assert "error[SG020]: this generated file does not match the protocol" in failed.stdout
    assert "run: make generate, and commit the result\n" in failed.stdout

    assert call(clone, "make", "generate", home=home).returncode == 0
    passed = commit_all(clone, home)
    assert passed.returncode == 0, passed.stdout
    assert re.search(r"\.+Passed", passed.stdout)

    # The example's package is checked as well.
    robot = clone / "examples" / "robot" / "robot.proto"
    robot.write_text(
        robot.read_text(encoding="utf-8").replace("bool closed", "bool shut", 1), encoding="utf-8"
    )
    failed = commit_all(clone, home)
    assert failed.returncode == 1
    assert "examples/robot/robot_protocol/robot_pb2.py" in failed.stdout
    assert "run: make generate, and commit the result\n" in failed.stdout
    assert call(clone, "make", "generate", home=home).returncode == 0
    assert commit_all(clone, home).returncode == 0
