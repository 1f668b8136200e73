"""The protocols under tests/cases as TypeScript: what is generated compiles with the classes that
protobuf-es makes of them, and prettier and eslint have no complaint."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from case_protocols import VALID
from generated_packages import CASES
from interop_node import node_is_missing
from interop_typescript import TYPESCRIPT_FOLDER, run_tool, settings, write_messages
from sessiongen_command import invoke

# Names that differ in Python or in protobuf-es, but not as parts of generated names.
CLASHES = {"encoder_words", "flat_names", "imports", "module_names", "python_words"}
# protobuf-es 1 does not read editions.
UNREADABLE = {"editions", "response_forms"}
# prettier breaks a call of a class whose name is longer than a line.
LONG_NAMES = {"deep"}


def source(name: str, folder: Path) -> tuple[Path, list[str]]:
    """Return the include path of a case and its protos."""
    case = VALID[name]
    if case.text:
        (folder / f"{name}.proto").write_bytes(case.text.encode())
        return folder, [f"{name}.proto"]
    path = CASES / (case.file or f"{name}.proto")
    found = path.parent.rglob("*.proto") if case.file else [path]
    return path.parent, [item.relative_to(path.parent).as_posix() for item in found]


def configure(name: str, folder: Path, include: Path) -> None:
    case = VALID[name]
    proto = include / Path(case.file or f"{name}.proto").name
    text = f'[input]\nprotos = ["{proto.as_posix()}"]\ninclude = ["{include.as_posix()}"]\n'
    text += '[[output]]\nlanguage = "typescript"\npath = "generated"\n'
    text += f'module = "../messages/index.js"\n{case.roles}\n'
    (folder / "codegen.toml").write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project with a folder for each case."""
    if reason := node_is_missing(TYPESCRIPT_FOLDER):
        pytest.skip(reason)
    root = settings(tmp_path_factory.mktemp("cases"))
    config = json.loads((root / "tsconfig.json").read_text(encoding="utf-8"))
    config["include"] = ["*/generated/*.ts", "*/messages/**/*.ts"]
    (root / "tsconfig.json").write_text(json.dumps(config), encoding="utf-8")
    for name in set(VALID) - CLASHES - UNREADABLE:
        folder = root / name
        folder.mkdir()
        include, protos = source(name, folder)
        configure(name, folder, include)
        outcome = invoke(folder, "generate", "--no-cache")
        assert outcome.status == 0, f"{name}: {outcome.all}"
        assert write_messages(include, protos, folder / "messages") == "", name
    yield root


def test_every_case_compiles(cases: Path) -> None:
    status, output = run_tool(cases, "tsc", "--noEmit", "--project", ".")
    assert (status, output) == (0, "")


def test_every_case_is_formatted(cases: Path) -> None:
    _, output = run_tool(cases, "prettier", "--list-different", "*/generated/*.ts")
    assert {name.split("/")[0] for name in output.splitlines()} <= LONG_NAMES, output


def test_every_case_passes_eslint(cases: Path) -> None:
    status, output = run_tool(cases, "eslint", "*/generated/*.ts")
    assert (status, output) == (0, "")


@pytest.mark.parametrize("name", sorted(CLASHES))
def test_names_that_coincide_are_refused(name: str, tmp_path: Path) -> None:
    include, _ = source(name, tmp_path)
    configure(name, tmp_path, include)
    outcome = invoke(tmp_path, "generate", "--no-cache")
    assert outcome.status == 2
    assert re.search(r"error\[SG017\]: .* have one name in TypeScript", outcome.errors)
    assert not (tmp_path / "generated").exists()
