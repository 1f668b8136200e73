"""The layout of the tests: the tests of each module are found by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TREES = {"codegen": ROOT / "codegen" / "sessiongen", "runtime": ROOT / "runtime" / "agent_session"}
HELPERS = ROOT / "tests" / "helpers"
# Files that test a whole folder, or a layer of the generated code, rather than one module.
WHOLE_FOLDER = {
    "codegen/cli/test_completion.py",
    "codegen/cli/test_entry_point.py",
    "codegen/cli/test_refusals.py",
    "codegen/parity/test_command.py",
    "codegen/targets/test_target_interface.py",
    "codegen/vocabulary/test_any_source.py",
    "codegen/vocabulary/test_published.py",
    "runtime/host/test_new_arms.py",
    "runtime/transport/room/test_interop.py",
    "runtime/transport/room/test_server.py",
    "runtime/transport/room/test_sessions.py",
}
# Folders whose files test what the folder's modules produce together.
WHOLE_FOLDERS = ("codegen/targets/python", "codegen/targets/typescript")


def _test_modules() -> list[Path]:
    found = [path for tree in TREES for path in (ROOT / "tests" / tree).rglob("test_*.py")]
    return sorted(path.relative_to(ROOT / "tests") for path in found)


@pytest.mark.parametrize("path", _test_modules(), ids=str)
def test_a_test_file_is_named_after_a_module(path: Path) -> None:
    if str(path) in WHOLE_FOLDER or str(path.parent) in WHOLE_FOLDERS:
        return
    tree, *folders = path.parent.parts
    folder = TREES[tree].joinpath(*folders)
    assert folder.is_dir(), f"{folder} does not exist"
    modules = [item.stem for item in folder.glob("*.py")]
    name = path.stem.removeprefix("test_")
    assert any(name == item or name.startswith(f"{item}_") for item in modules), modules


def test_exceptions_exist() -> None:
    assert {str(path) for path in _test_modules()} >= WHOLE_FOLDER


def test_each_helper_is_documented() -> None:
    text = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
    helpers = [path for path in HELPERS.rglob("*.py")]
    assert not [path.stem for path in helpers if path.stem not in text]
