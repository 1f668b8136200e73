"""The effect of one edit of the contract on the demo: arm 24, session_closed, is added.

Before the edit, the driver only detects that the agent has disconnected. After the edit and
`generate`, it shows the reason of the end. Host and driver are not changed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from earlier_contract import without_session_closed

ROOT = Path(__file__).resolve().parents[2]
CONTRACT = "proto/agent_session.proto"
LIMIT = 60
AFTER = "ended: CR_USER_INITIATED"
BEFORE = "lost: the agent disconnected without session_closed"


class Project:
    """A folder with a contract and the package generated from it."""

    def __init__(self, root: Path) -> None:
        self.contract = root / CONTRACT
        self._config = root / "codegen.toml"
        self._generated = root / "generated" / "python"
        for name in ("overrides", "proto", "vocabularies"):
            shutil.copytree(ROOT / name, root / name)
        shutil.copy(ROOT / "codegen.toml", root)

    def generate(self) -> None:
        command = ("-m", "sessiongen", "--config", str(self._config), "generate")
        done = self._run(*command)
        assert done.returncode == 0, done.stdout + done.stderr

    def demo(self) -> tuple[int, list[str]]:
        """Runs the demo with the generated package. Returns its exit status and lines."""
        done = self._run("-m", "agent_session", "demo")
        assert done.stderr == ""
        return done.returncode, done.stdout.splitlines()

    def event_numbers(self) -> set[int]:
        """Returns the numbers of the event arms of the generated package."""
        code = (
            "from agent_session_protocol.dispatch import AGENT_SESSION_EVENT_ARMS as arms\n"
            "import agent_session_protocol as found\n"
            "print(found.__file__, *(arm.number for arm in arms.values()))"
        )
        place, *numbers = self._run("-c", code).stdout.split()
        assert Path(place).is_relative_to(self._generated)
        return set(map(int, numbers))

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            env={**os.environ, "PYTHONPATH": str(self._generated)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )


@pytest.fixture
def before(tmp_path: Path) -> Project:
    """Returns the project with the contract before arm 24."""
    project = Project(tmp_path / "project")
    text = without_session_closed(project.contract.read_text(encoding="utf-8"))
    project.contract.write_text(text, encoding="utf-8")
    project.generate()
    return project


def test_the_reason_of_the_end_needs_one_edit(before: Project) -> None:
    assert before.event_numbers() == set(range(10, 24))
    status, lines = before.demo()
    assert (status, lines[-1]) == (1, BEFORE)
    assert "session_closed" not in "\n".join(lines[:-1])

    shutil.copy(ROOT / CONTRACT, before.contract)
    before.generate()

    assert before.event_numbers() >= set(range(10, 25))
    status, lines_after = before.demo()
    assert (status, lines_after[-1]) == (0, AFTER)
    assert lines_after[-2].split()[1:] == ["session_closed", "CR_USER_INITIATED"]
    # Apart from addresses and times, the rest of the output is the same.
    assert [line[14:] for line in lines_after[1:-2]] == [line[14:] for line in lines[1:-1]]
