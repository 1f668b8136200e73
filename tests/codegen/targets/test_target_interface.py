"""Tests that an output language is a Target and a line of the registry, and nothing else.

The language of these tests is defined here in full. It is generated, checked for drift, cached,
explained and pruned beside Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest
from sessiongen_command import CONFIG, FILES, Project, project

from sessiongen.config.model import Output, OutputOptions
from sessiongen.config.tables import KeyPath, Table, TableReader
from sessiongen.ir.model import Model
from sessiongen.ir.schema import Field, Oneof
from sessiongen.targets import registry
from sessiongen.targets.base import FindSymbols, Generate, Layer, Run, Symbol, Target

ROOT = Path(__file__).resolve().parents[3]
TEXT_OUTPUT = """
[[output]]
language = "text"
path = "lists"
title = "Arms"
"""
BOTH = CONFIG.replace("[output]", '[[output]]\nlanguage = "python"') + TEXT_OUTPUT


class TextOptions(OutputOptions):
    """The folder alone."""


class TextTarget(Target):
    """Writes a file with the arms of each oneof."""

    language = "text"
    mark = "; generated\n"
    suffixes = (".txt",)
    keys = ("title",)
    layers = {"lists": Layer("the arms"), "index": Layer("the oneofs", needs=("lists",))}

    def options(
        self, tables: TableReader, table: Table, key_path: KeyPath, path: Path
    ) -> OutputOptions:
        tables.required_string(table, (*key_path, "title"))
        return TextOptions(folder=path)

    def tool_versions(self) -> dict[str, str]:
        return {"pencil": "2"}

    def generation(self, run: Run) -> AbstractContextManager[Generate]:
        return nullcontext(self._files)

    def _files(self, model: Model, output: Output) -> Mapping[str, str]:
        files = {
            f"oneofs/{item.message}.txt": self._text(arm.name for arm in item.arms)
            for item in model.protocol.unions
        }
        index = self._text(item.message for item in model.protocol.unions)
        return {**files, "index.txt": index} if "index" in output.layers else files

    def _text(self, lines: Iterable[str]) -> str:
        return self.mark + "".join(f"{line}\n" for line in lines)

    def symbols(self, model: Model, output: Output) -> FindSymbols:
        def find(oneof: Oneof, arm: Field) -> Iterator[Symbol]:
            yield Symbol(f"oneofs/{oneof.message}.txt", arm.name, oneof.arms.index(arm) + 2)

        return find


@pytest.fixture
def small_project(tmp_path: Path) -> Iterator[Project]:
    before = registry.languages()
    registry.register(TextTarget())
    yield project(tmp_path, config=BOTH)
    registry.unregister("text")
    assert registry.languages() == before


def test_text_target_is_generated_and_cached(small_project: Project) -> None:
    outcome = small_project.invoke("generate")
    assert (outcome.status, outcome.errors) == (0, "")
    assert (
        small_project.root / "lists/oneofs/small.Event.txt"
    ).read_text() == "; generated\ntick\n"
    assert sorted(path.name for path in small_project.package.iterdir()) == FILES
    python = f"out/small_protocol: {len(FILES)} files"
    # The first run saves no state, because its inputs are too new.
    small_project.generated()
    again = small_project.invoke("generate").output.splitlines()
    assert again == [f"{python}, all up to date", "lists: 6 files, all up to date"]
    assert small_project.invoke("check").output.splitlines() == [
        f"{python}, no drift",
        "lists: 6 files, no drift",
    ]


def test_text_target_is_checked_for_drift(small_project: Project) -> None:
    small_project.generated()
    small_project.add_arm()
    records = small_project.invoke("--format", "json", "check").records()
    assert [item["file"] for item in records if item["file"].startswith("lists")] == [
        "lists/oneofs/small.Event.txt"
    ]
    assert "out/small_protocol/dispatch.py" in [item["file"] for item in records]
    assert "+tock\n" in small_project.invoke("check", "--full-diff").output


def test_other_tool_version_is_not_drift(
    small_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_project.generated()
    monkeypatch.setattr(TextTarget, "tool_versions", lambda self: {"pencil": "3"})
    outcome = small_project.invoke("check")
    assert outcome.status == 3
    assert outcome.errors.startswith("lists/sessiongen.json:1:1: error[SG023]: ")
    assert "generated with pencil 2, this is 3" in outcome.errors


def test_text_target_is_explained(small_project: Project) -> None:
    small_project.generated()
    output = small_project.invoke("explain", "Request.ping").output
    assert "lists/oneofs/small.Request.txt:2  ping" in output
    assert re.search(r"out/small_protocol/client\.py:\d+  ", output)


def test_files_that_are_no_longer_generated_are_removed(small_project: Project) -> None:
    small_project.generated()
    small_project.config.write_text(BOTH + 'layers = ["lists"]\n', encoding="utf-8")
    outcome = small_project.invoke("generate")
    assert "removed lists/index.txt" in outcome.output
    assert sorted(path.name for path in (small_project.root / "lists").iterdir()) == [
        "oneofs",
        "sessiongen.json",
    ]
    # A file with the mark that is not in the manifest is also removed.
    left = small_project.root / "lists" / "oneofs" / "old.txt"
    left.write_text("; generated\n", encoding="utf-8")
    assert small_project.invoke("check").status == 1


def test_layer_includes_its_dependencies(small_project: Project) -> None:
    small_project.config.write_text(BOTH + 'layers = ["index"]\n', encoding="utf-8")
    small_project.generated()
    assert (small_project.root / "lists/index.txt").is_file()
    assert (small_project.root / "lists/oneofs/small.Event.txt").is_file()


@pytest.mark.parametrize(
    "config, fault, help_",
    [
        (BOTH + 'layers = ["indx"]\n', "text output has no layer 'indx'", "did you mean 'index'?"),
        (BOTH.replace('title = "Arms"', ""), "the key 'title' is missing", "as a string"),
        (BOTH + "package = 'a'\n", "unknown key 'output.1.package'", "known keys: language, path"),
        (BOTH.replace('"text"', '"txt"'), "there is no output language 'txt'", "vectors, text"),
        (BOTH.replace('"lists"', '"out"'), "out overlaps the output folder", "another folder"),
        (CONFIG.split("[output]")[0] + "[[output]]\n", "no language is named", "vectors, text"),
        ("output = []\n" + CONFIG.split("[output]")[0], "there is no output", "[[output]]"),
    ],
)
def test_invalid_output_tables(small_project: Project, config: str, fault: str, help_: str) -> None:
    small_project.config.write_text(config, encoding="utf-8")
    outcome = small_project.invoke("check")
    assert outcome.status == 2
    assert fault in outcome.errors and help_ in outcome.errors


def test_folders_that_are_one_through_a_link_overlap(small_project: Project) -> None:
    (small_project.root / "real").mkdir()
    (small_project.root / "lists").symlink_to("real")
    config = BOTH.replace('"out"', '"real"')
    small_project.config.write_text(config, encoding="utf-8")
    outcome = small_project.invoke("check")
    assert outcome.status == 2 and "overlaps the output folder" in outcome.errors


@pytest.mark.parametrize("language", registry.languages())
def test_only_the_registry_imports_a_target(language: str) -> None:
    folder = ROOT / "codegen" / "sessiongen"
    own = folder / "targets" / language
    assert own.is_dir()
    users = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if re.search(rf"targets(\.| import .*\b){language}\b", path.read_text(encoding="utf-8"))
        if not path.is_relative_to(own)
    }
    assert users == {"targets/registry.py"}
