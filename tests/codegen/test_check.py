"""`check`: drift and its difference, missing and extra files, other tool versions.

That the cache hides none of it is tested in test_cache.py.
"""

from __future__ import annotations

import json
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
    ready,
    replaced,
    stamps,
    tree,
    tree_with_arm,
)

NO_DRIFT = f"out/small_protocol: {len(FILES)} files, no drift\n"
FIX = "run `sessiongen generate` and commit the result"


@pytest.fixture
def made(tmp_path: Path) -> Project:
    return ready(tmp_path / "in")


def names(outcome: Outcome) -> list[str]:
    return [Path(item["file"]).name for item in outcome.records()]


@pytest.mark.parametrize("options", [(), ("--no-cache",)])
def test_no_drift(made: Project, options: tuple[str, ...]) -> None:
    before = tree(made.root)
    outcome = made.invoke("check", *options)
    assert outcome == Outcome(0, NO_DRIFT, "")
    assert tree(made.root) == before
    assert made.invoke("-q", "check").all == ""


def test_a_forgotten_generate(made: Project) -> None:
    made.add_arm()
    before = tree(made.root), stamps(made.package)
    outcome = made.invoke("check")
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
    assert (tree(made.root), stamps(made.package)) == before
    # What generate changes is what check names; the manifest alone is no news.
    records = made.invoke("--format", "json", "check")
    changed = ["dispatch.py", "encoders.py", "events.py", "small_pb2.py", "small_pb2.pyi"]
    assert names(records) == changed


def test_the_line_is_that_of_the_first_difference(made: Project) -> None:
    path = made.package / "dispatch.py"
    lines = path.read_text(encoding="utf-8").split("\n")
    lines[6] += "  # edited"
    path.write_text("\n".join(lines), encoding="utf-8")
    [record] = made.invoke("--format", "json", "check").records()
    assert (record["line"], record["column"], record["rule"]) == (7, 1, "SG020")


def test_the_help_names_the_configuration(tmp_path: Path) -> None:
    made = ready(tmp_path / "in")
    made.config.rename(made.root / "other.toml")
    made.add_arm()
    outcome = made.invoke("--config", "other.toml", "check")
    assert "help: run `sessiongen --config other.toml generate` and commit" in outcome.errors


@pytest.mark.parametrize("command", [["git", "apply"], ["patch", "-p1", "--quiet"]])
def test_the_diff_can_be_applied(command: list[str], made: Project) -> None:
    made.add_arm()
    # Of every kind of difference one: changed, missing, empty and missing, extra, and
    # files whose last line does not end.
    (made.package / "requests.py").unlink()
    (made.package / "py.typed").unlink()
    shutil.copy(made.package / "errors.py", made.package / "extra.py")
    values = made.package / "values.py"
    values.write_text(
        values.read_text(encoding="utf-8").rstrip("\n") + "\f # odd", encoding="utf-8"
    )
    outcome = made.invoke("check", "--full-diff")
    assert outcome.status == 1
    subprocess.run(command, cwd=made.root, input=outcome.output, text=True, check=True)
    assert tree(made.package) == tree_with_arm()
    assert made.invoke("check", "--no-cache").status == 0


def test_the_changes_of_the_protocol_are_shown_first(made: Project) -> None:
    made.edit("Empty tick = 1;", "Empty tick = 1;\n    string tock = 2;")
    made.edit("message Empty {}", "message Empty {}\nenum Mood { CALM = 0; }")
    made.edit("string request_id = 1;\n  oneof response", "int64 request_id = 1;\n  oneof response")
    made.edit("string request_id = 1;\n  oneof request", "int64 request_id = 1;\n  oneof request")
    outcome = made.invoke("check")
    assert outcome.output.splitlines()[:6] == [
        "changes of the protocol:",
        "  added   small.Event.tock: string, number 2 in oneof event",
        "  added   small.Mood: enum",
        "  changed small.Request.request_id: string, number 1 -> int64, number 1",
        "  changed small.Response.request_id: string, number 1 -> int64, number 1",
        "diff --git a/out/small_protocol/dispatch.py b/out/small_protocol/dispatch.py",
    ]


def test_the_difference_fits_a_screen_unless_all_of_it_is_asked_for(made: Project) -> None:
    arms = "".join(f"\n    Empty tock{number} = {number};" for number in range(2, 300))
    made.edit("Empty tick = 1;", f"Empty tick = 1;{arms}")
    lines = made.invoke("check").output.splitlines()
    assert len(lines) < 110 and max(map(len, lines)) < 200
    assert lines[-1].endswith("more lines; `sessiongen check --full-diff` shows all")
    whole = made.invoke("check", "--full-diff").output
    assert len(whole.splitlines()) > 2000 and "AddSerializedFile" in whole


