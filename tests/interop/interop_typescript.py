"""The TypeScript programs that use the generated modules, compiled as their users compile them."""

from __future__ import annotations

import atexit
import functools
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from interop_node import NODE_FOLDER

TYPESCRIPT_FOLDER = Path(__file__).parent / "typescript"
_ROOT = Path(__file__).resolve().parents[2]
GENERATED = _ROOT / "generated" / "typescript"
EXAMPLE = _ROOT / "examples" / "agents-js"
# The include path of the annotations.
_PROTO = _ROOT / "proto"
_SETTINGS = ("package.json", "tsconfig.json", "eslint.config.js", ".prettierrc")


def settings(folder: Path) -> Path:
    """Write the settings of a TypeScript project."""
    for name in _SETTINGS:
        shutil.copy(TYPESCRIPT_FOLDER / name, folder / name)
    (folder / "node_modules").symlink_to(TYPESCRIPT_FOLDER / "node_modules")
    return folder


def project(folder: Path) -> Path:
    """Write a TypeScript project with the generated modules, the example and the programs."""
    settings(folder)
    shutil.copytree(GENERATED, folder / "generated")
    shutil.copytree(EXAMPLE / "src", folder / "example")
    shutil.copytree(TYPESCRIPT_FOLDER / "src", folder / "src")
    return folder


def write_messages(include: Path, protos: Iterable[str], folder: Path) -> str:
    """Write the classes of protobuf-es of some protos, and an index of them.

    Returns the error output of protoc, which is empty if there is none.
    """
    folder.mkdir()
    plugin = TYPESCRIPT_FOLDER / "node_modules" / ".bin" / "protoc-gen-es"
    options = [f"-I{include}", f"-I{_PROTO}", f"--plugin=protoc-gen-es={plugin}"]
    options += [f"--es_out={folder}", "--es_opt=target=ts,import_extension=js"]
    command = [sys.executable, "-m", "grpc_tools.protoc", *options, *protos]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*_pb.ts"))
    index = "".join(f"export * from './{name.removesuffix('.ts')}.js';\n" for name in files)
    (folder / "index.ts").write_text(index, encoding="utf-8")
    return done.stderr if done.returncode else ""


def run_tool(folder: Path, tool: str, *arguments: str) -> tuple[int, str]:
    """Run a tool of the npm packages in a project, and return its status and output."""
    command = [str(TYPESCRIPT_FOLDER / "node_modules" / ".bin" / tool), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=180)
    return done.returncode, done.stdout + done.stderr


@functools.cache
def compiled() -> Path:
    """Return the folder of the compiled programs; in `js` beside it are those that need none."""
    folder = Path(tempfile.mkdtemp(prefix="interop-typescript-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    status, output = run_tool(project(folder), "tsc", "--project", ".")
    assert status == 0, output
    (folder / "out" / "js").mkdir()
    for program in NODE_FOLDER.glob("*.mjs"):
        shutil.copy(program, folder / "out" / "js")
    shutil.copy(NODE_FOLDER.parent / "conversation.json", folder / "out")
    return folder / "out" / "src"
