"""Tests that the outputs are all written or none, and of what is reported then."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sessiongen_command import CONFIG, Project, generated_copy, project, tree

VECTORS = """
[[output]]
language = "vectors"
path = "vectors"
"""
TWO = CONFIG.replace("[output]", '[[output]]\nlanguage = "python"') + VECTORS


@pytest.fixture
def small_project(tmp_path: Path) -> Project:
    """A generated project with old timestamps."""
    return generated_copy(tmp_path / "in")


@pytest.fixture
def two_outputs(tmp_path: Path) -> Project:
    """A generated project with a Python output and vectors."""
    return project(tmp_path, config=TWO).generated()


def test_no_output_is_written_if_the_second_cannot_be(two_outputs: Project) -> None:
    vectors = two_outputs.root / "vectors"
    for path in vectors.iterdir():
        path.unlink()
    vectors.rmdir()
    vectors.write_text("mine\n", encoding="utf-8")
    with (two_outputs.package / "events.py").open("a", encoding="utf-8") as file:
        file.write("# mine\n")
    two_outputs.add_arm()
    before = tree(two_outputs.root)
    outcome = two_outputs.invoke("generate")
    assert outcome.status == 2
    assert outcome.errors == (
        "vectors:1:1: error[SG024]: cannot write vectors: File exists\n"
        "  help: move away what is in its place, or set another output.path in codegen.toml; "
        "no file was lost\n"
    )
    assert tree(two_outputs.root) == before


def test_warnings_of_written_outputs_precede_a_fault(
    two_outputs: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk may become full, or read-only, while files are moved."""
    with (two_outputs.package / "events.py").open("a", encoding="utf-8") as file:
        file.write("# mine\n")
    two_outputs.add_arm()
    replace = os.replace

    def fail_for_vectors(source: Path, target: Path) -> None:
        if target.parent.name == "vectors":
            raise OSError(30, "Read-only file system", str(target))
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail_for_vectors)
    outcome = two_outputs.invoke("generate")
    assert outcome.status == 2
    assert "out/small_protocol/events.py:1:1: warning[SG031]" in outcome.errors
    assert "error[SG024]: cannot write vectors/small.Event.event.json: Read-only" in outcome.errors
    backup = two_outputs.package / "events.py.edited"
    assert backup.read_text(encoding="utf-8").endswith("# mine\n")
    assert list(two_outputs.root.rglob(".sessiongen-staging-*")) == []


def test_a_path_under_a_file_cannot_be_written(tmp_path: Path) -> None:
    small_project = project(tmp_path)
    (tmp_path / "out").write_text("a file\n", encoding="utf-8")
    outcome = small_project.invoke("generate")
    assert outcome.status == 2
    assert outcome.errors.startswith(
        "out/small_protocol:1:1: error[SG024]: cannot write out/small_protocol: "
    )
    assert "help: move away what is in its place" in outcome.errors


@pytest.mark.parametrize("name", ["out", "out/small_protocol"])
def test_a_link_to_nothing_cannot_be_written(name: str, tmp_path: Path) -> None:
    small_project = project(tmp_path)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).symlink_to(tmp_path / "nothing")
    outcome = small_project.invoke("generate")
    assert outcome.status == 2
    fault = f"out/small_protocol:1:1: error[SG024]: cannot write {name}: it is a link to nothing"
    assert outcome.errors.startswith(fault)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_cannot_be_written(small_project: Project) -> None:
    small_project.add_arm()
    before = tree(small_project.root)
    small_project.package.chmod(0o555)
    outcome = small_project.invoke("generate")
    small_project.package.chmod(0o755)
    assert (outcome.status, tree(small_project.root)) == (2, before)
    assert "error[SG024]" in outcome.errors


def test_vectors_with_a_damaged_manifest_are_recognized(two_outputs: Project) -> None:
    before = tree(two_outputs.root)
    (two_outputs.root / "vectors" / "sessiongen.json").write_text("{", encoding="utf-8")
    checked = two_outputs.invoke("check", "--no-cache")
    assert (checked.status, checked.errors.count("error[")) == (1, 1)
    assert "run `sessiongen generate`" in checked.errors
    two_outputs.generated()
    assert tree(two_outputs.root) == before


def test_check_and_generate_agree_on_files_of_a_damaged_manifest(two_outputs: Project) -> None:
    """Vectors have no mark, so that a vector that differs may be another program's file."""
    two_outputs.add_arm()
    (two_outputs.root / "vectors" / "sessiongen.json").write_text("{", encoding="utf-8")
    before = tree(two_outputs.root)
    checked, generated = two_outputs.invoke("check"), two_outputs.invoke("generate")
    assert (checked.status, generated.status) == (1, 2)
    fault = (
        "vectors/small.Event.event.json:1:1: error[SG024]: this file would be overwritten, and "
        "sessiongen.json does not say who wrote it\n  help: restore sessiongen.json, "
    )
    assert fault in checked.errors and fault in generated.errors
    assert tree(two_outputs.root) == before
