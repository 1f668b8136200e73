"""The tests run the same way in the background of a shell without job control.

Such a shell starts background jobs with SIGINT ignored.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import signal, subprocess, sys
code = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"

def test_interrupt():
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "True\\n"
"""


def status_in_background(folder: Path) -> int:
    """Runs the tests of a folder as a background job, and returns the status of pytest."""
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=."]
    command = ["sh", "-c", '"$@" & wait $!', "sh", *pytest]
    return subprocess.run(command, cwd=folder, capture_output=True, timeout=120).returncode


def test_processes_of_tests_can_be_interrupted(tmp_path: Path) -> None:
    (tmp_path / "test_interrupt.py").write_text(PROGRAM, encoding="utf-8")
    assert status_in_background(tmp_path) == 1
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    assert status_in_background(tmp_path) == 0
