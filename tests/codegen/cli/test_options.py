"""Tests of global options, and of usage errors in every format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sessiongen_command import Project, invoke, project, generated_copy

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
def small_project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return generated_copy(tmp_path_factory.mktemp("usage") / "in")


@pytest.mark.parametrize("command", VERBS, ids=" ".join)
def test_options_after_the_command(command: list[str], small_project: Project) -> None:
    faulty = ["--config", "no.toml", "-q", "--format", "json", "--no-color"]
    if command[0] == "init":
        faulty[1] = "codegen.toml"
    before = small_project.invoke(*faulty, *command)
    assert before.status == 2
    assert before.records()[0]["rule"] in ("SG007", "SG008")
    assert small_project.invoke(*command, *faulty) == before
    assert small_project.invoke(*command[:1], *faulty[:3], *command[1:], *faulty[3:]) == before


def test_each_option_after_the_command(small_project: Project) -> None:
    assert small_project.invoke("generate", "-q").all == ""
    assert small_project.invoke("generate", "--format", "json").output == "[]\n"
    assert small_project.invoke("explain", "pang", "--format", "github").output.startswith(
        "::error "
    )
    shown = small_project.invoke("explain", "pang", "--color").errors
    assert "\x1b[31m" in shown
    assert "\x1b[" not in small_project.invoke("--color", "explain", "pang", "--no-color").errors


def test_last_value_of_an_option_wins(small_project: Project) -> None:
    assert small_project.invoke("--format", "github", "check", "--format", "json").output == "[]\n"
    assert (
        small_project.invoke("--config", "no.toml", "check", "--config", "codegen.toml").status == 0
    )
    # A default does not override an earlier option.
    assert small_project.invoke("--format", "json", "vocabulary", "watch").output.startswith("[")
    assert small_project.invoke("-q", "check").all == ""


@pytest.mark.parametrize("command", VERBS, ids=" ".join)
def test_help_lists_the_options(command: list[str], small_project: Project) -> None:
    shown = small_project.invoke(
        *[argument for argument in command if argument.isalpha()], "--help"
    ).output
    assert all(argument in shown for argument in ("--config", "--format", "--no-color", "--quiet"))


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
def test_usage_errors_have_the_requested_format(
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


def test_format_after_the_usage_error(tmp_path: Path) -> None:
    for arguments in (
        ["generate", "--nonsense", "--format", "json"],
        ["--nonsense", "generate", "--format=json"],
        ["parity", "--nonsense", "--format", "json"],
    ):
        outcome = invoke(tmp_path, *arguments)
        assert (outcome.status, len(json.loads(outcome.output))) == (2, 1)


def test_unknown_format_is_reported_as_text(tmp_path: Path) -> None:
    for arguments in (["--format", "xml", "check"], ["check", "--format", "xml"], ["--format"]):
        outcome = invoke(tmp_path, *arguments)
        assert (outcome.status, outcome.output) == (2, "")
        assert "Error: " in outcome.errors


def test_no_command(tmp_path: Path) -> None:
    outcome = invoke(tmp_path, "--format", "json")
    assert outcome.status == 2
    assert [item["rule"] for item in outcome.records()] == ["SG009"]


def test_formats_of_parity(tmp_path: Path) -> None:
    small_project = project(tmp_path)
    assert small_project.invoke("parity", "--format", "markdown", "-q").errors.count("SG055") == 1
    assert small_project.invoke("--format", "markdown", "parity").status == 2
    assert [
        item["rule"] for item in small_project.invoke("parity", "--format", "json").records()
    ] == ["SG055"]


def test_configuration_in_a_parent_folder(tmp_path: Path) -> None:
    small_project = generated_copy(tmp_path / "in")
    inner = small_project.root / "proto" / "deep"
    inner.mkdir()
    expected = f"{small_project.package.as_posix()}: "
    for command in ("check", "generate"):
        outcome = invoke(inner, command)
        assert (outcome.status, outcome.errors) == (0, "")
        assert outcome.output.splitlines()[-1].startswith(expected)
    # A named configuration is not searched for.
    assert invoke(inner, "--config", "codegen.toml", "check").status == 2
    (inner / "codegen.toml").write_text("[input]\n", encoding="utf-8")
    assert "codegen.toml:1:2: error[SG006]" in invoke(inner, "check").errors
