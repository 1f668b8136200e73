"""Tests of shell completion for commands, options and arms."""

from __future__ import annotations

from pathlib import Path

import pytest
from sessiongen_command import Project, invoke, generated_copy, run


@pytest.fixture
def small_project(tmp_path: Path) -> Project:
    return generated_copy(tmp_path / "in")


def completed(small_project: Project, command_line: str) -> list[str]:
    env = {
        "_SESSIONGEN_COMPLETE": "bash_complete",
        "COMP_WORDS": command_line,
        "COMP_CWORD": str(len(command_line.split(" ")) - 1),
    }
    outcome = run(small_project.root, env=env)
    # click prints an empty line if there are no completions.
    return [line.partition(",")[2] for line in outcome.output.splitlines() if line]


def test_completion_of_commands(small_project: Project) -> None:
    assert {"generate", "check", "explain", "init", "completion"} <= set(
        completed(small_project, "sessiongen ")
    )
    assert completed(small_project, "sessiongen ge") == ["generate"]
    assert completed(small_project, "sessiongen --format g") == ["github"]


def test_completion_of_arms(small_project: Project) -> None:
    assert completed(small_project, "sessiongen explain ") == [
        "event",
        "ping",
        "request",
        "response",
        "tick",
    ]
    assert completed(small_project, "sessiongen --config codegen.toml explain re") == [
        "request",
        "response",
    ]


def test_completion_with_an_invalid_protocol(small_project: Project) -> None:
    small_project.proto.write_text("garbage", encoding="utf-8")
    assert completed(small_project, "sessiongen explain ") == []
    small_project.config.unlink()
    assert completed(small_project, "sessiongen explain ") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str, tmp_path: Path) -> None:
    outcome = invoke(tmp_path, "completion", shell)
    assert outcome.status == 0
    assert f"_SESSIONGEN_COMPLETE={shell}_complete" in outcome.output
