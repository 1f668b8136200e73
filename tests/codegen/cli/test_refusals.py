"""Invalid protocols and configurations: each gives its rule, position, message and help.

Input that is not a protocol at all is tested in test_compiler_invalid_input.py.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sessiongen_command import PROTO, invoke, place_of, project, working_in
from click.testing import CliRunner
from refusal_case import SMALL, edited, with_input
from refusal_protocols import CASES, TICK

from sessiongen.cli.main import main
from sessiongen.diagnostics import Rule

# Faults in SDK packages have tests of their own.
RULES = [rule for rule in Rule if rule.value < "SG040" or rule is Rule.NO_SDK]
# A finding of check, or of generate where something is in the way (test_check.py,
# test_writer.py); what only an SDK's vocabulary can show (tests/codegen/parity); faults in a module
# of overrides (test_overrides.py) and in usage (test_options.py); and what is but a note
# (test_scaffold_roles.py).
ELSEWHERE = {
    Rule.DRIFT,
    Rule.MISSING_OUTPUT,
    Rule.EXTRA_OUTPUT,
    Rule.TOOL_SKEW,
    Rule.EDITED,
    Rule.INTERNAL,
    Rule.OUTPUT,
    Rule.VALUE_CLASH,
    Rule.OVERRIDE,
    Rule.USAGE,
    Rule.NO_CORRELATION,
    Rule.NO_ERROR,
}


def test_every_rule_has_a_case() -> None:
    assert {case.rule for case in CASES.values()} | ELSEWHERE == set(RULES)


@pytest.mark.parametrize("name", CASES)
def test_refusal(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    outcome = project(tmp_path, case.proto, case.config).invoke("--format", "json", *case.verb)
    assert outcome.status == 2
    found = [item for item in outcome.records() if item["rule"] == case.rule.value]
    said = [item for item in found if item["message"].startswith(case.message)]
    assert said, outcome.records()
    assert (said[0]["file"], said[0]["line"], said[0]["column"]) == (case.file, *case.place())
    assert case.help in said[0]["help"]
    assert said[0]["severity"] == "error"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["undefined type", "far from any", "no arm"])
def test_the_three_forms_say_the_same(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    made = project(tmp_path, case.proto, case.config)
    line, column = case.place()
    text = made.invoke(*case.verb)
    assert text.output == ""
    assert text.errors.startswith(
        f"{case.file}:{line}:{column}: error[{case.rule.value}]: {case.message}"
    )
    assert "\n  help: " in text.errors
    github = made.invoke("--format", "github", *case.verb)
    assert (
        f"::error file={case.file},line={line},col={column},title={case.rule.value}::"
        in github.output
    )
    assert {text.status, github.status} == {2}


def test_every_error_is_shown_at_once_in_order(tmp_path: Path) -> None:
    proto = edited(TICK, "Nothing tick = 1; Missing tock = 2;") + "message Empty {}\n"
    records = project(tmp_path, proto).invoke("--format", "json", "generate").records()
    assert [(item["message"].split(" ")[0], item["line"]) for item in records] == [
        ('"Nothing"', 8),
        ('"Missing"', 8),
        ('"Empty"', proto.count("\n")),
    ]


def test_every_fault_of_a_configuration_is_shown_at_once(tmp_path: Path) -> None:
    config = "[input]\nprotos = 1\nx = 2\n[output]\npackage = 'a-b'\n[roles]\nevent = 3\n"
    records = project(tmp_path, config=config).invoke("--format", "json", "generate").records()
    assert [item["line"] for item in records] == [2, 3, 5, 7]


def test_both_unpaired_arms_are_shown(tmp_path: Path) -> None:
    proto = edited(
        "oneof request {",
        "oneof request { Empty a = 8;",
        edited("oneof response {", "oneof response { Empty b = 9;"),
    )
    records = project(tmp_path, proto).invoke("--format", "json", "generate").records()
    assert [(item["line"], item["column"]) for item in records] == [
        place_of(proto, "Empty a = 8"),
        place_of(proto, "Empty b = 9"),
    ]


def test_a_cycle_of_imports(tmp_path: Path) -> None:
    made = project(tmp_path, edited("package small;", 'package small;\nimport "other.proto";'))
    (tmp_path / "proto" / "other.proto").write_text('import "small.proto";\n', encoding="utf-8")
    records = made.invoke("--format", "json", "generate").records()
    [found] = [item for item in records if "recursively" in item["message"]]
    assert found["message"].endswith("small.proto -> other.proto -> small.proto")
    assert (found["file"], found["line"], found["column"]) == (SMALL, 3, 1)
    assert "cycle" in found["help"]


def test_a_file_hidden_by_another_of_its_name(tmp_path: Path) -> None:
    made = project(
        tmp_path, config=with_input('protos = ["proto/small.proto"]\ninclude = ["first", "proto"]')
    )
    (tmp_path / "first").mkdir()
    made.generated()
    (tmp_path / "first" / "small.proto").write_text("another", encoding="utf-8")
    outcome = made.invoke("generate")
    assert outcome.status == 2
    assert outcome.errors.startswith(
        "codegen.toml:3:1: error[SG002]: proto/small.proto is hidden by first/small.proto"
    )


def test_a_working_directory_with_a_file_of_the_same_name(tmp_path: Path) -> None:
    project(tmp_path / "a")
    (tmp_path / "small.proto").write_text("another", encoding="utf-8")
    assert invoke(tmp_path, "--config", "a/codegen.toml", "generate").status == 0


@pytest.mark.parametrize(
    "name", ["-x.proto", "@x.proto", "a b.proto", "ä.proto", "a=b.proto", "a:b.proto"]
)
def test_names_that_are_no_options(name: str, tmp_path: Path) -> None:
    made = project(tmp_path, config=with_input(f'protos = ["{name}"]'))
    (tmp_path / name).write_text(PROTO, encoding="utf-8")
    assert made.invoke("generate").status == 0


@pytest.mark.parametrize(
    ("data", "line", "column", "message"),
    [
        (b"[input]\nx = '\xff'\n", 1, 1, "the configuration is not UTF-8: byte 13 is 0xff"),
        (b"[input]\n\xc3\xa4 x = 1\n", 2, 1, "Invalid statement"),
        (b"[input]\nx = 1\nx = 2\n", 3, 6, "Cannot overwrite a value"),
        (b'[input]\nx = "a\n', 2, 7, "Illegal character '\\n'"),
    ],
)
def test_configurations_that_are_not_toml(
    data: bytes, line: int, column: int, message: str, tmp_path: Path
) -> None:
    [found] = project(tmp_path, config=data).invoke("--format", "json", "generate").records()
    assert (found["file"], found["line"], found["column"]) == ("codegen.toml", line, column)
    assert found["message"] == message


def test_protoc_counts_columns_as_the_model_does(tmp_path: Path) -> None:
    """The same fault behind a byte order mark, tabs and wide characters, told by protoc."""
    for name, before in (
        ("mark", "\ufeff"),
        ("mark_tab", "\ufeff\t"),
        ("wide", "\ufeff/*ä日*/\t"),
        ("plain", "/*ä*/ \t"),
    ):
        made = project(tmp_path / name, f"{before}x")
        [record] = made.invoke("--format", "json", "generate").records()
        assert (record["line"], record["column"]) == (1, len(before.lstrip("\ufeff")) + 1)
        assert "Expected top-level statement" in record["message"]


def test_usage(tmp_path: Path) -> None:
    with working_in(tmp_path):
        for arguments in (
            ["nonsense"],
            ["--format", "xml", "check"],
            ["init"],
            ["init", "a", "--messages", "b"],
            ["explain"],
        ):
            result = CliRunner().invoke(main, arguments)
            assert result.exit_code == 2
            assert "Usage: " in result.stderr


def test_json_is_json_when_there_is_nothing_to_say(tmp_path: Path) -> None:
    assert json.loads(project(tmp_path).invoke("--format", "json", "generate").output) == []
