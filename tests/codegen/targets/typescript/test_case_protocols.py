"""The protocols under tests/cases as TypeScript: what is generated compiles with the classes that
protobuf-es makes of them, and prettier and eslint have no complaint."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from case_protocols import VALID
from generated_packages import CASES
from interop_typescript import (
    VERSIONS,
    run_tool,
    settings,
    typescript_is_missing,
    unformatted,
    write_messages,
)
from sessiongen_command import invoke

# Messages of one name in several files, which one module of messages cannot export.
CLASHES = {"imports", "module_names"}
ONE_MODULE, PER_FILE = "../messages/index.js", "../messages/{file}_pb.js"
# The exports that hold the messages of files beside the main one.
NAMESPACES = {
    "imports": {
        "deep/class/import.proto": "Deep",
        "public-door.proto": "Door",
        "values.proto": "Values",
    },
    "module_names": {"right/shared.proto": "Right"},
}
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


def configure(
    name: str, folder: Path, include: Path, version: int = 1, module: str = "", more: str = ""
) -> None:
    """Writes the configuration of a case. module: that of the messages; by default it fits."""
    case = VALID[name]
    proto = include / Path(case.file or f"{name}.proto").name
    text = f'[input]\nprotos = ["{proto.as_posix()}"]\ninclude = ["{include.as_posix()}"]\n'
    text += '[[output]]\nlanguage = "typescript"\npath = "generated"\n'
    module = module or (PER_FILE if name in CLASHES else ONE_MODULE)
    text += f'module = "{module}"\nprotobuf_es = {version}\n{more}\n{case.roles}\n'
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
    # A package such as agents-js publishes the declarations.
    config["compilerOptions"]["declaration"] = True
    (root / "tsconfig.json").write_text(json.dumps(config), encoding="utf-8")
    for name in set(VALID) - UNREADABLE[version]:
        folder = root / name
        folder.mkdir()
        include, protos = source(name, folder)
        configure(name, folder, include, version)
        outcome = invoke(folder, "generate", "--no-cache")
        assert outcome.status == 0, f"{name}: {outcome.all}"
        assert write_messages(include, protos, folder / "messages", version) == "", name
        if name in CLASHES:
            (folder / "messages" / "index.ts").unlink()
    for name, namespaces in NAMESPACES.items():
        write_with_namespaces(name, namespaces, root / f"{name}_in_namespaces", version)
    yield root


def write_with_namespaces(
    name: str, namespaces: Mapping[str, str], folder: Path, version: int
) -> None:
    """Writes a case whose messages one module exports, those of some files in namespaces."""
    folder.mkdir()
    include, protos = source(name, folder)
    table = ", ".join(f'"{file}" = "{export}"' for file, export in namespaces.items())
    configure(name, folder, include, version, ONE_MODULE, f"namespace = {{ {table} }}")
    outcome = invoke(folder, "generate", "--no-cache")
    assert outcome.status == 0, f"{name}: {outcome.all}"
    assert write_messages(include, protos, folder / "messages", version) == "", name
    index = folder / "messages" / "index.ts"
    text = index.read_text(encoding="utf-8")
    for file, export in namespaces.items():
        line = f"* from './{file.removesuffix('.proto')}_pb.js'"
        assert line in text
        text = text.replace(line, line.replace("*", f"* as {export}"))
    index.write_text(text, encoding="utf-8")


LOAD = """\
import { readdirSync } from 'node:fs';

