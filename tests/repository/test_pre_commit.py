"""The drift guards: the hooks of this repository, run by real pre-commit and real git.

In: this checkout as it is, committed or not, cloned; and another project that adopts its
hook. Out: a commit with a forgotten `generate` fails and says what to run; then passes.
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
    """Return an environment without a surrounding git's variables or pre-commit's cache."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    path = os.pathsep.join([str(BIN), kept["PATH"]])
    return {**kept, **IDENTITY, "PATH": path, "PRE_COMMIT_HOME": str(home)}


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
    """A repository whose one commit is this working tree, what is not committed included."""
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
    """Skip where pip can install nothing: the hook of another project needs its tools."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--retries=0"]
    done = subprocess.run(
        [*command, "--timeout=15", f"--dest={folder}", "jinja2==3.1.6"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip(f"pip can install nothing here: {done.stderr.strip().splitlines()[-1:]}")


def adopted(root: Path, checkout: Path, home: Path) -> Project:
    """Return another project that has the hook installed and everything committed."""
    made = project(root).generated()
    revision = git(checkout, "rev-parse", "HEAD")
    (root / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {checkout}\n  rev: {revision}\n  hooks: [{{id: sessiongen-check}}]\n",
        encoding="utf-8",
    )
    git(root, "init", "--quiet", "--initial-branch=main")
    installed = call(root, "pre-commit", "install", home=home)
    assert installed.returncode == 0, installed.stdout
    return made


def test_the_hook_in_another_project(checkout: Path, home: Path, tmp_path: Path) -> None:
    require_packages(tmp_path / "probe")
    made = adopted(tmp_path / "other", checkout, home)
    first = commit_all(made.root, home)
    assert first.returncode == 0, first.stdout
    assert re.search(r"generated code is what the protocol gives\.+Passed", first.stdout)

    made.add_arm()
    forgotten = commit_all(made.root, home)
    assert forgotten.returncode == 1
    assert re.search(r"generated code is what the protocol gives\.+Failed", forgotten.stdout)
    assert "out/small_protocol/events.py:" in forgotten.stdout
    assert "help: run `sessiongen generate` and commit the result" in forgotten.stdout
    assert "@@" not in forgotten.stdout  # the diff would bury it

    made.generated()
    remembered = commit_all(made.root, home)
    assert remembered.returncode == 0, remembered.stdout
    assert git(made.root, "status", "--short") == ""

    # A commit that only deletes a file names no file to a hook, and is checked all the same.
    (made.root / "out" / "small_protocol" / "events.py").unlink()
    deleted = commit_all(made.root, home)
    assert deleted.returncode == 1
    assert "out/small_protocol/events.py" in deleted.stdout


def prepared(checkout: Path, folder: Path) -> Path:
    """Return a clone in which make finds its tools set up: this process's own.

    The command runs the clone's generator, so that nothing of this checkout is tried.
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
    clone = prepared(checkout, tmp_path / "clone")
    assert call(clone, "pre-commit", "install", home=home).returncode == 0
    contract = clone / "proto" / "agent_session.proto"
    text = contract.read_text(encoding="utf-8")
    edited = text.replace(
        "message Ping {", "message Ping {\n    // Anything.\n    string note = 1;"
    )
    assert edited != text
    contract.write_text(edited, encoding="utf-8")
    forgotten = commit_all(clone, home)
    assert forgotten.returncode == 1
    assert "error[SG020]: this generated file does not match the protocol" in forgotten.stdout
    assert "run: make generate, and commit the result\n" in forgotten.stdout

    assert call(clone, "make", "generate", home=home).returncode == 0
    remembered = commit_all(clone, home)
    assert remembered.returncode == 0, remembered.stdout
    assert re.search(r"\.+Passed", remembered.stdout)
