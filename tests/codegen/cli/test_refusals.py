"""Invalid protocols and configurations: each gives its rule, position, message and help.

Input that is not a protocol at all is tested in test_compiler_invalid_input.py.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from sessiongen_command import (
    CONFIG,
    PROTO,
    ROOT,
    fresh,
    invoke,
    place_of,
    project,
    working_in,
)
from click.testing import CliRunner
from refusal_case import SMALL, edited, with_input, with_roles
from refusal_protocols import CASES, TICK

from sessiongen.cli.main import main
from sessiongen.diagnostics import Rule

# Faults in SDK packages are tested in tests/codegen/vocabulary.
RULES = [rule for rule in Rule if rule.value < "SG040" or rule is Rule.NO_SDK]
# Findings of check and generate are tested in test_check.py and test_writer.py, those of
# parity in tests/codegen/parity, faults of overrides in test_overrides.py, usage errors in
# test_options.py, and notes in test_scaffold_roles.py.
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


def test_responses_without_requests_are_one_fault(tmp_path: Path) -> None:
    config = with_roles('request = false\nresponse = "Response"')
    outcome = project(tmp_path, PROTO, config).invoke("--format", "json", "generate")
    assert [item["message"] for item in outcome.records()] == [
        "there are responses, but no requests"
    ]


@pytest.mark.parametrize("name", CASES)
def test_refusal(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    outcome = project(tmp_path, case.proto, case.config).invoke("--format", "json", *case.verb)
    assert outcome.status == 2
    records = [item for item in outcome.records() if item["rule"] == case.rule.value]
    matching = [item for item in records if item["message"].startswith(case.message)]
    assert matching, outcome.records()
    assert (matching[0]["file"], matching[0]["line"], matching[0]["column"]) == (
        case.file,
        *case.place(),
    )
    assert case.help in matching[0]["help"]
    assert matching[0]["severity"] == "error"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["undefined type", "far from any", "no arm"])
def test_all_formats_have_the_same_content(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    small_project = project(tmp_path, case.proto, case.config)
    line, column = case.place()
    text = small_project.invoke(*case.verb)
    assert text.output == ""
    assert text.errors.startswith(
        f"{case.file}:{line}:{column}: error[{case.rule.value}]: {case.message}"
    )
    assert "\n  help: " in text.errors
    github = small_project.invoke("--format", "github", *case.verb)
    assert (
        f"::error file={case.file},line={line},col={column},title={case.rule.value}::"
        in github.output
    )
    assert {text.status, github.status} == {2}


def test_all_errors_are_reported_in_order(tmp_path: Path) -> None:
    proto = edited(TICK, "Nothing tick = 1; Missing tock = 2;") + "message Empty {}\n"
    records = project(tmp_path, proto).invoke("--format", "json", "generate").records()
    assert [(item["message"].split(" ")[0], item["line"]) for item in records] == [
        ('"Nothing"', 8),
        ('"Missing"', 8),
        ('"Empty"', proto.count("\n")),
    ]


def test_all_faults_of_a_configuration_are_reported(tmp_path: Path) -> None:
    config = "[input]\nprotos = 1\nx = 2\n[output]\npackage = 'a-b'\n[roles]\nevent = 3\n"
    records = project(tmp_path, config=config).invoke("--format", "json", "generate").records()
    assert [item["line"] for item in records] == [2, 3, 5, 7]


def test_both_unpaired_arms_are_reported(tmp_path: Path) -> None:
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
    small_project = project(
        tmp_path, edited("package small;", 'package small;\nimport "other.proto";')
    )
    (tmp_path / "proto" / "other.proto").write_text('import "small.proto";\n', encoding="utf-8")
    records = small_project.invoke("--format", "json", "generate").records()
    [record] = [item for item in records if "recursively" in item["message"]]
    assert record["message"].endswith("small.proto -> other.proto -> small.proto")
    assert (record["file"], record["line"], record["column"]) == (SMALL, 3, 1)
    assert "cycle" in record["help"]


def test_file_hidden_by_an_earlier_include_path(tmp_path: Path) -> None:
    small_project = project(
        tmp_path, config=with_input('protos = ["proto/small.proto"]\ninclude = ["first", "proto"]')
    )
    (tmp_path / "first").mkdir()
    small_project.generated()
    (tmp_path / "first" / "small.proto").write_text("another", encoding="utf-8")
    outcome = small_project.invoke("generate")
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
def test_file_names_that_look_like_options(name: str, tmp_path: Path) -> None:
    small_project = project(tmp_path, config=with_input(f'protos = ["{name}"]'))
    (tmp_path / name).write_text(PROTO, encoding="utf-8")
    assert small_project.invoke("generate").status == 0


@pytest.mark.parametrize(
    ("data", "line", "column", "message"),
    [
        (b"[input]\nx = '\xff'\n", 1, 1, "the configuration is not UTF-8: byte 13 is 0xff"),
        (b"[input]\n\xc3\xa4 x = 1\n", 2, 1, "Invalid statement"),
        (b"[input]\nx = 1\nx = 2\n", 3, 6, "this key has a value already"),
        (b'[input]\nx = "a\n', 2, 7, "Illegal character '\\n'"),
    ],
)
def test_configurations_that_are_not_toml(
    data: bytes, line: int, column: int, message: str, tmp_path: Path
) -> None:
    [record] = project(tmp_path, config=data).invoke("--format", "json", "generate").records()
    assert (record["file"], record["line"], record["column"]) == ("codegen.toml", line, column)
    assert record["message"] == message


SHARED = """
[roles]
event = false
request = "small.Request"
response = "small.Request"
requests = "*"
responses = "*"
"""


def test_patterns_that_match_the_same_arms(tmp_path: Path) -> None:
    """The arm that both match is the fault, although neither role has it."""
    records = project(tmp_path, config=CONFIG + SHARED).invoke("--format", "json", "generate")
    messages = [item["message"] for item in records.records()]
    assert messages == ['arm "ping" may belong to request and response']


def test_patterns_whose_arms_have_other_roles(tmp_path: Path) -> None:
    config = f'{CONFIG}{SHARED}[annotations."small.Request.ping"]\nrole = "request"\n'
    records = project(tmp_path, config=config).invoke("--format", "json", "generate").records()
    assert "annotations give each arm that roles.responses matches another role" in [
        item["message"] for item in records
    ]


def test_a_link_to_nothing(tmp_path: Path) -> None:
    small_project = project(tmp_path)
    small_project.proto.unlink()
    small_project.proto.symlink_to("nothing")
    assert small_project.invoke("generate").errors.startswith(
        "codegen.toml:2:1: error[SG002]: proto/small.proto is a link to nothing\n"
    )


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests may run as root, who may read every file."""
    small_project = project(tmp_path)
    monkeypatch.setattr(os, "access", lambda path, mode: path != small_project.proto)
    assert small_project.invoke("generate").errors == (
        "proto/small.proto:1:1: error[SG002]: this file may not be read\n  help: make it readable\n"
    )