for (const name of readdirSync('out')) {
  const module = await import(`${process.cwd()}/out/${name}/generated/index.js`);
  console.log(name, typeof module.unknownField);
}
"""


def test_every_case_compiles_and_loads(cases: Path) -> None:
    status, output = run_tool(cases, "tsc", "--project", ".")
    assert (status, output) == (0, "")
    command = ["node", "--input-type=module", "--eval", LOAD]
    done = subprocess.run(command, cwd=cases, capture_output=True, text=True, timeout=120)
    folders = sorted(path.parent.name for path in cases.glob("*/generated"))
    assert done.stdout.splitlines() == [f"{name} function" for name in folders], done.stderr


def test_every_case_is_formatted(cases: Path) -> None:
    names = unformatted(cases, "*/generated/*.ts")
    assert {name.split("/")[0] for name in names} <= LONG_NAMES, names


def test_every_case_passes_eslint(cases: Path) -> None:
    status, output = run_tool(cases, "eslint", "*/generated/*.ts")
    assert (status, output) == (0, "")


@pytest.mark.parametrize("name", sorted(CLASHES))
def test_names_that_coincide_are_refused(name: str, tmp_path: Path) -> None:
    include, _ = source(name, tmp_path)
    configure(name, tmp_path, include, module=ONE_MODULE)
    outcome = invoke(tmp_path, "generate", "--no-cache")
    assert outcome.status == 2
    assert re.search(r"error\[SG017\]: .* have one name in the module of messages", outcome.errors)
    assert "give each file a module of its own, with {file} in `module`" in outcome.errors
    assert not (tmp_path / "generated").exists()


def test_modules_of_single_files_are_imported_where_they_are_used(tmp_path: Path) -> None:
    include, _ = source("imports", tmp_path)
    configure("imports", tmp_path, include)
    assert invoke(tmp_path, "generate", "--no-cache").status == 0
    handler = (tmp_path / "generated" / "requests.ts").read_text(encoding="utf-8")
    assert re.findall(r"import (.*) from '\.\./messages/(.*)';", handler) == [
        ("* as dispatchPb", "dispatch_pb.js"),
        ("type * as publicDoorPb", "public-door_pb.js"),
        ("type * as valuesPb", "values_pb.js"),
    ]
    assert "  item(request: dispatchPb.Item): Awaitable<Init<valuesPb.Item>>;\n" in handler


def test_two_files_whose_modules_have_one_name_are_refused(tmp_path: Path) -> None:
    text = 'syntax = "proto3";\npackage {0};\nmessage Note {{ string text = 1; }}\n'
    (tmp_path / "a").mkdir()
    for file, package in (("a/b.proto", "first"), ("a_b.proto", "second")):
        (tmp_path / file).write_text(text.format(package), encoding="utf-8")
    main = CASES.joinpath("tiny.proto").read_text(encoding="utf-8")
    syntax = 'syntax = "proto3";\n'
    assert syntax in main
    main = main.replace(syntax, f'{syntax}import "a/b.proto";\nimport "a_b.proto";\n')
    (tmp_path / "tiny.proto").write_text(main, encoding="utf-8")
    configure("tiny", tmp_path, tmp_path, module=PER_FILE)
    outcome = invoke(tmp_path, "generate", "--no-cache")
    assert outcome.status == 2
    assert "SG017" in outcome.errors
    assert "are both imported as aBPb" in outcome.errors
    assert not (tmp_path / "generated").exists()


@pytest.mark.parametrize(
    "namespace, fault",
    [
        ('{ "no.proto" = "A" }', "'no.proto' is not a file of the protocol"),
        ('{ "tiny.proto" = 1 }', "output.0.namespace.tiny.proto is not a string"),
        ("1", "output.0.namespace is not a string"),
    ],
)
def test_namespaces_that_are_refused(namespace: str, fault: str, tmp_path: Path) -> None:
    include, _ = source("tiny", tmp_path)
    configure("tiny", tmp_path, include, more=f"namespace = {namespace}")
    outcome = invoke(tmp_path, "generate", "--no-cache")
    assert (outcome.status, fault in outcome.errors) == (2, True), outcome.errors


def test_an_error_with_a_default_is_asked_for_by_presence(tmp_path: Path) -> None:
    """In version 2, a field of proto2 that is not set reads as its default."""
    include, _ = source("proto2", tmp_path)
    configure("proto2", tmp_path, include, 2)
    assert invoke(tmp_path, "generate", "--no-cache").status == 0
    client = (tmp_path / "generated" / "client.ts").read_text(encoding="utf-8")
    assert re.search(r"if \(isFieldSet\(response, pb\.\w+Schema\.field\.error\)\) \{", client)
