"""Runs the tests of the contract's package with the oldest supported and the newest versions."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from generated_packages import GENERATED, ROOT

TESTS = ROOT / "tests" / "codegen" / "targets" / "python"
HELPERS = ROOT / "tests" / "helpers" / "codegen"
FILES = ("test_requests_and_client.py", "test_events.py", "test_values.py")


def run(*command: str | Path, version: str = "") -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment["PYTHONPATH"] = os.pathsep.join([str(GENERATED), str(HELPERS)])
    # What pyenv puts on the path works only once a version is chosen.
    environment["PYENV_VERSION"] = version
    return subprocess.run(
        [str(item) for item in command],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        cwd=TESTS,
    )


def interpreter(version: str) -> str:
    """Returns a Python of a version; skips where there is none."""
    executable = shutil.which(f"python{version}")
    if executable is None or run(executable, "-c", "", version=version).returncode != 0:
        pytest.skip(f"there is no working python{version} on the path")
    return executable


@pytest.mark.parametrize("version, protobuf", [("3.10", "==6.31.1"), ("3.13", ">=7,<8")])
def test_behaviour_with_other_versions(version: str, protobuf: str, tmp_path: Path) -> None:
    python = interpreter(version)
    created = run(python, "-m", "venv", "--without-pip", tmp_path / "venv", version=version)
    assert created.returncode == 0, created.stderr
    inside = tmp_path / "venv" / "bin" / "python"
    requirements = (f"protobuf{protobuf}", "pytest>=8,<10", "hypothesis>=6,<7")
    # This environment's pip: to give the new one its own takes longer than all the rest.
    pip = (sys.executable, "-m", "pip", "--python", inside)
    got = run(*pip, "install", "--quiet", "--disable-pip-version-check", *requirements)
    if got.returncode != 0:
        pytest.skip(f"pip cannot install protobuf here: {got.stderr.strip()[-200:]}")
    # The fixtures of this folder need the generator.
    options = ["-q", "--noconftest", "-p", "no:cacheprovider", "-c", os.devnull]
    options += ["--rootdir", str(tmp_path)]
    done = run(inside, "-W", "error", "-m", "pytest", *options, *(TESTS / name for name in FILES))
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
