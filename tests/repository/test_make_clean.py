"""`make clean` removes what the tools of Python and of TypeScript leave, and nothing else."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEPT = {"Makefile", "generated/typescript/values.ts", "examples/typescript/src/driver.ts"}
LEFT = (
    ".venv/bin/python",
    ".mypy_cache/x",
    ".sessiongen-cache/x",
    "codegen/__pycache__/x.pyc",
    "examples/agents-js/node_modules/x.js",
    "examples/agents-js/out/main.js",
    "examples/typescript/.sessiongen-cache/x",
    "examples/typescript/node_modules/x.js",
    "examples/typescript/out/driver.js",
    "tests/interop/js/node_modules/x.js",
    "tests/interop/typescript/node_modules/x.js",
)


def test_make_clean(tmp_path: Path) -> None:
    for name in (*KEPT, *LEFT):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    shutil.copy(ROOT / "Makefile", tmp_path / "Makefile")
    subprocess.run(["make", "clean"], cwd=tmp_path, check=True, capture_output=True, timeout=60)
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")}
    assert {name for name in files if (tmp_path / name).is_file()} == KEPT
    assert "examples/typescript/out" not in files
