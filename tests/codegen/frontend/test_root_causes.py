"""Tests that errors of protoc that follow from other errors are not printed."""

from __future__ import annotations

from pathlib import Path

from sessiongen_command import Project, project

PROTO = """\
syntax = "proto3";
package small;
import "common.proto";
import "gone.proto";

message Event {
  oneof event {
    common.Empty tick = 1;
    gone.Thing thing = 2;
    gone.Other other = 3;
  }
}
"""


def errors(small_project: Project) -> list[str]:
    """Returns the errors of `check`, without their help lines."""
    outcome = small_project.invoke("check")
    assert outcome.status == 2
    return [line for line in outcome.errors.splitlines() if not line.startswith("  help: ")]


def test_a_missing_import_is_one_error(tmp_path: Path) -> None:
    small_project = project(tmp_path, PROTO)
    small_project.proto.with_name("common.proto").write_text(
        'syntax = "proto3"; package common; message Empty {}', encoding="utf-8"
    )
    assert errors(small_project) == [
        'proto/small.proto:4:1: error[SG001]: Import "gone.proto" was not found.'
    ]


def test_a_fault_in_an_imported_file_is_reported_there(tmp_path: Path) -> None:
    small_project = project(tmp_path, PROTO.replace('import "gone.proto";', ""))
    small_project.proto.with_name("common.proto").write_text(
        'syntax = "proto3"; package common; message Empty }', encoding="utf-8"
    )
    assert {line.split(": ")[0] for line in errors(small_project)} == {"proto/common.proto:1:50"}


def test_a_missing_import_of_an_imported_file_is_one_error(tmp_path: Path) -> None:
    small_project = project(tmp_path, PROTO.replace('import "gone.proto";', ""))
    small_project.proto.with_name("common.proto").write_text(
        'syntax = "proto3"; package common; import "x.proto"; message Empty { x.X x = 1; }',
        encoding="utf-8",
    )
    assert errors(small_project) == [
        'proto/common.proto:1:36: error[SG001]: Import "x.proto" was not found.'
    ]


def test_two_missing_imports_are_two_errors(tmp_path: Path) -> None:
    assert errors(project(tmp_path, PROTO)) == [
        'proto/small.proto:3:1: error[SG001]: Import "common.proto" was not found.',
        'proto/small.proto:4:1: error[SG001]: Import "gone.proto" was not found.',
    ]


def test_a_file_in_another_encoding_is_one_error(tmp_path: Path) -> None:
    small_project = project(tmp_path)
    text = small_project.proto.read_text(encoding="utf-8").replace("Empty", "Gr\u00f6\u00dfe")
    for encoding in ("latin-1", "utf-16"):
        small_project.proto.write_bytes(text.encode(encoding))
        (line,) = errors(small_project)
        assert line.endswith("error[SG001]: the file is not UTF-8")


def test_a_name_outside_of_ascii_is_one_error(tmp_path: Path) -> None:
    small_project = project(tmp_path)
    text = small_project.proto.read_text(encoding="utf-8").replace("Empty", "Gr\u00f6\u00dfe")
    small_project.proto.write_text(text, encoding="utf-8")
    assert errors(small_project) == [
        "proto/small.proto:4:11: error[SG001]: "
        "a character outside of ASCII is outside of comments and strings"
    ]
