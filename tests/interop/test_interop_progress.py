"""The progress output of `make interop`."""

from __future__ import annotations

from pathlib import Path

import interop_node
import matrix
import pytest
from interop_peers import JS, KINDS, OURS, PYTHON
from matrix import Cell


def test_each_pair_is_reported_before_it_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = []

    def converse(host: str, driver: str) -> Cell:
        progress.append(capsys.readouterr().err)
        return Cell((), (), ())

    monkeypatch.setattr(matrix, "converse", converse)
    monkeypatch.setattr(matrix, "missing", lambda kind: "no Node" if kind == JS else None)
    matrix.main()
    assert progress == [
        "left out @livekit/agents 1.9.0: no Node\n"
        "1/4 host of agent-session, driver of agent-session\n",
        "2/4 host of agent-session, driver of livekit-agents 1.8.9\n",
        "3/4 host of livekit-agents 1.8.9, driver of agent-session\n",
        "4/4 host of livekit-agents 1.8.9, driver of livekit-agents 1.8.9\n",
    ]
    assert set(KINDS) == {OURS, PYTHON, JS}


def test_an_installation_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    expected = "npm ci failed: no error output"
    assert interop_node._install(interop_node.NODE_FOLDER) == expected
    assert capsys.readouterr().err == "installing the npm packages of tests/interop/js\n"
