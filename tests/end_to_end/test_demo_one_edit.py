"""One edit, seen from outside: why a session ended is told once the contract has an event for it.

In: the contract before arm 24, in a folder of its own. Out: the demo, on what is generated from
that contract, sees its agent go quiet; after the one edit, and `generate`, its driver says why.
Neither the host nor the driver is touched in between.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONTRACT = "proto/agent_session.proto"
# What arm 24 brought, each with the comment above it: a message and a field.
ADDED = (
    r"\n(?:  //[^\n]*\n)+  message SessionClosed \{.*?\n  \}\n",
    r"\n(?:    //[^\n]*\n)+    SessionClosed session_closed = 24[^;]*;",
)
LIMIT = 60
AFTER = "ended: CR_USER_INITIATED"
BEFORE = "lost: the agent disconnected without session_closed"


class Project:
    """A folder with the contract, and what is generated from it."""

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
        """The status and the lines of the demo, on what was generated."""
        done = self._run("-m", "agent_session", "demo")
        assert done.stderr == ""
        return done.returncode, done.stdout.splitlines()

    def event_numbers(self) -> set[int]:
        """The arms that a process of this project knows."""
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
    """The contract before arm 24, generated."""
    project = Project(tmp_path / "project")
    text = project.contract.read_text(encoding="utf-8")
    for pattern in ADDED:
        text, count = re.subn(pattern, "", text, flags=re.DOTALL)
        assert count == 1, pattern
    project.contract.write_text(text, encoding="utf-8")
    project.generate()
    return project


def test_why_it_ended_is_one_edit_away(before: Project) -> None:
    assert before.event_numbers() == set(range(10, 24))
    status, lines = before.demo()
    assert (status, lines[-1]) == (1, BEFORE)
    assert "session_closed" not in "\n".join(lines)

    shutil.copy(ROOT / CONTRACT, before.contract)
    before.generate()

    assert before.event_numbers() == set(range(10, 25))
    status, lines_after = before.demo()
    assert (status, lines_after[-1]) == (0, AFTER)
    assert lines_after[-2].split()[1:] == ["session_closed", "CR_USER_INITIATED"]
    # The rest of the conversation is what it was: the addresses and the times aside.
    assert [line[14:] for line in lines_after[1:-2]] == [line[14:] for line in lines[1:-1]]
