"""Measures the generated TypeScript encoders beside those of agents-js, in one Node process."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from measure import Row, percentile, seconds

_HERE = Path(__file__).resolve().parent
sys.path.append(str(_HERE.parent / "tests" / "interop"))

import interop_typescript

_NAMES = {
    "message": "a chat message, encoded in TypeScript",
    "call": "a function call, encoded in TypeScript",
    "usage": "a usage report of three models, answered in TypeScript",
    "history": "a history of 50 items, encoded in TypeScript",
}


def rows() -> list[Row]:
    """Measures the encoders; without Node and npm there are none."""
    if reason := interop_typescript.typescript_is_missing():
        print(f"the TypeScript encoders are not measured: {reason}", file=sys.stderr)
        return []
    folder = interop_typescript.compiled().parent
    shutil.copy(_HERE / "encoders.mjs", folder)
    done = subprocess.run(
        ["node", "encoders.mjs"], cwd=folder, check=True, capture_output=True, text=True
    )
    times: dict[str, list[list[float]]] = json.loads(done.stdout)
    return [_row(name, *map(percentile, times[key])) for key, name in _NAMES.items()]


def _row(name: str, ours: float, peer: float) -> Row:
    return Row(name, seconds(ours), ("agents-js", seconds(peer)), ours / peer, 1.0)
