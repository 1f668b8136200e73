"""The TypeScript programs that use the generated modules, compiled as their users compile them."""

from __future__ import annotations

import atexit
import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

TYPESCRIPT_FOLDER = Path(__file__).parent / "typescript"
GENERATED = Path(__file__).resolve().parents[2] / "generated" / "typescript"
_SETTINGS = ("package.json", "tsconfig.json", "eslint.config.js", ".prettierrc")


def project(folder: Path, generated: Path = GENERATED, *, programs: bool = True) -> Path:
    """Write a TypeScript project with generated modules, and the programs if wanted."""
    for name in _SETTINGS:
        shutil.copy(TYPESCRIPT_FOLDER / name, folder / name)
    shutil.copytree(generated, folder / "generated")
    if programs:
        shutil.copytree(TYPESCRIPT_FOLDER / "src", folder / "src")
    (folder / "node_modules").symlink_to(TYPESCRIPT_FOLDER / "node_modules")
    return folder


def run_tool(folder: Path, tool: str, *arguments: str) -> tuple[int, str]:
    """Run a tool of the npm packages in a project, and return its status and output."""
    command = [str(TYPESCRIPT_FOLDER / "node_modules" / ".bin" / tool), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=180)
    return done.returncode, done.stdout + done.stderr


@functools.cache
def compiled() -> Path:
    """Return the folder of the compiled programs."""
    folder = Path(tempfile.mkdtemp(prefix="interop-typescript-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    status, output = run_tool(project(folder), "tsc", "--project", ".")
    assert status == 0, output
    return folder / "out" / "src"
