"""Tests of the layout: the tests of each module can be found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TREES = {"codegen": ROOT / "codegen" / "sessiongen", "runtime": ROOT / "runtime" / "agent_session"}
TEMPLATES = ROOT / "templates"
TESTS = ROOT / "tests"
HELPERS = TESTS / "helpers"
README = TESTS / "README.md"
# Files that test a whole folder, or a layer of the generated code, rather than one module.
WHOLE_FOLDER = {
    "codegen/cli/test_completion.py",
    "codegen/cli/test_entry_point.py",
    "codegen/cli/test_refusals.py",
    "codegen/parity/test_command.py",
    "codegen/parity/test_edited_sdks.py",
    "codegen/targets/python/test_case_protocols.py",
    "codegen/targets/python/test_layers.py",
    "codegen/targets/python/test_oldest_versions.py",
    "codegen/targets/python/test_random_protocols.py",
    "codegen/targets/python/test_role_variants.py",
    "codegen/targets/test_target_interface.py",
    "codegen/vocabulary/test_any_source.py",
    "codegen/vocabulary/test_published.py",
    "runtime/host/test_new_arms.py",
    "runtime/transport/room/test_interop.py",
    "runtime/transport/room/test_server.py",
    "runtime/transport/room/test_sessions.py",
}
# Folders whose files test what the folder's modules produce together.
WHOLE_FOLDERS = ("codegen/targets/typescript",)


def _test_modules() -> list[Path]:
    paths = [path for tree in TREES for path in (TESTS / tree).rglob("test_*.py")]
    return sorted(path.relative_to(TESTS) for path in paths)


@pytest.mark.parametrize("path", _test_modules(), ids=str)
def test_a_test_file_is_named_after_a_module(path: Path) -> None:
    if str(path) in WHOLE_FOLDER or str(path.parent) in WHOLE_FOLDERS:
        return
    tree, *folders = path.parent.parts
    folder = TREES[tree].joinpath(*folders)
    assert folder.is_dir(), f"{folder} does not exist"
    modules = [item.stem for item in folder.glob("*.py")]
    # The tests of a target are also named after layers, which have the names of templates.
    modules += [item.name.partition(".")[0] for item in (TEMPLATES / folder.name).glob("*.j2")]
    name = path.stem.removeprefix("test_")
    assert any(name == item or name.startswith(f"{item}_") for item in modules), modules


def _modules() -> list[str]:
    """Returns the modules of the generator and the runtime, such as `codegen/ir/roles`."""
    return sorted(
        f"{tree}/{path.relative_to(folder).with_suffix('').as_posix()}"
        for tree, folder in TREES.items()
        for path in folder.rglob("*.py")
        if path.stem != "__init__"
    )


def _tested_through_others() -> dict[str, list[str]]:
    """Returns the tests of each module or folder in the table of tests/README.md."""
    text = README.read_text(encoding="utf-8")
    _, _, table = text.partition("| module or folder | tests |\n| --- | --- |\n")
    rows = [line.split("|")[1:3] for line in table.partition("\n\n")[0].splitlines()]
    cells = [[re.findall("`([^`]+)`", cell) for cell in row] for row in rows]
    return {module: tests for modules, tests in cells for module in modules}


def _has_test_file(module: str) -> bool:
    folder, _, name = module.rpartition("/")
    files = [path.stem for path in (TESTS / folder).glob("test_*.py")]
    return any(file == f"test_{name}" or file.startswith(f"test_{name}_") for file in files)


@pytest.mark.parametrize("module", _modules())
def test_each_module_has_tests(module: str) -> None:
    listed = _tested_through_others()
    folder = f"{module.rpartition('/')[0]}/"
    assert _has_test_file(module) or module in listed or folder in listed


def test_entries_of_the_readme_exist() -> None:
    listed = _tested_through_others()
    assert len(listed) > 40
    modules = {*_modules(), *(f"{module.rpartition('/')[0]}/" for module in _modules())}
    assert set(listed) <= modules
    assert [
        path for paths in listed.values() for path in paths if not (TESTS / path).exists()
    ] == []


def test_exceptions_exist() -> None:
    assert {str(path) for path in _test_modules()} >= WHOLE_FOLDER


def test_each_helper_is_documented() -> None:
    text = README.read_text(encoding="utf-8")
    helpers = [path for path in HELPERS.rglob("*.py")]
    assert not [path.stem for path in helpers if path.stem not in text]


def test_test_modules_are_small() -> None:
    sizes = {path: path.read_text(encoding="utf-8").count("\n") for path in TESTS.rglob("*.py")}
    assert [str(path.relative_to(TESTS)) for path, size in sizes.items() if size > 400] == []
