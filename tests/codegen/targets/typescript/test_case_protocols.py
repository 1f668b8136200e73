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
from interop_typescript import VERSIONS, run_tool, settings, typescript_is_missing, write_messages
from sessiongen_command import invoke

# Messages of one name in several packages, which one module of messages cannot export.
CLASHES = {"imports", "module_names"}
# protobuf-es 1 does not read editions.
UNREADABLE = {1: {"editions", "response_forms"}, 2: set[str]()}
# prettier breaks a call of a class whose name is longer than a line.
LONG_NAMES = {"deep"}


def source(name: str, folder: Path) -> tuple[Path, list[str]]:
    """Returns the include path of a case and its protos."""
    case = VALID[name]
    if case.text:
        (folder / f"{name}.proto").write_bytes(case.text.encode())
        return folder, [f"{name}.proto"]
    path = CASES / (case.file or f"{name}.proto")
    found = path.parent.rglob("*.proto") if case.file else [path]
    return path.parent, [item.relative_to(path.parent).as_posix() for item in found]


def configure(name: str, folder: Path, include: Path, version: int = 1) -> None:
    case = VALID[name]
    proto = include / Path(case.file or f"{name}.proto").name
    text = f'[input]\nprotos = ["{proto.as_posix()}"]\ninclude = ["{include.as_posix()}"]\n'
    text += '[[output]]\nlanguage = "typescript"\npath = "generated"\n'
    text += f'module = "../messages/index.js"\nprotobuf_es = {version}\n{case.roles}\n'
    (folder / "codegen.toml").write_text(text, encoding="utf-8")


@pytest.fixture(scope="module", params=VERSIONS)
def cases(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """A project with a folder for each case, for each version of protobuf-es."""
    version = request.param
    if reason := typescript_is_missing(version):
        pytest.skip(reason)
    root = settings(tmp_path_factory.mktemp("cases"), version)
    config = json.loads((root / "tsconfig.json").read_text(encoding="utf-8"))
    config["include"] = ["*/generated/*.ts", "*/messages/**/*.ts"]
    (root / "tsconfig.json").write_text(json.dumps(config), encoding="utf-8")
    for name in set(VALID) - CLASHES - UNREADABLE[version]:
        folder = root / name
        folder.mkdir()
        include, protos = source(name, folder)
        configure(name, folder, include, version)
        outcome = invoke(folder, "generate", "--no-cache")
        assert outcome.status == 0, f"{name}: {outcome.all}"
        assert write_messages(include, protos, folder / "messages", version) == "", name
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
    assert re.search(r"error\[SG017\]: .* have one name in the module of messages", outcome.errors)
    assert not (tmp_path / "generated").exists()


def test_an_error_with_a_default_is_asked_for_by_presence(tmp_path: Path) -> None:
    """In version 2, a field of proto2 that is not set reads as its default."""
    include, _ = source("proto2", tmp_path)
    configure("proto2", tmp_path, include, 2)
    assert invoke(tmp_path, "generate", "--no-cache").status == 0
    client = (tmp_path / "generated" / "client.ts").read_text(encoding="utf-8")
    assert re.search(r"if \(isFieldSet\(response, pb\.\w+Schema\.field\.error\)\) \{", client)
