"""The robot arm example: its generated package is current, and its two processes converse."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from generated_packages import ROOT
from pages import blocks, matches
from sessiongen_command import invoke

ROBOT = ROOT / "examples" / "robot"
PAGE = ROOT / "docs" / "protocol-owner.md"

# The arm starts at "home", z=300, and moves a metre a second. The distances are worked out by
# hand: from (0, 0, 300) to (250, 100, 20) it is 388 mm, and from there to (0, 300, 300) 425 mm.
CONVERSATION = """\
the arm is at (0, 0, 300)
  moving for 0.39 s
moved to (250, 100, 20)
the gripper is 0 mm wide
  moving for 0.43 s
moved to (0, 300, 300)
  FAULT_OUT_OF_REACH: the reach is 600 mm
refused: out of reach
  moving for 0.30 s
gave up: no response within 0.05 s
"""


def start(script: str, *arguments: str) -> subprocess.Popen[str]:
    """Starts a script of the example, with the packages of this checkout."""
    paths = os.pathsep.join(str(ROOT / folder) for folder in ("runtime", "generated/python"))
    return subprocess.Popen(
        [sys.executable, script, *arguments],
        cwd=ROBOT,
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def converse() -> tuple[str, list[str]]:
    """Runs a host and a driver; returns what the driver printed, and the lines of the host."""
    host = start("host.py")
    try:
        assert host.stdout is not None
        listening = host.stdout.readline().strip()
        with start("driver.py", listening.rpartition(" ")[2]) as driver:
            printed = driver.communicate(timeout=60)[0]
        assert driver.returncode == 0, printed
        return printed, [listening, host.stdout.readline().strip()]
    finally:
        host.kill()
        host.communicate()


def test_the_host_and_the_driver_converse() -> None:
    printed, lines = converse()
    assert printed == CONVERSATION
    assert lines[0].startswith("listening on port ")
    assert lines[1] == "the driver left: it closed the connection"


def test_the_page_shows_what_is_printed(tmp_path: Path) -> None:
    """Host and driver print the conversation above; the commands run in a copy of the example."""
    folder = tmp_path / "robot"
    shutil.copytree(ROBOT, folder, ignore=shutil.ignore_patterns("__pycache__", ".*-cache"))
    ended = "the driver left: it closed the connection\n"
    outputs = {
        "../../.venv/bin/python host.py 4567": f"listening on port 4567\n{ended}",
        "../../.venv/bin/python driver.py 4567": CONVERSATION,
        "sessiongen generate --no-cache": invoke(folder, "generate", "--no-cache").all,
        "sessiongen check": invoke(folder, "check").all,
    }
    page = PAGE.read_text(encoding="utf-8")
    printed = dict(run for block in blocks(page) for run in block.runs())
    assert set(printed) == set(outputs)
    for command, output in outputs.items():
        assert matches(printed[command], output), output


def test_the_package_is_current() -> None:
    done = invoke(ROBOT, "check", "--quiet")
    assert done.status == 0, done.all


def test_host_and_driver_hold_no_framing_correlation_or_timers() -> None:
    for name in ("host.py", "driver.py"):
        text = Path(ROBOT / name).read_text(encoding="utf-8")
        for part in ("struct.", "readexactly", "SerializeToString", ".id", "wait_for", "Future"):
            assert part not in text
