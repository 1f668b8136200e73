"""The TypeScript programs that use the generated modules, compiled as their users compile them.

There are two projects: with the messages of @livekit/protocol, which protobuf-es 1 made, and with those
that protoc-gen-es 2 made of the contract for examples/typescript.
"""

from __future__ import annotations

import atexit
import functools
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from interop_node import NODE_FOLDER, node_is_missing

TYPESCRIPT_FOLDER = Path(__file__).parent / "typescript"
ROOT = Path(__file__).resolve().parents[2]
GENERATED = ROOT / "generated" / "typescript"
AGENTS_JS = ROOT / "examples" / "agents-js"
OWN_MESSAGES = ROOT / "examples" / "typescript"
VERSIONS = (1, 2)
# The include path of the annotations.
_PROTO = ROOT / "proto"
_SETTINGS = ("package.json", "tsconfig.json", "eslint.config.js", ".prettierrc")
# Programs that need the published messages.
_PUBLISHED = ("accepted.ts", "example_driver.ts", "sdk_types.ts")


def typescript_is_missing(version: int = 1) -> str | None:
    """Installs the packages. Returns why the programs cannot run, or None if they can.

    version: of protobuf-es.
    """
    reason = node_is_missing(TYPESCRIPT_FOLDER)
    return node_is_missing(OWN_MESSAGES) if reason is None and version == 2 else reason


def settings(folder: Path, version: int = 1) -> Path:
    """Writes the settings of a TypeScript project."""
    for name in _SETTINGS:
        shutil.copy(TYPESCRIPT_FOLDER / name, folder / name)
    packages = TYPESCRIPT_FOLDER / "node_modules"
    if version == 1:
        (folder / "node_modules").symlink_to(packages)
        return folder
    for path in packages.iterdir():
        target = folder / "node_modules" / path.name
        target.parent.mkdir(exist_ok=True)
        target.symlink_to(path if path.name != "@bufbuild" else _own_packages() / path.name)
    return folder


def _own_packages() -> Path:
    return OWN_MESSAGES / "node_modules"


def project(folder: Path, version: int = 1) -> Path:
    """Writes a TypeScript project with the generated modules, the examples and the programs."""
    settings(folder, version)
    shutil.copytree(TYPESCRIPT_FOLDER / "src", folder / "src")
    binding = TYPESCRIPT_FOLDER / "bindings" / f"protobuf_es_{version}.ts"
    shutil.copy(binding, folder / "src" / "binding.ts")
    if version == 1:
        shutil.copytree(GENERATED, folder / "generated")
        shutil.copytree(AGENTS_JS / "src", folder / "example")
        return folder
    shutil.copytree(OWN_MESSAGES / "src" / "session_protocol", folder / "generated")
    for name in ("agent_session_pb.ts", "transport.ts"):
        shutil.copy(OWN_MESSAGES / "src" / name, folder / name)
    for name in _PUBLISHED:
        (folder / "src" / name).unlink()
    shutil.copytree(TYPESCRIPT_FOLDER / "own", folder / "src", dirs_exist_ok=True)
    return folder


def write_messages(include: Path, protos: Iterable[str], folder: Path, version: int = 1) -> str:
    """Writes the messages of protobuf-es of some protos, and an index of them.

    Returns the error output of protoc, which is empty if there is none.
    """
    folder.mkdir()
    packages = TYPESCRIPT_FOLDER / "node_modules" if version == 1 else _own_packages()
    plugin = packages / ".bin" / "protoc-gen-es"
    options = [f"-I{include}", f"-I{_PROTO}", f"--plugin=protoc-gen-es={plugin}"]
    # Version 1 takes the extension with its dot. Its files are not type-checked, so that tsc would
    # not find a wrong import.
    extension = ".js" if version == 1 else "js"
    options += [f"--es_out={folder}", f"--es_opt=target=ts,import_extension={extension}"]
    # Version 2 imports the options, too.
    annotations = ["sessiongen/annotations.proto"] if version == 2 else []
    command = [sys.executable, "-m", "grpc_tools.protoc", *options, *protos, *annotations]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*_pb.ts"))
    index = "".join(f"export * from './{name.removesuffix('.ts')}.js';\n" for name in files)
    (folder / "index.ts").write_text(index, encoding="utf-8")
    return done.stderr if done.returncode else ""


def run_tool(folder: Path, tool: str, *arguments: str) -> tuple[int, str]:
    """Runs a tool of the npm packages in a project, and returns its status and output."""
    command = [str(TYPESCRIPT_FOLDER / "node_modules" / ".bin" / tool), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=180)
    return done.returncode, done.stdout + done.stderr


def unformatted(folder: Path, *patterns: str) -> list[str]:
    """Returns the files of a project that a version of prettier would change.

    The versions are a new one and the one that agents-js pins: they format unions differently.
    The plugin that sorts imports works with the new one alone.
    """
    names = set[str]()
    without_plugin = ["--no-config", "--single-quote", "--print-width=100"]
    for version, options in (("prettier", list[str]()), ("prettier-3.2", without_plugin)):
        program = TYPESCRIPT_FOLDER / "node_modules" / version / "bin" / "prettier.cjs"
        command = ["node", str(program), "--list-different", *options, *patterns]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=180)
        assert done.returncode in (0, 1) and done.stderr == "", done.stderr
        names |= set(done.stdout.splitlines())
    return sorted(names)


@functools.cache
def compiled(version: int = 1) -> Path:
    """Returns the folder of the compiled programs; in `js` beside it are those that need none."""
    folder = Path(tempfile.mkdtemp(prefix="interop-typescript-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    status, output = run_tool(project(folder, version), "tsc", "--project", ".")
    assert status == 0, output
    (folder / "out" / "js").mkdir()
    for program in NODE_FOLDER.glob("*.mjs"):
        shutil.copy(program, folder / "out" / "js")
    shutil.copy(NODE_FOLDER.parent / "conversation.json", folder / "out")
    return folder / "out" / "src"