def test_an_edited_file_is_named_as_such(made: Project) -> None:
    replaced(made.package / "events.py", "Do not edit", "Do edit")
    outcome = made.invoke("check")
    assert outcome.status == 1
    assert outcome.errors == (
        "out/small_protocol/events.py:1:1: error[SG020]: this generated file was edited by hand\n"
        f"  help: {FIX}\n"
    )
    assert "Do edit" in outcome.output and "Do not edit" in outcome.output


def test_a_missing_file(made: Project) -> None:
    (made.package / "events.py").unlink()
    outcome = made.invoke("check")
    assert outcome.status == 1
    assert outcome.errors == (
        "out/small_protocol/events.py:1:1: error[SG021]: this generated file is missing\n"
        f"  help: {FIX}\n"
    )
    assert "--- /dev/null\n+++ b/out/small_protocol/events.py\n" in outcome.output


def test_nothing_was_generated(tmp_path: Path) -> None:
    made = project(tmp_path)
    records = made.invoke("--format", "json", "check")
    assert records.status == 1
    assert [name for name in FILES if name != "sessiongen.json"] == names(records)
    assert not made.package.exists()


def test_an_extra_file(made: Project) -> None:
    shutil.copy(made.package / "events.py", made.package / "extra.py")
    outcome = made.invoke("check")
    assert outcome.status == 1
    assert "extra.py:1:1: error[SG022]: this file is no longer generated\n" in outcome.errors
    assert "+++ /dev/null\n" in outcome.output


def test_a_manifest_alone_is_drift_too(made: Project) -> None:
    path = made.package / "sessiongen.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    data["files"]["events.py"] = "0" * 64
    path.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    outcome = made.invoke("--format", "json", "check")
    assert (outcome.status, names(outcome)) == (1, ["sessiongen.json"])


def test_every_form(made: Project) -> None:
    made.add_arm()
    github = made.invoke("--format", "github", "check")
    assert github.status == 1
    assert [line.split(",")[0] for line in github.output.splitlines()] == [
        f"::error file=out/small_protocol/{name}"
        for name in ("dispatch.py", "encoders.py", "events.py", "small_pb2.py", "small_pb2.pyi")
    ]
    quiet = made.invoke("-q", "check")
    assert (quiet.status, quiet.output) == (1, "")
    assert quiet.errors.count(FIX) == 5
    coloured = made.invoke("--color", "check")
    assert "\x1b[32m+" in coloured.output and "\x1b[31m-" in coloured.output
    assert "\x1b[" not in made.invoke("check").all


@pytest.mark.parametrize("tool", ["black", "grpcio-tools", "jinja2", "mypy-protobuf", "sessiongen"])
def test_other_tools_are_told_from_drift(tool: str, made: Project) -> None:
    path = made.package / "sessiongen.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    here = data["tools"][tool]
    data["tools"][tool] = "0.0.7"
    path.write_text(json.dumps(data), encoding="utf-8")
    made.add_arm()
    outcome = made.invoke("check")
    assert outcome.status == 3
    assert outcome.output == ""
    assert outcome.errors.startswith(
        "out/small_protocol/sessiongen.json:1:1: error[SG023]: "
        f"the output was generated with {tool} 0.0.7, this is {here}\n"
        f"  help: install {tool}==0.0.7 to judge drift, or run `sessiongen generate`"
    )
    said = made.invoke("generate")
    assert f"{tool}: 0.0.7 -> {here}\n" in said.output
    assert made.invoke("check").status == 0


@pytest.mark.parametrize("options", [(), ("--no-cache",)])
def test_other_line_ends_are_no_drift(made: Project, options: tuple[str, ...]) -> None:
    for path in (made.proto, made.config, *made.package.iterdir()):
        crlf(path)
    before = tree(made.root)
    assert made.invoke("check", *options) == Outcome(0, NO_DRIFT, "")
    made.generated()
    assert tree(made.root) == before


def test_line_ends_within_comments_are_no_drift(tmp_path: Path) -> None:
    proto = PROTO.replace(
        "// Is anybody",
        "// First.\n    //\n    //  Second.\n    /* Third.\n     * Fourth. */\n    // Is anybody",
    )
    made = project(tmp_path, proto).generated()
    crlf(made.proto)
    assert made.invoke("check").status == 0
