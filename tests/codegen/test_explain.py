"""Tests of `explain`: the facts and the generated symbols of an arm."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from sessiongen_command import (
    CONFIG,
    PROTO,
    UNPAIRED,
    Outcome,
    Project,
    compile_set,
    invoke,
    place_of,
    project,
    generated_copy,
    tree,
)
from generated_packages import ROOT

CODERS = ["encoders.py", "models.py", "decoders.py"]


@pytest.fixture
def small_project(tmp_path: Path) -> Project:
    return generated_copy(tmp_path / "in")


def entries(outcome: Outcome) -> list[dict[str, Any]]:
    assert outcome.status == 0, outcome.all
    result: list[dict[str, Any]] = json.loads(outcome.output)
    return result


def facts(entry: dict[str, Any]) -> set[tuple[str, str]]:
    return {(item["label"], item["text"]) for item in entry["facts"]}


def test_an_arm_of_two_unions(small_project: Project) -> None:
    line, column = place_of(PROTO, "Empty ping = 2;\n  }\n}\n\nmessage Response")
    request, response = entries(small_project.invoke("--format", "json", "explain", "ping"))
    assert request["arm"] == "small.Request.ping"
    assert request["declared"] == f"proto/small.proto:{line}:{column}"
    assert request["docs"] == "Is anybody there?"
    assert facts(request) == {
        ("oneof", "small.Request.request, field 2"),
        ("payload", "small.Empty"),
        ("role", "request"),
        ("correlation", "request_id"),
        ("answered by", "ping, field 2"),
    }
    assert response["arm"] == "small.Response.ping"
    assert ("answers", "ping, field 2") in facts(response)


def test_the_text_form(small_project: Project) -> None:
    line, column = place_of(PROTO, "Empty ping = 2;\n  }\n}\n\nmessage Response")
    outcome = small_project.invoke("explain", "Request.ping")
    shown = outcome.output.splitlines()
    assert shown[:7] == [
        f"small.Request.ping  proto/small.proto:{line}:{column}",
        "    Is anybody there?",
        "  oneof        small.Request.request, field 2",
        "  payload      small.Empty",
        "  role         request",
        "  correlation  request_id",
        "  answered by  ping, field 2",
    ]
    assert shown[7].startswith("  generated    out/small_protocol/dispatch.py:")
    assert all(line.startswith("               out/small_protocol/") for line in shown[8:])
    assert small_project.invoke("-q", "explain", "Request.ping") == outcome


def defined(path: Path) -> dict[str, int]:
    """Returns the line of each name that a module or a class in it defines."""
    lines: dict[str, int] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        inside = node.body if isinstance(node, ast.ClassDef) else []
        outer = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        for prefix, item in [("", node), *((outer, child) for child in inside)]:
            if isinstance(item, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                lines[prefix + item.name] = item.lineno
            elif isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                lines[prefix + item.target.id] = item.lineno
    return lines


@pytest.mark.parametrize(
    ("arm", "files"),
    [
        ("tick", ["dispatch.py", "dispatch.py", "events.py", "events.py", "events.py", *CODERS]),
        ("Request.ping", ["dispatch.py", "dispatch.py", "requests.py", "client.py"]),
        ("Response.ping", ["dispatch.py", "dispatch.py", *CODERS]),
        ("Envelope.event", ["dispatch.py", "dispatch.py"]),
    ],
)
def test_lines_point_at_the_symbols(arm: str, files: list[str], small_project: Project) -> None:
    [entry] = entries(small_project.invoke("--format", "json", "explain", arm))
    actual = []
    for item in entry["generated"]:
        path, _, line = item["place"].rpartition(":")
        assert defined(small_project.root / path)[item["symbol"]] == int(line)
        actual.append(Path(path).name)
    assert actual == files


def test_missing_roles_are_explained(tmp_path: Path) -> None:
    small_project = project(tmp_path, PROTO.replace("  string request_id = 1;\n", ""))
    request, response = entries(small_project.invoke("--format", "json", "explain", "ping"))
    lacks = "-  (no field says which request a response answers; `send` has to know)"
    assert ("correlation", lacks) in facts(request) & facts(response)
    raises = "-  (a host cannot answer with an error text; `answer` raises instead)"
    assert ("error", raises) in facts(response)
    assert not {"error", "timestamp"} & {label for label, _ in facts(request)}
    [event] = entries(small_project.invoke("--format", "json", "explain", "tick"))
    assert ("timestamp", "-  (events do not carry the time of their creation)") in facts(event)
    assert "  correlation  -  (no field says" in small_project.invoke("explain", "ping").output


def test_fields_outside_the_oneof(tmp_path: Path) -> None:
    proto = PROTO.replace(
        "message Response {\n", "message Response {\n  optional string error = 9;\n"
    ).replace("message Event {\n", "message Event {\n  google.protobuf.Timestamp at = 9;\n")
    proto = proto.replace(
        "package small;", 'package small;\nimport "google/protobuf/timestamp.proto";'
    )
    small_project = project(tmp_path, proto)
    _, response = entries(small_project.invoke("--format", "json", "explain", "ping"))
    assert {("correlation", "request_id"), ("error", "error")} <= facts(response)
    [event] = entries(small_project.invoke("--format", "json", "explain", "tick"))
    assert ("timestamp", "at") in facts(event)


def test_symbols_before_generate_have_no_line(tmp_path: Path) -> None:
    small_project = project(tmp_path)
    [entry] = entries(small_project.invoke("--format", "json", "explain", "tick"))
    assert [item["place"] for item in entry["generated"]][:1] == ["out/small_protocol/dispatch.py"]
    assert tree(tmp_path).keys() == {"codegen.toml", "proto/small.proto"}


def test_a_response_that_answers_two_requests(tmp_path: Path) -> None:
    config = CONFIG + '[annotations."small.Request.frobnicate"]\nresponse = "ping"\n'
    small_project = project(tmp_path, UNPAIRED, config)
    [entry] = entries(small_project.invoke("--format", "json", "explain", "Response.ping"))
    assert {("answers", "ping, field 2"), ("answers", "frobnicate, field 9")} <= facts(entry)


@pytest.mark.parametrize(
    ("name", "help_"),
    [
        ("pings", "did you mean ping?"),
        ("tik", "did you mean tick?"),
        ("qqqq", "name an arm of any oneof"),
        ("", "name an arm of any oneof"),
    ],
)
def test_an_unknown_arm(name: str, help_: str, small_project: Project) -> None:
    outcome = small_project.invoke("explain", name)
    assert outcome.status == 2
    assert outcome.errors.splitlines() == [
        f"codegen.toml:1:1: error[SG026]: the protocol has no arm {name!r}",
        f"  help: {help_}",
    ]


def test_explain_reads_a_descriptor_set(small_project: Project) -> None:
    compile_set(small_project)
    [entry] = entries(
        small_project.invoke(
            "--format", "json", "explain", "--descriptor-set", "small.binpb", "tick"
        )
    )
    assert entry["declared"] == "small.binpb#small.proto:1:1"


def test_typed_dict_of_a_response() -> None:
    outcome = invoke(ROOT, "--format", "json", "explain", "SessionResponse.get_framework_info")
    [entry] = entries(outcome)
    small_project = [
        (Path(item["place"]).name.partition(":")[0], item["symbol"]) for item in entry["generated"]
    ]
    assert ("responses.py", "GetFrameworkInfoResponse") in small_project
    assert ("encoders.py", "encode_get_framework_info_response") in small_project
