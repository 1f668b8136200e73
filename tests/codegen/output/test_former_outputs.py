"""Tests of the warning about folders that are no longer outputs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from sessiongen_command import CONFIG, Project, project, replaced

WARNING = (
    "out/small_protocol:1:1: warning[SG022]: no output of codegen.toml generates this folder any "
    "more; it was not removed\n"
    "  help: remove it, or, if another configuration generates it, remove .sessiongen-cache\n"
)


@pytest.fixture
def renamed(tmp_path: Path) -> Project:
    """A project whose package was renamed after it was generated."""
    small_project = project(tmp_path).generated()
    replaced(small_project.config, "small_protocol", "other_protocol")
    return small_project


def test_a_renamed_package_leaves_its_folder(renamed: Project) -> None:
    assert WARNING in renamed.invoke("check").errors
    for _ in range(2):
        outcome = renamed.invoke("generate", "--quiet")
        assert (outcome.status, outcome.errors) == (0, WARNING)
    outcome = renamed.invoke("check")
    assert (outcome.status, outcome.errors) == (0, WARNING)
    assert renamed.package.is_dir()


def test_the_warning_ends_with_the_folder(renamed: Project) -> None:
    renamed.invoke("generate")
    shutil.rmtree(renamed.package)
    assert renamed.invoke("generate").errors == ""
    renamed.package.mkdir()
    assert renamed.invoke("generate").errors == ""


def test_a_removed_output(tmp_path: Path) -> None:
    vectors = '\n[[output]]\nlanguage = "vectors"\npath = "vectors"\n'
    python = CONFIG.replace("[output]", '[[output]]\nlanguage = "python"')
    small_project = project(tmp_path, config=python + vectors).generated()
    replaced(small_project.config, vectors, "")
    assert small_project.invoke("generate").errors.startswith("vectors:1:1: warning[SG022]: ")
    small_project.config.write_text(python + vectors, encoding="utf-8")
    assert small_project.invoke("generate").errors == ""


def test_a_damaged_list_is_ignored(renamed: Project) -> None:
    [path] = (renamed.root / ".sessiongen-cache").glob("outputs-*.json")
    for text in ("{", "[1, {}]", "7"):
        path.write_text(text, encoding="utf-8")
        assert renamed.invoke("check", "--quiet").status == 1
    assert renamed.invoke("generate").errors == ""
