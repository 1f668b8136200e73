"""`check`: drift and its difference, missing and extra files, other tool versions.

That the cache hides none of it is tested in test_cache.py.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from sessiongen_command import (
    FILES,
    PROTO,
    Outcome,
    Project,
    crlf,
    project,
    generated_copy,
    replaced,
    stamps,
    tree,
    tree_with_arm,
)

NO_DRIFT = f"out/small_protocol: {len(FILES)} files, no drift\n"
FIX = "run `sessiongen generate` and commit the result"


@pytest.fixture
def small_project(tmp_path: Path) -> Project:
    return generated_copy(tmp_path / "in")


def names(outcome: Outcome) -> list[str]:
    return [Path(item["file"]).name for item in outcome.records()]


@pytest.mark.parametrize("options", [(), ("--no-cache",)])
def test_no_drift(small_project: Project, options: tuple[str, ...]) -> None:
    before = tree(small_project.root)
    outcome = small_project.invoke("check", *options)
    assert outcome == Outcome(0, NO_DRIFT, "")
    assert tree(small_project.root) == before
    assert small_project.invoke("-q", "check").all == ""


def test_drift_after_an_edit_of_the_protocol(small_project: Project) -> None:
    small_project.add_arm()
    before = tree(small_project.root), stamps(small_project.package)
    outcome = small_project.invoke("check")
    assert outcome.status == 1
    [first, help_, *_] = outcome.errors.splitlines()
    assert first.startswith("out/small_protocol/dispatch.py:")
    assert first.endswith(": error[SG020]: this generated file does not match the protocol")
    assert help_ == f"  help: {FIX}"
    assert (
        "--- a/out/small_protocol/dispatch.py\n+++ b/out/small_protocol/dispatch.py\n"
        in outcome.output
    )
    assert any(line[:1] == "+" and '"tock"' in line for line in outcome.output.splitlines())
    assert (tree(small_project.root), stamps(small_project.package)) == before
    # check reports the files that generate changes, except the manifest.
    records = small_project.invoke("--format", "json", "check")
    changed = ["dispatch.py", "encoders.py", "events.py", "small_pb2.py", "small_pb2.pyi"]
    assert names(records) == changed


def test_line_of_the_first_difference(small_project: Project) -> None:
    path = small_project.package / "dispatch.py"
    lines = path.read_text(encoding="utf-8").split("\n")
    lines[6] += "  # edited"
    path.write_text("\n".join(lines), encoding="utf-8")
    [record] = small_project.invoke("--format", "json", "check").records()
    assert (record["line"], record["column"], record["rule"]) == (7, 1, "SG020")


def test_the_help_names_the_configuration(tmp_path: Path) -> None:
    small_project = generated_copy(tmp_path / "in")
    small_project.config.rename(small_project.root / "other.toml")
    small_project.add_arm()
    outcome = small_project.invoke("--config", "other.toml", "check")
    assert "help: run `sessiongen --config other.toml generate` and commit" in outcome.errors


@pytest.mark.parametrize("command", [["git", "apply"], ["patch", "-p1", "--quiet"]])
def test_the_diff_can_be_applied(command: list[str], small_project: Project) -> None:
    small_project.add_arm()
    # One difference of each kind: changed, missing, empty and missing, extra, and files
    # without a line feed at the end.
    (small_project.package / "requests.py").unlink()
    (small_project.package / "py.typed").unlink()
    shutil.copy(small_project.package / "errors.py", small_project.package / "extra.py")
    values = small_project.package / "values.py"
    values.write_text(
        values.read_text(encoding="utf-8").rstrip("\n") + "\f # odd", encoding="utf-8"
    )
    outcome = small_project.invoke("check", "--full-diff")
    assert outcome.status == 1
    subprocess.run(command, cwd=small_project.root, input=outcome.output, text=True, check=True)
    assert tree(small_project.package) == tree_with_arm()
    assert small_project.invoke("check", "--no-cache").status == 0


def test_the_changes_of_the_protocol_are_shown_first(small_project: Project) -> None:
    small_project.edit("Empty tick = 1;", "Empty tick = 1;\n    string tock = 2;")
    small_project.edit("message Empty {}", "message Empty {}\nenum Mood { CALM = 0; }")
    small_project.edit(
        "string request_id = 1;\n  oneof response", "int64 request_id = 1;\n  oneof response"
    )
    small_project.edit(
        "string request_id = 1;\n  oneof request", "int64 request_id = 1;\n  oneof request"
    )
    outcome = small_project.invoke("check")
    assert outcome.output.splitlines()[:6] == [
        "changes of the protocol:",
        "  added   small.Event.tock: string, number 2 in oneof event",
        "  added   small.Mood: enum",
        "  changed small.Request.request_id: string, number 1 -> int64, number 1",
        "  changed small.Response.request_id: string, number 1 -> int64, number 1",
        "diff --git a/out/small_protocol/dispatch.py b/out/small_protocol/dispatch.py",
    ]


def test_short_and_full_difference(small_project: Project) -> None:
    arms = "".join(f"\n    Empty tock{number} = {number};" for number in range(2, 300))
    small_project.edit("Empty tick = 1;", f"Empty tick = 1;{arms}")
    lines = small_project.invoke("check").output.splitlines()
    assert len(lines) < 110 and max(map(len, lines)) < 200
    assert lines[-1].endswith("more lines; `sessiongen check --full-diff` shows all")
    full_output = small_project.invoke("check", "--full-diff").output
    assert len(full_output.splitlines()) > 2000 and "AddSerializedFile" in full_output


def test_each_hunk_has_its_change_and_the_descriptor_is_cut(small_project: Project) -> None:
    events = "".join(f"    Empty event_{number} = {number};\n" for number in range(3, 100))
    small_project.edit("    Empty tick = 1;\n", f"    Empty tick = 1;\n{events}")
    small_project.generated().add_arm()
    output = small_project.invoke("check").output
    [removed, added] = re.findall(r"^([-+]DESCRIPTOR = .*)$", output, re.M)
    for line in (removed, added):
        assert re.search(
            r"\.\.\. \([\d,]+ characters; the serialized descriptor is left out\)$", line
        )
    for hunk in re.split(r"^@@.*\n", output, flags=re.M)[1:]:
        assert re.search(r"^[-+](?![-+])", hunk, re.M), hunk


def test_edited_file(small_project: Project) -> None:
    replaced(small_project.package / "events.py", "Do not edit", "Do edit")
    outcome = small_project.invoke("check")
    assert outcome.status == 1
    assert outcome.errors == (
        "out/small_protocol/events.py:1:1: error[SG020]: this generated file was edited by hand\n"
        f"  help: {FIX}; your edit is then kept beside it as events.py.edited\n"
    )
    assert "Do edit" in outcome.output and "Do not edit" in outcome.output
    assert small_project.invoke("generate").status == 0
    kept = small_project.package / "events.py.edited"
    assert "Do edit" in kept.read_text(encoding="utf-8")


def test_a_missing_file(small_project: Project) -> None:
    (small_project.package / "events.py").unlink()
    outcome = small_project.invoke("check")
    assert outcome.status == 1
    assert outcome.errors == (
        "out/small_protocol/events.py:1:1: error[SG021]: this generated file is missing\n"
        f"  help: {FIX}\n"
    )
    assert "--- /dev/null\n+++ b/out/small_protocol/events.py\n" in outcome.output


def test_check_before_generate(tmp_path: Path) -> None:
    small_project = project(tmp_path)
    records = small_project.invoke("--format", "json", "check")
    assert records.status == 1
    assert [name for name in FILES if name != "sessiongen.json"] == names(records)
    assert not small_project.package.exists()


def test_an_extra_file(small_project: Project) -> None:
    shutil.copy(small_project.package / "events.py", small_project.package / "extra.py")
    outcome = small_project.invoke("check")
    assert outcome.status == 1
    assert "extra.py:1:1: error[SG022]: this file is no longer generated\n" in outcome.errors
    assert "+++ /dev/null\n" in outcome.output


def test_changed_manifest_is_drift(small_project: Project) -> None:
    path = small_project.package / "sessiongen.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    data["files"]["events.py"] = "0" * 64
    path.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    outcome = small_project.invoke("--format", "json", "check")
    assert (outcome.status, names(outcome)) == (1, ["sessiongen.json"])


def test_every_format(small_project: Project) -> None:
    small_project.add_arm()
    github = small_project.invoke("--format", "github", "check")
    assert github.status == 1
    assert [line.split(",")[0] for line in github.output.splitlines()] == [
        f"::error file=out/small_protocol/{name}"
        for name in ("dispatch.py", "encoders.py", "events.py", "small_pb2.py", "small_pb2.pyi")
    ]
    quiet = small_project.invoke("-q", "check")
    assert (quiet.status, quiet.output) == (1, "")
    assert quiet.errors.count(FIX) == 5
    coloured = small_project.invoke("--color", "check")
    assert "\x1b[32m+" in coloured.output and "\x1b[31m-" in coloured.output
    assert "\x1b[" not in small_project.invoke("check").all


@pytest.mark.parametrize("tool", ["black", "grpcio-tools", "jinja2", "mypy-protobuf", "sessiongen"])
def test_other_tool_versions_are_not_drift(tool: str, small_project: Project) -> None:
    path = small_project.package / "sessiongen.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    here = data["tools"][tool]
    data["tools"][tool] = "0.0.7"
    path.write_text(json.dumps(data), encoding="utf-8")
    small_project.add_arm()
    outcome = small_project.invoke("check")
    assert outcome.status == 3
    assert outcome.output == ""
    assert outcome.errors.startswith(
        "out/small_protocol/sessiongen.json:1:1: error[SG023]: "
        f"the output was generated with {tool} 0.0.7, this is {here}\n"
        f"  help: install {tool}==0.0.7 to judge drift, or run `sessiongen generate`"
    )
    generated = small_project.invoke("generate")
    assert f"{tool}: 0.0.7 -> {here}\n" in generated.output
    assert small_project.invoke("check").status == 0


@pytest.mark.parametrize("options", [(), ("--no-cache",)])
def test_other_line_ends_are_not_drift(small_project: Project, options: tuple[str, ...]) -> None:
    for path in (small_project.proto, small_project.config, *small_project.package.iterdir()):
        crlf(path)
    before = tree(small_project.root)
    assert small_project.invoke("check", *options) == Outcome(0, NO_DRIFT, "")
    small_project.generated()
    assert tree(small_project.root) == before


def test_line_ends_in_comments_are_not_drift(tmp_path: Path) -> None:
    proto = PROTO.replace(
        "// Is anybody",
        "// First.\n    //\n    //  Second.\n    /* Third.\n     * Fourth. */\n    // Is anybody",
    )
    small_project = project(tmp_path, proto).generated()
    crlf(small_project.proto)
    assert small_project.invoke("check").status == 0
