"""A checkout of livekit-agents with the generated code of examples/livekit-agents in it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import livekit.agents
from pages import ROOT, blocks, matches

ADOPTION_PAGE = (ROOT / "docs" / "livekit-agents.md").read_text(encoding="utf-8")
# Commands that need a clone of livekit/agents and its tools. The tests copy the installed package.
_NEED_A_CLONE = re.compile(r"git |cd |uv sync|make -C |uv run pytest |python -m pip |unzip ")


def adopted(folder: Path) -> Path:
    """Follows the steps of docs/livekit-agents.md, checks what they print, and returns the folder."""
    package = Path(livekit.agents.__file__).parent
    without = shutil.ignore_patterns("__pycache__")
    shutil.copytree(package, folder / "livekit" / "agents", ignore=without)
    page_blocks = blocks(ADOPTION_PAGE)
    [rules] = [block.text for block in page_blocks if block.language == "toml"]
    (folder / "ruff.toml").write_text(rules, encoding="utf-8")
    for command, printed in (run for block in page_blocks for run in block.runs()):
        if not _NEED_A_CLONE.match(command):
            output = _run(command.replace("$REPOSITORY", str(ROOT)), folder)
            assert matches(printed, output), f"{command}\n{output}"
    return folder


def _run(command: str, folder: Path) -> str:
    """Runs a command of the page with this interpreter, and returns what it prints."""
    program, *arguments = shlex.split(command.removeprefix("uv run "))
    modules = {"sessiongen": ["-m", "sessiongen"], "ruff": ["-m", "ruff"], "python": []}
    start = [sys.executable, *modules[program]] if program in modules else [program]
    done = subprocess.run(
        [*start, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr
