"""The packages of the JavaScript peers.

Comes in: `js/package-lock.json`. Goes out: `js/node_modules`, installed anew only when the lock
changed, or the reason why that cannot be had.
"""

from __future__ import annotations

import functools
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

NODE_FOLDER = Path(__file__).parent / "js"
_LOCK = NODE_FOLDER / "package-lock.json"
_STAMP = NODE_FOLDER / "node_modules" / ".installed"
_OLDEST_NODE = 20
_INSTALL_SECONDS = 180.0


@functools.cache
def node_is_missing() -> str | None:
    """Why the peers cannot run; None once they can. Installs what they need."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return "Node.js with npm is not installed"
    version = subprocess.run([node, "--version"], capture_output=True, text=True).stdout.strip()
    if int(version.lstrip("v").split(".")[0]) < _OLDEST_NODE:
        return f"Node.js {_OLDEST_NODE} is needed, this is {version}"
    wanted = hashlib.sha256(_LOCK.read_bytes()).hexdigest()
    if _STAMP.exists() and _STAMP.read_text() == wanted:
        return None
    failure = _install()
    if failure is None:
        _STAMP.write_text(wanted)
    return failure


def _install() -> str | None:
    print("installing the packages of the JavaScript peers", file=sys.stderr, flush=True)
    quick = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000"]  # offline, no time is lost
    command = [
        "npm",
        "ci",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
        *quick,
    ]
    try:
        done = subprocess.run(
            command, cwd=NODE_FOLDER, capture_output=True, text=True, timeout=_INSTALL_SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"npm ci took more than {_INSTALL_SECONDS:.0f} s"
    if done.returncode == 0:
        return None
    lines = done.stderr.strip().splitlines() or ["it gave no reason"]
    return f"npm ci failed: {lines[0]}"
