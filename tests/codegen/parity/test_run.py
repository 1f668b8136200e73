"""Tests of comparisons with SDKs whose sources are read for them, and of `--since`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sdk_repository import Repository

from sessiongen.cli.main import main

EVENTS = "livekit/agents/voice/events.py"
HOST = "livekit/agents/voice/remote_session.py"
STATES = 'State = Literal["idle", "busy"]'


def call(folder: Path, *arguments: str) -> Result:
    here = os.getcwd()
    os.chdir(folder)
    try:
        return CliRunner().invoke(main, arguments)
    finally:
        os.chdir(here)


def document(done: Result) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(done.stdout)
    return data


def ids(done: Result) -> list[str]:
    return sorted(item.get("id", item["kind"]) for item in document(done)["findings"])


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository of an SDK with the protocol, in which every difference is declared."""
    made = Repository(tmp_path / "sdk").add_sdk().add_protocol()
    assert call(made.folder, "vocabulary", "update", "--python-path", ".").exit_code == 0
    call(made.folder, "parity", "--declare")
    made.edit("vocabularies/small-sdk.gaps.toml", 'reason = ""', 'reason = "Known."')
    assert call(made.folder, "parity", "--quiet").exit_code == 0
    made.commit()
    return made


def test_sources_are_compared_without_writing_files(repository: Repository) -> None:
    assert call(repository.folder, "parity", "--python-path", ".", "--quiet").exit_code == 0
    repository.edit(EVENTS, STATES, 'State = Literal["idle", "busy", "gone"]')
    # The vocabulary file is of the version before.
    assert call(repository.folder, "parity", "--quiet").exit_code == 0
    done = call(repository.folder, "parity", "--python-path", ".", "--format", "json")
    assert done.exit_code == 1 and ids(done) == ["literal State.gone"]
    assert repository.git("status", "--short") == f" M {EVENTS}\n"


def test_findings_are_at_the_line_of_the_source(repository: Repository) -> None:
    repository.edit(EVENTS, STATES, 'State = Literal["idle", "busy", "gone"]')
    done = call(repository.folder, "parity", "--python-path", ".", "--format", "github")
    [line, note] = done.stdout.splitlines()
    assert note.startswith(f"::notice file={EVENTS},line=5,col=1,title=SG058::")
    assert line.startswith(f"::error file={EVENTS},line=5,col=1,title=SG050::")
    assert "the protocol has this at small.proto:4:1" in line
    [finding] = document(
        call(repository.folder, "parity", "--python-path", ".", "--format", "json")
    )["findings"]
    assert finding["place"] == f"{EVENTS}:5" and "url" not in finding


def test_since_shows_only_what_changed(repository: Repository) -> None:
    since = ("parity", "--python-path", ".", "--since", "HEAD")
    same = call(repository.folder, *since)
    assert same.exit_code == 0
    assert "since HEAD 0 rows changed, 0 new findings" in same.stdout
    repository.edit(EVENTS, STATES, 'State = Literal["idle", "busy", "gone"]')
    repository.commit()
    done = call(repository.folder, *since[:-1], "HEAD~1")
    assert done.exit_code == 1
    assert "enum small.State  small-sdk\n(SDK only)        gone !\n" in done.stdout
    assert "events" not in done.stdout
    assert "since HEAD~1 1 rows changed, 1 new findings" in done.stdout
    data = document(call(repository.folder, *since[:-1], "HEAD~1", "--format", "json"))
    assert data["since"] == "HEAD~1" and data["resolved"] == []
    assert [item["id"] for item in data["findings"]] == ["literal State.gone"]
    # The finding is not new any more.
    assert call(repository.folder, *since).exit_code == 0
    assert repository.git("status", "--short") == ""


def test_since_ignores_findings_that_existed_before(repository: Repository) -> None:
    repository.edit(EVENTS, STATES, 'State = Literal["idle", "busy", "gone"]')
    repository.commit()
    # Lines move, which is no change.
    repository.edit(EVENTS, "from enum import Enum\n", "\nfrom enum import Enum\n")
    assert call(repository.folder, "parity", "--python-path", ".", "--quiet").exit_code == 1
    done = call(repository.folder, "parity", "--python-path", ".", "--since", "HEAD")
    assert done.exit_code == 0, done.stdout


def test_since_lists_what_was_resolved(repository: Repository) -> None:
    repository.edit(EVENTS, STATES, 'State = Literal["idle", "busy", "gone"]')
    repository.commit()
    repository.edit(EVENTS, ', "gone"', "")
    done = call(repository.folder, "parity", "--python-path", ".", "--since", "HEAD")
    assert done.exit_code == 0
    assert "resolved since HEAD:\n  small-sdk: literal State.gone\n" in done.stdout


def test_since_with_vocabulary_files_compares_the_committed_ones(repository: Repository) -> None:
    repository.edit("small.proto", "  STATE_BUSY = 1;\n", "  STATE_BUSY = 1;\n  STATE_NEW = 2;\n")
    done = call(repository.folder, "parity", "--since", "main", "--format", "json")
    assert done.exit_code == 1 and ids(done) == ["value small.State.STATE_NEW"]
    sections = document(done)["sections"]
    assert [item["title"] for item in sections] == ["enum small.State"]
    assert [row["label"] for row in sections[0]["rows"]] == ["STATE_NEW = 2"]


