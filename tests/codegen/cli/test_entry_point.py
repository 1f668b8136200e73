"""Tests of the exit status if output cannot be written or tools are missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sessiongen_command import ROOT, Project, generated_copy, replaced, run

UNWRITABLE = "sessiongen: cannot write the output: No space left on device\n"
# Python buffers output to files unless this is set.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
SCRIPT = str(Path(sys.executable).parent / "sessiongen")

needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")


# An interrupt inside of `exec`, which CPython would report by ending the process with the signal.
INTERRUPTED = """
from sessiongen.cli.options import Options
from sessiongen.cli.running import run
run(Options(), lambda: exec("raise KeyboardInterrupt"))
"""


def test_an_interrupt_inside_of_exec_has_the_status_of_interrupts(tmp_path: Path) -> None:
    (tmp_path / "interrupted.py").write_text(INTERRUPTED, encoding="utf-8")
    command = [sys.executable, "-m", "interrupted"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")


@pytest.fixture
def small_project(tmp_path: Path) -> Project:
    return generated_copy(tmp_path / "in")


@needs_full
@pytest.mark.parametrize("unbuffered", [False, True])
@pytest.mark.parametrize(
    "arguments", [["generate"], ["check"], ["explain", "ping"], ["--help"], ["completion", "bash"]]
)
def test_output_to_a_full_device(
    small_project: Project, arguments: list[str], unbuffered: bool
) -> None:
    environment = {**ENVIRONMENT, **({"PYTHONUNBUFFERED": "1"} if unbuffered else {})}
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [SCRIPT, *arguments],
            cwd=small_project.root,
            env=environment,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert (done.returncode, done.stderr) == (2, UNWRITABLE)


@needs_full
def test_errors_to_a_full_device(small_project: Project) -> None:
    with open("/dev/full", "w") as full:
        command = [SCRIPT, "check"]
        done = subprocess.run(
            command, cwd=small_project.root, env=ENVIRONMENT, stdout=full, stderr=full
        )
    assert done.returncode == 2


@pytest.mark.parametrize("unbuffered", [False, True])
@pytest.mark.parametrize(
    "arguments", [["generate"], ["check"], ["explain", "ping"], ["--help"], ["completion", "bash"]]
)
def test_closed_pipe_ends_the_command(
    small_project: Project, arguments: list[str], unbuffered: bool
) -> None:
    """The status is that of a command that SIGPIPE has ended."""
    process = subprocess.Popen(
        [SCRIPT, *arguments],
        cwd=small_project.root,
        env={**ENVIRONMENT, **({"PYTHONUNBUFFERED": "1"} if unbuffered else {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert (process.wait(timeout=60), errors) == (141, b"")


@pytest.mark.skipif(
    not f"{sys.prefix}{ROOT}".isascii(),
    reason="with an ASCII locale, Python cannot read the .pth file of a checkout in such a folder",
)
@pytest.mark.parametrize("key", ["protos", "path", "folder"])
def test_a_path_that_the_locale_cannot_spell(tmp_path: Path, key: str) -> None:
    small_project = generated_copy(tmp_path / ("ä" if key == "folder" else "in"))
    if key != "folder":
        old, new = {"protos": ("proto/small", "proto/smäll"), "path": ('"out"', '"öut"')}[key]
        replaced(small_project.config, old, new)
    environment = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    for command in ("check", "generate"):
        outcome = run(small_project.root, command, "--no-cache", env=environment)
        assert "Traceback" not in outcome.errors
        assert outcome.status == (0 if key == "folder" else 2), outcome.errors
    if key == "path":
        assert outcome.errors == (
            "codegen.toml:1:1: error[SG002]: the encoding of file names, ascii, has no "
            "'\\xf6' of 'XX/\\xf6ut/small_protocol/__init__.py'\n"
            "  help: set a locale with UTF-8, such as LC_ALL=C.UTF-8, or PYTHONUTF8=1\n"
        ).replace("XX", str(small_project.root))


def test_missing_tools(tmp_path: Path) -> None:
    code = "import sys; sys.modules['click'] = None; import sessiongen.__main__"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr == (
        "sessiongen: the package 'click' is not installed\n"
        '  help: in a checkout of this repository run `pip install -e ".[codegen]"`\n'
    )