def test_init_with_a_path_that_is_not_utf_8(tmp_path: Path) -> None:
    """The configuration is UTF-8 and cannot have such a path."""
    small_project = fresh(tmp_path)
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/d\xe4"))
    folder.mkdir()
    (folder / "small.proto").write_text(PROTO, encoding="utf-8")
    for arguments in (["d\udce4/small.proto"], ["-I", "d\udce4", "proto/small.proto"]):
        outcome = small_project.invoke("init", *arguments)
        assert outcome.status == 2
        assert "codegen.toml:1:1: error[SG002]: a path is not UTF-8: " in outcome.errors
        assert not small_project.config.exists()


def test_columns_of_protoc(tmp_path: Path) -> None:
    """protoc reports a fault after a byte order mark, tabs and wide characters."""
    for name, before in (
        ("mark", "\ufeff"),
        ("mark_tab", "\ufeff\t"),
        ("wide", "\ufeff/*ä日*/\t"),
        ("plain", "/*ä*/ \t"),
    ):
        small_project = project(tmp_path / name, f"{before}x")
        [record] = small_project.invoke("--format", "json", "generate").records()
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


def test_json_without_diagnostics(tmp_path: Path) -> None:
    assert json.loads(project(tmp_path).invoke("--format", "json", "generate").output) == []


def test_faults_of_names_and_of_pairs_are_reported_together(tmp_path: Path) -> None:
    proto = PROTO.replace("message Empty {}", "message Empty { string CopyFrom = 1; }")
    proto = proto.replace("// Is anybody there?", "Empty frobnicate = 3;")
    outcome = project(tmp_path, proto).invoke("--format", "json", "check")
    assert outcome.status == 2
    assert [(item["rule"], item["line"]) for item in outcome.records()] == [
        ("SG017", 4),
        ("SG014", 15),
    ]


def test_faults_of_names_of_all_layers_are_reported_together(tmp_path: Path) -> None:
    proto = (ROOT / "tests" / "cases" / "refused_clash.proto").read_text(encoding="utf-8")
    proto = proto.replace("optional string from = 1;", "optional string CopyFrom = 9;")
    config = f"{CONFIG}[roles]\nenvelope = false\ncorrelation = false\n"
    outcome = project(tmp_path, proto, config).invoke("--format", "json", "check")
    assert outcome.status == 2
    messages = [item["message"] for item in outcome.records() if item["rule"] == "SG017"]
    for part in ("'CopyFrom' hides", "'emit_' and 'emit'", "'send_' and 'send'"):
        assert any(part in message for message in messages), messages


def test_clashes_in_layers_and_faults_of_pairs_are_reported_together(tmp_path: Path) -> None:
    """Each clash is one error, although the names of several layers and outputs are made from it."""
    clash = 'Empty class = 20; Empty class_ = 21 [json_name = "other"];'
    proto = PROTO.replace("proto3", "proto2").replace("string req", "optional string req")
    proto = proto.replace("// Is anybody there?", f"Empty frobnicate = 3; {clash}")
    for oneof in ("event", "response"):
        proto = proto.replace(f"oneof {oneof} {{", f"oneof {oneof} {{ {clash}")
    python = '[[output]]\nlanguage = "python"\npath = "{0}"\npackage = "{0}_protocol"\n'
    outputs = python.format("first") + python.format("second")
    config = CONFIG.split("[output]")[0] + outputs
    small_project = project(tmp_path, proto, config)
    records = small_project.invoke("--format", "json", "generate").records()
    lines = proto.split("\n")
    names = [re.search(r"\w+", lines[item["line"] - 1][item["column"] + 5 :]) for item in records]
    assert [
        (item["rule"], name and name[0]) for item, name in zip(records, names, strict=True)
    ] == [
        ("SG017", "class_"),
        ("SG014", "frobnicate"),
        ("SG017", "class_"),
        ("SG017", "class_"),
    ]


def test_a_layer_without_its_role_is_reported_at_its_name(tmp_path: Path) -> None:
    config = f'{CONFIG}layers = [\n  "requests",\n  "events",\n]\n[roles]\nevent = false\n'
    proto = PROTO.replace("    Event event = 1;\n", "").replace("message Event", "message Other")
    [record] = project(tmp_path, proto, config).invoke("--format", "json", "generate").records()
    assert record["rule"] == "SG012"
    assert record["message"] == "there can be no layer 'events': the protocol has no events"
    assert (record["file"], record["line"], record["column"]) == (
        "codegen.toml",
        *place_of(config, '"events"'),
    )
