"""Shell completion of commands, options and arms."""

from __future__ import annotations

from pathlib import Path

import pytest
from sessiongen_command import Project, invoke, ready, run


@pytest.fixture
def made(tmp_path: Path) -> Project:
    return ready(tmp_path / "in")


def completed(made: Project, words: str) -> list[str]:
    env = {
        "_SESSIONGEN_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    outcome = run(made.root, env=env)
    # Without a word to offer, click prints an empty line.
    return [line.partition(",")[2] for line in outcome.output.splitlines() if line]


def test_completion_of_verbs(made: Project) -> None:
    assert {"generate", "check", "explain", "init", "completion"} <= set(
        completed(made, "sessiongen ")
    )
    assert completed(made, "sessiongen ge") == ["generate"]
    assert completed(made, "sessiongen --format g") == ["github"]


def test_completion_of_arms(made: Project) -> None:
    assert completed(made, "sessiongen explain ") == [
        "event",
        "ping",
        "request",
        "response",
        "tick",
    ]
    assert completed(made, "sessiongen --config codegen.toml explain re") == ["request", "response"]


def test_completion_is_silent_where_the_protocol_is_at_fault(made: Project) -> None:
    made.proto.write_text("garbage", encoding="utf-8")
    assert completed(made, "sessiongen explain ") == []
    made.config.unlink()
    assert completed(made, "sessiongen explain ") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str, tmp_path: Path) -> None:
    outcome = invoke(tmp_path, "completion", shell)
    assert outcome.status == 0
    assert f"_SESSIONGEN_COMPLETE={shell}_complete" in outcome.output
