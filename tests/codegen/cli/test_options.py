"""Global options before and after the command, and usage errors in every format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sessiongen_command import Project, invoke, project, ready

VERBS = [
    ["generate"],
    ["check"],
    ["explain", "ping"],
    ["parity"],
    ["init", "proto/small.proto"],
    ["vocabulary", "update"],
    ["vocabulary", "watch"],
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return ready(tmp_path_factory.mktemp("usage") / "in")


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_options_may_stand_after_the_verb(verb: list[str], made: Project) -> None:
    faulty = ["--config", "no.toml", "-q", "--format", "json", "--no-color"]
    if verb[0] == "init":
        faulty[1] = "codegen.toml"
    before = made.invoke(*faulty, *verb)
    assert before.status == 2
    assert before.records()[0]["rule"] in ("SG007", "SG008")
    assert made.invoke(*verb, *faulty) == before
    assert made.invoke(*verb[:1], *faulty[:3], *verb[1:], *faulty[3:]) == before


def test_each_option_after_the_verb_is_taken(made: Project) -> None:
    assert made.invoke("generate", "-q").all == ""
    assert made.invoke("generate", "--format", "json").output == "[]\n"
    assert made.invoke("explain", "pang", "--format", "github").output.startswith("::error ")
    shown = made.invoke("explain", "pang", "--color").errors
    assert "\x1b[31m" in shown
    assert "\x1b[" not in made.invoke("--color", "explain", "pang", "--no-color").errors


def test_the_last_of_its_kind_counts(made: Project) -> None:
    assert made.invoke("--format", "github", "check", "--format", "json").output == "[]\n"
    assert made.invoke("--config", "no.toml", "check", "--config", "codegen.toml").status == 0
    # A default does not undo what was said before.
    assert made.invoke("--format", "json", "vocabulary", "watch").output.startswith("[")
    assert made.invoke("-q", "check").all == ""


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_help_lists_the_options(verb: list[str], made: Project) -> None:
    shown = made.invoke(*[word for word in verb if word.isalpha()], "--help").output
    assert all(word in shown for word in ("--config", "--format", "--no-color", "--quiet"))


FAULTS = [
    (["nonsense"], "No such command 'nonsense'", "sessiongen"),
    (["generate", "--nonsense"], "No such option", "sessiongen generate"),
    (["--nonsense", "generate"], "No such option", "sessiongen"),
    (["check", "more"], "Got unexpected extra argument (more)", "sessiongen check"),
    (["explain"], "Missing argument 'ARM'", "sessiongen explain"),
    (["completion", "tcsh"], "'tcsh' is not one of", "sessiongen completion"),
    (["vocabulary", "nonsense"], "No such command 'nonsense'", "sessiongen vocabulary"),
    (["init"], "give exactly one of PROTO, --descriptor-set, --messages", "sessiongen init"),
    (
        ["vocabulary", "update", "--python", "1.8.9", "--python-path", "sdk"],
        "give either --python or --python-path, not both",
        "sessiongen vocabulary update",
    ),
    (
        ["vocabulary", "update", "--js-path", "sdk", "--js", "newest", "--python", "1.8.9"],
        "give either --js or --js-path, not both",
        "sessiongen vocabulary update",
    ),
    (
        ["vocabulary", "update", "--python", "", "--python-path", "sdk"],
        "give either --python or --python-path, not both",
        "sessiongen vocabulary update",
    ),
]


@pytest.mark.parametrize(("arguments", "message", "command"), FAULTS)
def test_a_fault_in_usage_has_the_form_that_is_asked_for(
    arguments: list[str], message: str, command: str, tmp_path: Path
) -> None:
    text = invoke(tmp_path, *arguments)
    assert (text.status, text.output) == (2, "")
    assert text.errors.startswith(f"Usage: {command} ")
    assert message in text.errors
    asked = invoke(tmp_path, "--format", "json", *arguments)
    assert (asked.status, asked.errors) == (2, "")
    [record] = asked.records()
    assert message in record["message"]
    assert (record["file"], record["rule"]) == ("<command line>", "SG009")
    assert (record["severity"], record["help"]) == ("error", f"see `{command} --help`")
    github = invoke(tmp_path, "--format=github", *arguments)
    assert github.status == 2
    assert github.output.startswith("::error file=<command line>,line=1,col=1,title=SG009::")


def test_a_format_after_the_fault_counts_too(tmp_path: Path) -> None:
    for arguments in (
        ["generate", "--nonsense", "--format", "json"],
        ["--nonsense", "generate", "--format=json"],
        ["parity", "--nonsense", "--format", "json"],
    ):
        outcome = invoke(tmp_path, *arguments)
        assert (outcome.status, len(json.loads(outcome.output))) == (2, 1)


def test_an_unknown_format_is_told_as_text(tmp_path: Path) -> None:
    for arguments in (["--format", "xml", "check"], ["check", "--format", "xml"], ["--format"]):
        outcome = invoke(tmp_path, *arguments)
        assert (outcome.status, outcome.output) == (2, "")
        assert "Error: " in outcome.errors


def test_no_verb_at_all(tmp_path: Path) -> None:
    outcome = invoke(tmp_path, "--format", "json")
    assert outcome.status == 2
    assert [item["rule"] for item in outcome.records()] == ["SG009"]


def test_parity_has_forms_of_its_own(tmp_path: Path) -> None:
    made = project(tmp_path)
    assert made.invoke("parity", "--format", "markdown", "-q").errors.count("SG055") == 1
    assert made.invoke("--format", "markdown", "parity").status == 2
    assert [item["rule"] for item in made.invoke("parity", "--format", "json").records()] == [
        "SG055"
    ]


def test_the_configuration_is_found_in_a_folder_above(tmp_path: Path) -> None:
    made = ready(tmp_path / "in")
    inner = made.root / "proto" / "deep"
    inner.mkdir()
    expected = f"{made.package.as_posix()}: "
    for verb in ("check", "generate"):
        outcome = invoke(inner, verb)
        assert (outcome.status, outcome.errors) == (0, "")
        assert outcome.output.splitlines()[-1].startswith(expected)
    # One that is named is not searched for.
    assert invoke(inner, "--config", "codegen.toml", "check").status == 2
    (inner / "codegen.toml").write_text("[input]\n", encoding="utf-8")
    assert "codegen.toml:1:2: error[SG006]" in invoke(inner, "check").errors