def test_since_with_the_protocol_in_another_repository(
    repository: Repository, tmp_path: Path
) -> None:
    sdk = Repository(tmp_path / "other").add_sdk()
    sdk.commit()
    sdk.edit(EVENTS, STATES, 'State = Literal["idle", "busy", "gone"]')
    config = str(repository.folder / "codegen.toml")
    done = call(
        sdk.folder,
        *("--config", config, "parity", "--python-path", ".", "--since", "main"),
        *("--format", "json"),
    )
    assert done.exit_code == 1 and ids(done) == ["literal State.gone"]


def test_since_a_commit_without_the_configuration(tmp_path: Path) -> None:
    sdk = Repository(tmp_path / "sdk").add_sdk()
    sdk.commit()
    sdk.add_protocol()
    assert call(sdk.folder, "vocabulary", "update", "--python-path", ".").exit_code == 0
    sdk.edit(EVENTS, STATES, 'State = Literal["idle", "busy", "gone"]')
    since = ("parity", "--since", "HEAD", "--format", "json")
    done = call(sdk.folder, *since, "--python-path", ".")
    assert done.exit_code == 1 and ids(done) == ["literal State.gone"]
    # Without sources, there is nothing to compare with.
    done = call(sdk.folder, *since)
    assert done.exit_code == 2 and "at HEAD: the configuration does not exist" in done.stdout


def test_sources_that_cannot_be_read_are_faults(repository: Repository) -> None:
    repository.edit(HOST, "class SessionHost:", "class SessionHost(")
    done = call(repository.folder, "parity", "--python-path", ".")
    assert done.exit_code == 2 and "error[SG042]" in done.stderr and HOST in done.stderr
    # The commit with the same fault is named.
    repository.commit()
    repository.edit(HOST, "class SessionHost(", "class SessionHost:")
    done = call(repository.folder, "parity", "--python-path", ".", "--since", "HEAD")
    assert done.exit_code == 2 and f"{HOST}:" in done.stderr and "at HEAD: " in done.stderr


@pytest.mark.parametrize("ref", ["nothing", "--help", "", "HEAD:codegen.toml"])
def test_unknown_commit(repository: Repository, ref: str) -> None:
    done = call(repository.folder, "parity", f"--since={ref}")
    assert done.exit_code == 2 and "--since: there is no such commit" in done.stderr


def test_since_outside_of_a_repository(tmp_path: Path, repository: Repository) -> None:
    (repository.folder / ".git").rename(tmp_path / "moved")
    done = call(repository.folder, "parity", "--since", "HEAD")
    assert done.exit_code == 2 and "error[SG009]" in done.stderr
    assert "not a git repository" in done.stderr


def test_a_working_tree_with_a_changed_index_is_left_alone(repository: Repository) -> None:
    repository.edit(EVENTS, STATES, 'State = Literal["idle", "busy", "gone"]')
    repository.git("add", "--all")
    before = repository.git("status", "--short")
    call(repository.folder, "parity", "--python-path", ".", "--since", "HEAD")
    assert repository.git("status", "--short") == before == f"M  {EVENTS}\n"


def test_code_that_changed_without_a_change_of_facts(repository: Repository) -> None:
    repository.edit(
        HOST,
        "        self.emit(name, msg.event)\n",
        "        self.emit(name, msg.event)\n        self.n += 1\n",
    )
    line = (repository.folder / HOST).read_text().partition("def _loop")[0].count("\n") + 1
    for since in ((), ("--since", "HEAD")):
        call_ = ("parity", "--python-path", ".", *since, "--format")
        done = call(repository.folder, *call_, "json")
        [warning] = document(done)["reading"]
        assert done.exit_code == 0
        assert (warning["rule"], warning["severity"], warning["line"]) == ("SG058", "warning", line)
        [result] = json.loads(call(repository.folder, *call_, "sarif").stdout)["runs"][0]["results"]
        assert (result["ruleId"], result["level"]) == ("SG058", "warning")
        github = call(repository.folder, *call_, "github").stdout
        assert github.startswith(f"::warning file={HOST},line={line},col=1,title=SG058::")
    repository.commit()
    assert "reading" not in document(call(repository.folder, *call_, "json"))


def test_an_sdk_that_is_read_in_part_is_compared_in_part(repository: Repository) -> None:
    """What may follow from the unread code is no finding, and gap files stay as they are."""
    repository.edit(HOST, 'session.on("state_changed", ', 'session.on("state_" + self.name, ')
    repository.edit(EVENTS, STATES, 'State = Literal["idle", "busy", "gone"]')
    gaps = repository.folder / "vocabularies/small-sdk.gaps.toml"
    before = gaps.read_bytes()
    done = call(repository.folder, "parity", "--python-path", ".", "--format", "json")
    reading = [(item["rule"], item["severity"]) for item in document(done)["reading"]]
    assert done.exit_code == 2 and ("SG045", "error") in reading
    assert "literal State.gone" in ids(done)
    assert not [item for item in ids(done) if item.startswith(("event ", "request ", "gap"))]
    for option in ("--declare", "--prune"):
        done = call(repository.folder, "parity", "--python-path", ".", option)
        assert done.exit_code == 2 and "error[SG045]" in done.stderr
    assert gaps.read_bytes() == before
    repository.commit()
    done = call(repository.folder, "parity", "--python-path", ".", "--since", "HEAD")
    assert done.exit_code == 2 and "at HEAD: the event name" in done.stderr
