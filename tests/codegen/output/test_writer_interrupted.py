"""Tests of `generate` when it is interrupted or killed, and of several runs at once.

The subprocess kills itself at an exact point, by a patch.
"""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from sessiongen_command import FILES, ROOT, Project, generated_copy, run, start, tree, tree_with_arm


@pytest.fixture
def small_project(tmp_path: Path) -> Project:
    """A generated project with old timestamps."""
    return generated_copy(tmp_path / "in")


KILLS = """\
import os, pathlib, signal
count = [0]
def after(function, at):
    def patched(*arguments, **options):
        if "sessiongen-staging" in str(arguments[0]):
            if count[0] == at:
                os.kill(os.getpid(), SIGNAL)
            count[0] += 1
        return function(*arguments, **options)
    return patched
"""
AT = {
    "start": """
class Finder:
    def find_spec(name, *_):
        if name == "click":
            os.kill(os.getpid(), SIGNAL)
import sys
sys.meta_path.insert(0, Finder)
""",
    "mkdir": "pathlib.Path.mkdir = after(pathlib.Path.mkdir, 0)",
    "first write": "pathlib.Path.write_text = after(pathlib.Path.write_text, 0)",
    "third write": "pathlib.Path.write_text = after(pathlib.Path.write_text, 2)",
    "first move": "os.replace = after(os.replace, 0)",
    "second move": "os.replace = after(os.replace, 1)",
    "last move": "os.replace = after(os.replace, 4)",
}


def generate_killed(
    small_project: Project, at: str, number: signal.Signals, folder: Path
) -> tuple[int, str]:
    """Runs generate with a signal at an exact point; returns its status and output."""
    folder.mkdir(exist_ok=True)
    code = (KILLS + AT[at]).replace("SIGNAL", str(int(number)))
    (folder / "sitecustomize.py").write_text(code, encoding="utf-8")
    path = os.pathsep.join([str(folder), str(ROOT / "codegen")])
    outcome = run(small_project.root, "generate", env={"PYTHONPATH": path})
    return outcome.status, outcome.all


@pytest.mark.parametrize("at", AT)
def test_killed_run_leaves_no_partial_file(at: str, small_project: Project, tmp_path: Path) -> None:
    old = tree(small_project.package)
    small_project.add_arm()
    new = tree_with_arm()
    status, _ = generate_killed(small_project, at, signal.SIGKILL, tmp_path / "patch")
    assert status == -signal.SIGKILL
    remaining = {
        name: text for name, text in tree(small_project.package).items() if "staging" not in name
    }
    if "move" not in at or at == "first move":
        assert remaining == old
    assert set(remaining) == set(old)
    assert all(remaining[name] in (old[name], new[name]) for name in remaining)
    left_over = list(small_project.package.glob(".sessiongen-staging-*"))
    assert len(left_over) == (0 if at in ("start", "mkdir") else 1)
    small_project.generated()
    assert tree(small_project.package) == new


def test_check_after_a_killed_run(small_project: Project, tmp_path: Path) -> None:
    small_project.add_arm()
    generate_killed(small_project, "second move", signal.SIGKILL, tmp_path / "patch")
    records = small_project.invoke("--format", "json", "check").records()
    # dispatch.py is moved first and is new.
    assert [item["file"].split("/")[-1] for item in records] == [
        "encoders.py",
        "events.py",
        "small_pb2.py",
        "small_pb2.pyi",
    ]
    assert {item["message"] for item in records} == {
        "this generated file does not match the protocol"
    }


def test_staging_folder_of_a_running_process_is_kept(small_project: Project) -> None:
    living = small_project.package / f".sessiongen-staging-{os.getppid()}"
    living.mkdir()
    small_project.add_arm()
    small_project.generated()
    assert living.is_dir()


def test_staging_folder_with_the_same_process_id(small_project: Project) -> None:
    (small_project.package / f".sessiongen-staging-{os.getpid()}").mkdir()
    small_project.add_arm()
    small_project.generated()
    assert sorted(path.name for path in small_project.package.iterdir()) == FILES


@pytest.mark.parametrize("at", ["start", "mkdir", "third write", "second move"])
def test_interrupted_run_leaves_the_old_or_the_new_files(
    at: str, small_project: Project, tmp_path: Path
) -> None:
    old = tree(small_project.package)
    small_project.add_arm()
    new = tree_with_arm()
    status, output = generate_killed(small_project, at, signal.SIGINT, tmp_path / "patch")
    # While modules are imported, the signal ends the process.
    assert status == (-signal.SIGINT if at == "start" else 130)
    assert "Traceback" not in output
    assert tree(small_project.package) == (new if "move" in at else old)


def test_an_interrupt_from_the_keyboard(small_project: Project) -> None:
    """The process group receives the signal, including protoc and black."""
    small_project.add_arm()
    before = tree(small_project.root)
    process = start(small_project.root, "generate", "--no-cache")
    assert process.stdout is not None
    # The subprocesses start before the input is compiled.
    while not children(process.pid) and process.poll() is None:
        pass
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == "interrupted\n"
    assert output == ""
    assert tree(small_project.root) == before


def children(pid: int) -> list[str]:
    """Returns the ids of a process's child processes."""
    done = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    return done.stdout.split()


def test_a_run_killed_at_any_time(small_project: Project) -> None:
    """Kills a run as soon as its staging folder exists: no file is partial."""
    old = tree(small_project.package)
    small_project.add_arm()
    new = tree_with_arm()
    process = start(small_project.root, "generate")
    while process.poll() is None and not list(small_project.package.glob(".sessiongen-staging-*")):
        pass
    process.kill()
    process.communicate()
    remaining = {
        name: text for name, text in tree(small_project.package).items() if "staging" not in name
    }
    assert all(remaining[name] in (old[name], new[name]) for name in old)
    small_project.generated()
    assert tree(small_project.package) == new


def test_two_runs_at_once(small_project: Project) -> None:
    small_project.add_arm()
    new = tree_with_arm()
    runs = [start(small_project.root, "generate", "--no-cache") for _ in range(3)]
    output = [process.communicate(timeout=60) for process in runs]
    assert [process.returncode for process in runs] == [0, 0, 0], output
    assert tree(small_project.package) == new
    assert small_project.invoke("check", "--no-cache").status == 0
